//! Durable timers: the store keeps them, one task waits for the next.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::watch;
use trackway_domain::{Command, Timestamp};
use trackway_ports::{DueTimer, WorkClaim};

use crate::{Error, core::Core, supervise::Supervisor};

/// Timers fired at once; the next batch follows when these are recorded.
/// Limit (Runtime): timers that fire in one batch.
const BATCH_TIMERS: usize = 256;

/// When to look at the timers next. Only the earliest moment matters, so memory does not grow with sleeping
/// runs; and a timer that is set while an earlier one is waited for costs nothing.
#[derive(Debug)]
pub(crate) struct Alarm {
    next: watch::Sender<Option<Timestamp>>,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { next: watch::Sender::new(None) }
    }
}

impl Alarm {
    pub(crate) fn set(&self, due: Timestamp) {
        self.next.send_if_modified(|next| {
            let sooner = next.is_none_or(|known| due < known);
            if sooner {
                *next = Some(due);
            }
            sooner
        });
    }

    /// Forgets the moment, which has come. Before the timers are looked at: one that is set meanwhile is
    /// found by the look, or sets the alarm anew.
    fn clear(&self) {
        self.next.send_if_modified(|next| {
            *next = None;
            false
        });
    }
}

/// Fires timers until the runtime stops.
pub(crate) async fn run(core: Arc<Core>) {
    let mut stopping = core.stopping.subscribe();
    let mut alarm = core.alarm.next.subscribe();
    // Timers of runs that cannot be read: they stay where they are and must not be tried for ever.
    let mut passed_over: HashSet<String> = HashSet::new();
    let mut supervisor = Supervisor::new(&core, "timers");
    loop {
        core.alarm.clear();
        match look(&core, core.now(), &mut passed_over).await {
            Ok(Next::Now) => {
                supervisor.succeeded();
                continue;
            }
            Ok(Next::At(next)) => {
                supervisor.succeeded();
                next.into_iter().for_each(|next| core.alarm.set(next));
            }
            Err(error) => match supervisor.failed(&error).await {
                ControlFlow::Continue(()) => continue,
                ControlFlow::Break(()) => return,
            },
        }
        loop {
            let next = *alarm.borrow_and_update();
            tokio::select! {
                biased;
                _ = stopping.wait_for(|stop| *stop) => return,
                _ = alarm.changed() => {}
                () = core.sleep_until(next) => break,
            }
        }
    }
}

enum Next {
    /// A batch was fired; there may be more.
    Now,
    At(Option<Timestamp>),
}

/// Fires what is due, or finds out when something will be. Both look at the same moment, so that no
/// timer falls between them.
async fn look(
    core: &Arc<Core>,
    now: Timestamp,
    passed_over: &mut HashSet<String>,
) -> Result<Next, Error> {
    let limit = BATCH_TIMERS + passed_over.len();
    let claim = WorkClaim { worker: core.worker.id(), now, limit };
    let mut due = core.options.journal.claim_timers(claim).await?;
    due.retain(|timer| !passed_over.contains(&name(timer)));
    if due.is_empty() {
        return Ok(Next::At(core.options.journal.next_timer(now).await?));
    }
    let mut transient = None;
    for (timer, fired) in due.iter().zip(join_all(due.iter().map(|timer| fire(core, timer))).await)
    {
        match fired {
            Ok(()) => {}
            Err(error) if error.is_transient() => transient = Some(error),
            Err(error) => {
                let DueTimer { run, timer: which, .. } = timer;
                tracing::warn!(%run, timer = %which, %error, "a timer could not be fired");
                passed_over.insert(name(timer));
            }
        }
    }
    transient.map_or(Ok(Next::Now), Err)
}

async fn fire(core: &Arc<Core>, due: &DueTimer) -> Result<(), Error> {
    core.reach("effect:timer");
    core.execute(due.run, &Command::Fire(due.timer.clone()), None).await.map(drop)
}

fn name(timer: &DueTimer) -> String {
    format!("{} {}", timer.run, timer.timer)
}
