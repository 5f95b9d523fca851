//! A messenger that records deliveries, and fails on request.

use std::{fmt, sync::Mutex};

use serde_json::Value;
use tokio::sync::watch;
use trackway_domain::{RunId, Seq, StateName};
use trackway_engine::RunView;
use trackway_ports::{Hook, PortFuture, Stored};
use trackway_runtime::{Messenger, Undelivered};

use crate::{story, taps::locked};

/// The content of one delivery attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Letter {
    pub run: RunId,
    pub hook: String,
    pub target: Value,
    pub seq: Seq,
    /// The update as a line of the run's summary.
    pub line: String,
    /// The state and the newest event of the run that came with it.
    pub state: StateName,
    pub view_seq: Seq,
    pub arrived: bool,
}

type Verdict = Box<dyn FnMut(&Letter) -> Result<(), Undelivered> + Send>;

/// Outlives processes, as a real receiver does: pass the same one to the next.
pub struct Postbox {
    attempts: watch::Sender<Vec<Letter>>,
    verdict: Mutex<Verdict>,
}

impl Default for Postbox {
    fn default() -> Self {
        Self { attempts: watch::Sender::default(), verdict: Mutex::new(Box::new(|_| Ok(()))) }
    }
}

impl fmt::Debug for Postbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postbox").field("attempts", &*self.attempts.borrow()).finish()
    }
}

impl Postbox {
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides the result of each delivery from now on.
    pub fn judge(&self, verdict: impl FnMut(&Letter) -> Result<(), Undelivered> + Send + 'static) {
        *locked(&self.verdict) = Box::new(verdict);
    }

    /// Every attempt so far.
    pub fn attempts(&self) -> Vec<Letter> {
        self.attempts.borrow().clone()
    }

    /// Successful deliveries so far.
    pub fn letters(&self) -> Vec<Letter> {
        self.attempts.borrow().iter().filter(|letter| letter.arrived).cloned().collect()
    }

    /// The lines that were delivered to this hook of this run, in order.
    pub fn lines(&self, run: RunId, hook: &str) -> Vec<String> {
        let letters = self.letters().into_iter();
        let own = letters.filter(|letter| letter.run == run && letter.hook == hook);
        own.map(|letter| letter.line).collect()
    }

    /// Resolves when there were this many attempts.
    pub async fn until_attempts(&self, count: usize) {
        let enough = |letters: &Vec<Letter>| letters.len() >= count;
        // The sender lives as long as this borrow.
        let _ = self.attempts.subscribe().wait_for(enough).await;
    }

    /// Resolves when this line was delivered to the hook.
    pub async fn until_line(&self, run: RunId, hook: &str, line: &str) {
        let is_it = |letter: &Letter| {
            letter.arrived && letter.run == run && letter.hook == hook && letter.line == line
        };
        let there = |letters: &Vec<Letter>| letters.iter().any(is_it);
        let _ = self.attempts.subscribe().wait_for(there).await;
    }
}

impl Messenger for Postbox {
    fn deliver<'a>(
        &'a self,
        hook: &'a Hook,
        stored: &'a Stored,
        view: &'a RunView,
    ) -> PortFuture<'a, Result<(), Undelivered>> {
        Box::pin(async move {
            let mut letter = Letter {
                run: hook.run,
                hook: hook.id.clone(),
                target: hook.target.0.clone(),
                seq: stored.seq,
                line: story(std::slice::from_ref(stored)).concat(),
                state: view.state,
                view_seq: view.seq,
                arrived: false,
            };
            let verdict = locked(&self.verdict)(&letter);
            letter.arrived = verdict.is_ok();
            self.attempts.send_modify(|attempts| attempts.push(letter));
            verdict
        })
    }
}
