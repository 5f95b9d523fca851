//! A messenger that records deliveries, and fails on request.

use std::{fmt, sync::Mutex};

use serde_json::Value;
use tokio::sync::watch;
use trackway_domain::{RunId, Seq, StateName};
use trackway_engine::RunView;
use trackway_ports::{Hook, PortFuture, StoredEvent};
use trackway_runtime::{HookDeliveryError, HookMessenger};

use crate::{interceptors::lock_ignoring_poison, summarize_updates};

/// The content of one delivery attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDelivery {
    pub run: RunId,
    pub hook: String,
    pub target: Value,
    pub seq: Seq,
    /// The update as a line of the run's summary.
    pub line: String,
    /// The state and the newest event of the run that came with it.
    pub state: StateName,
    pub view_seq: Seq,
    pub was_delivered: bool,
}

type DeliveryVerdict = Box<dyn FnMut(&RecordedDelivery) -> Result<(), HookDeliveryError> + Send>;

/// Outlives processes, as a real receiver does: pass the same one to the next.
pub struct RecordingMessenger {
    attempts: watch::Sender<Vec<RecordedDelivery>>,
    verdict: Mutex<DeliveryVerdict>,
}

impl Default for RecordingMessenger {
    fn default() -> Self {
        Self { attempts: watch::Sender::default(), verdict: Mutex::new(Box::new(|_| Ok(()))) }
    }
}

impl fmt::Debug for RecordingMessenger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postbox").field("attempts", &*self.attempts.borrow()).finish()
    }
}

impl RecordingMessenger {
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides the result of each delivery from now on.
    pub fn set_verdict(
        &self,
        verdict: impl FnMut(&RecordedDelivery) -> Result<(), HookDeliveryError> + Send + 'static,
    ) {
        *lock_ignoring_poison(&self.verdict) = Box::new(verdict);
    }

    /// Every attempt so far.
    pub fn all_attempts(&self) -> Vec<RecordedDelivery> {
        self.attempts.borrow().clone()
    }

    /// Successful deliveries so far.
    pub fn successful_deliveries(&self) -> Vec<RecordedDelivery> {
        self.attempts.borrow().iter().filter(|letter| letter.was_delivered).cloned().collect()
    }

    /// The lines that were delivered to this hook of this run, in order.
    pub fn delivered_lines(&self, run: RunId, hook: &str) -> Vec<String> {
        let letters = self.successful_deliveries().into_iter();
        let own = letters.filter(|letter| letter.run == run && letter.hook == hook);
        own.map(|letter| letter.line).collect()
    }

    /// Resolves when there were this many attempts.
    pub async fn wait_for_attempts(&self, count: usize) {
        let enough = |letters: &Vec<RecordedDelivery>| letters.len() >= count;
        // The sender lives as long as this borrow.
        let _ = self.attempts.subscribe().wait_for(enough).await;
    }

    /// Resolves when this line was delivered to the hook.
    pub async fn wait_for_delivered_line(&self, run: RunId, hook: &str, line: &str) {
        let is_it = |letter: &RecordedDelivery| {
            letter.was_delivered && letter.run == run && letter.hook == hook && letter.line == line
        };
        let there = |letters: &Vec<RecordedDelivery>| letters.iter().any(is_it);
        let _ = self.attempts.subscribe().wait_for(there).await;
    }
}

impl HookMessenger for RecordingMessenger {
    fn deliver_hook_update<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a StoredEvent,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), HookDeliveryError>> {
        Box::pin(async move {
            let mut letter = RecordedDelivery {
                run: hook.run,
                hook: hook.id.clone(),
                target: hook.target.0.clone(),
                seq: stored.seq,
                line: summarize_updates(std::slice::from_ref(stored)).concat(),
                state: view.state,
                view_seq: view.seq,
                was_delivered: false,
            };
            let verdict = lock_ignoring_poison(&self.verdict)(&letter);
            letter.was_delivered = verdict.is_ok();
            self.attempts.send_modify(|attempts| attempts.push(letter));
            verdict
        })
    }
}
