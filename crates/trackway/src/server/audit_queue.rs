//! Refusals on their way to the audit log: a bounded queue, and one task that stores what waits in it.
//!
//! A request that is refused does not wait for the store. If refusals come faster than the store takes them,
//! or if the store does not take them, they are logged instead.

use std::{sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};
use trackway_domain::Caller;
use trackway_ports::{AppendError, AuditEvent, AuditLog, AuditRecorder, Clock, PortFuture, RefusedAction};

/// Refusals that wait for the store. Each has about two kilobytes at most.
/// Limit (Store): audit events that wait to be stored.
const WAITING_MAX: usize = 1_024;
/// A store that is busy for longer keeps more than the audit log from working.
/// Limit (Store): attempts to store audit events while the store is busy.
const ATTEMPTS_MAX: u32 = 5;
/// Pause before the next attempt.
/// Limit (Store): pause between two attempts to store audit events.
const PAUSE: Duration = Duration::from_millis(200);

/// Takes refusals and hands them to the audit log.
#[derive(Debug)]
pub(crate) struct AuditQueue {
    jobs: mpsc::Sender<AuditJob>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
enum AuditJob {
    Record(AuditEvent),
    /// Says that everything before it is stored or lost.
    Report(oneshot::Sender<()>),
}

impl AuditQueue {
    /// Begins to store what comes. The task ends with the last user of the queue.
    pub(crate) fn open(log: Arc<dyn AuditLog>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let (jobs, inbox) = mpsc::channel(WAITING_MAX);
        tokio::spawn(store_waiting_events(log, clock.clone(), inbox));
        Arc::new(Self { jobs, clock })
    }
}

impl AuditRecorder for AuditQueue {
    fn record_refusal(&self, caller: &Caller, refused: RefusedAction<'_>) {
        let event = AuditEvent::new(self.clock.now(), caller, &refused);
        if let Err(unsent) = self.jobs.try_send(AuditJob::Record(event))
            && let AuditJob::Record(event) = unsent.into_inner()
        {
            log_lost_event(&event, "too many wait already");
        }
    }

    fn wait_until_recorded(&self) -> PortFuture<'_, ()> {
        Box::pin(async {
            let (done, is_done) = oneshot::channel();
            // An error means that the task has ended, and nothing waits any more.
            if self.jobs.send(AuditJob::Report(done)).await.is_ok() {
                let _ = is_done.await;
            }
        })
    }
}

/// Stores everything that waits in one transaction, again and again.
async fn store_waiting_events(
    log: Arc<dyn AuditLog>,
    clock: Arc<dyn Clock>,
    mut inbox: mpsc::Receiver<AuditJob>,
) {
    let mut batch = Vec::new();
    while inbox.recv_many(&mut batch, WAITING_MAX).await > 0 {
        let (mut events, mut reports) = (Vec::new(), Vec::new());
        for job in batch.drain(..) {
            match job {
                AuditJob::Record(event) => events.push(event),
                AuditJob::Report(done) => reports.push(done),
            }
        }
        if !events.is_empty() {
            store_events_or_log(&*log, &*clock, events).await;
        }
        for done in reports {
            // The one that waited may have gone.
            let _ = done.send(());
        }
    }
}

async fn store_events_or_log(log: &dyn AuditLog, clock: &dyn Clock, events: Vec<AuditEvent>) {
    for attempt in 1..=ATTEMPTS_MAX {
        match log.record_audit_events(events.clone()).await {
            Ok(()) => return,
            // Nothing was written. Any other failure may have written it.
            Err(AppendError::Unavailable { .. }) if attempt < ATTEMPTS_MAX => {
                clock.sleep_until(clock.now() + PAUSE).await;
            }
            Err(error) => {
                let reason = error.to_string();
                events.iter().for_each(|event| log_lost_event(event, &reason));
                return;
            }
        }
    }
}

/// The texts come from a caller, so they are printed with their control characters escaped.
fn log_lost_event(event: &AuditEvent, why: &str) {
    let AuditEvent { at, tenant, user, action, object, reason } = event;
    tracing::error!(
        why, %at, ?tenant, ?user, action, ?object, ?reason, "a refusal could not be stored in the audit log"
    );
}

#[cfg(test)]
mod tests;
