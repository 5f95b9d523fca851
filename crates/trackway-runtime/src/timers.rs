//! Durable timers: the store keeps them, one task waits for the next.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::watch;
use trackway_domain::{Command, Timestamp};
use trackway_ports::{DueTimer, WorkClaim};

use crate::{Error, core::Core, supervisor::TaskSupervisor};

/// Timers fired at once; the next batch follows when these are recorded.
/// Limit (Runtime): timers that fire in one batch.
const BATCH_TIMERS: usize = 256;

/// When to look at the timers next. Only the earliest moment matters, so memory does not grow with sleeping
/// runs; and a timer that is set while an earlier one is waited for costs nothing.
#[derive(Debug)]
pub(crate) struct TimerAlarm {
    next: watch::Sender<Option<Timestamp>>,
}

impl Default for TimerAlarm {
    fn default() -> Self {
        Self { next: watch::Sender::new(None) }
    }
}

impl TimerAlarm {
    pub(crate) fn set_if_sooner(&self, due: Timestamp) {
        self.next.send_if_modified(|next| {
            let sooner = next.is_none_or(|known| due < known);
            if sooner {
                *next = Some(due);
            }
            sooner
        });
    }

    /// Forgets the moment, which has come. Called before the timers are read: a timer that is set in the
    /// meantime is found by that read, or sets the alarm again.
    fn clear(&self) {
        self.next.send_if_modified(|next| {
            *next = None;
            false
        });
    }
}

/// Fires timers until the runtime stops.
pub(crate) async fn run_timer_loop(core: Arc<Core>) {
    let mut stopping = core.stopping.subscribe();
    let mut alarm = core.alarm.next.subscribe();
    // Timers of runs that cannot be read: they stay in the store and must not be tried forever.
    let mut passed_over: HashSet<String> = HashSet::new();
    let mut supervisor = TaskSupervisor::new(&core, "timers");
    loop {
        core.alarm.clear();
        match fire_due_timers(&core, core.now(), &mut passed_over).await {
            Ok(TimerPoll::Again) => {
                supervisor.on_success();
                continue;
            }
            Ok(TimerPoll::At(next)) => {
                supervisor.on_success();
                next.into_iter().for_each(|next| core.alarm.set_if_sooner(next));
            }
            Err(error) => match supervisor.back_off(&error).await {
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

enum TimerPoll {
    /// A batch was fired; there may be more.
    Again,
    At(Option<Timestamp>),
}

/// Fires what is due, or finds the next due time. Both use the same moment, so that no timer falls between
/// them.
async fn fire_due_timers(
    core: &Arc<Core>,
    now: Timestamp,
    passed_over: &mut HashSet<String>,
) -> Result<TimerPoll, Error> {
    let limit = BATCH_TIMERS + passed_over.len();
    let claim = WorkClaim { worker: core.worker.id(), now, limit };
    let mut due = core.options.journal.claim_due_timers(claim).await?;
    due.retain(|timer| !passed_over.contains(&timer_name(timer)));
    if due.is_empty() {
        return Ok(TimerPoll::At(core.options.journal.next_timer_due(now).await?));
    }
    let mut transient = None;
    for (timer, fired) in due.iter().zip(join_all(due.iter().map(|timer| fire_timer(core, timer))).await) {
        match fired {
            Ok(()) => {}
            Err(error) if error.is_transient() => transient = Some(error),
            Err(error) => {
                let DueTimer { run, timer: which, .. } = timer;
                tracing::warn!(%run, timer = %which, %error, "a timer could not be fired");
                passed_over.insert(timer_name(timer));
            }
        }
    }
    transient.map_or(Ok(TimerPoll::Again), Err)
}

async fn fire_timer(core: &Arc<Core>, due: &DueTimer) -> Result<(), Error> {
    core.reach_fault_point("effect:timer");
    core.execute(due.run, &Command::FireTimer(due.timer.clone()), None).await.map(drop)
}

fn timer_name(timer: &DueTimer) -> String {
    format!("{} {}", timer.run, timer.timer)
}
