//! Durable timers: the store keeps them, one task waits for the next.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::watch;
use trackway_domain::{RunCommand, Timestamp};
use trackway_ports::{DueTimer, WorkClaim};

use crate::{Error, runtime_core::RuntimeCore, task_supervisor::TaskSupervisor};

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
    pub(crate) fn set_alarm_if_sooner(&self, due: Timestamp) {
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
    fn clear_alarm(&self) {
        self.next.send_if_modified(|next| {
            *next = None;
            false
        });
    }
}

/// Fires timers until the runtime stops.
pub(crate) async fn run_timer_loop(core: Arc<RuntimeCore>) {
    let mut stopping = core.stopping.subscribe();
    let mut alarm = core.alarm.next.subscribe();
    // Timers of runs that cannot be read: they stay in the store and must not be tried forever.
    let mut passed_over: HashSet<String> = HashSet::new();
    let mut supervisor = TaskSupervisor::new(&core, "timers");
    loop {
        core.alarm.clear_alarm();
        match fire_due_timers(&core, core.now(), &mut passed_over).await {
            Ok(TimerPollOutcome::Again) => {
                supervisor.on_task_success();
                continue;
            }
            Ok(TimerPollOutcome::At(next)) => {
                supervisor.on_task_success();
                next.into_iter().for_each(|next| core.alarm.set_alarm_if_sooner(next));
            }
            Err(error) => match supervisor.back_off_after_failure(&error).await {
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

enum TimerPollOutcome {
    /// A batch was fired; there may be more.
    Again,
    At(Option<Timestamp>),
}

/// Fires what is due, or finds the next due time. Both use the same moment, so that no timer falls between
/// them.
async fn fire_due_timers(
    core: &Arc<RuntimeCore>,
    now: Timestamp,
    skipped_timers: &mut HashSet<String>,
) -> Result<TimerPollOutcome, Error> {
    let limit = BATCH_TIMERS + skipped_timers.len();
    let claim = WorkClaim { worker: core.worker.worker_id(), now, limit };
    let mut due = core.options.journal.claim_due_timers(claim).await?;
    due.retain(|timer| !skipped_timers.contains(&timer_key(timer)));
    if due.is_empty() {
        return Ok(TimerPollOutcome::At(core.options.journal.next_timer_due(now).await?));
    }
    let mut transient = None;
    for (timer, fired) in due.iter().zip(join_all(due.iter().map(|timer| fire_timer(core, timer))).await) {
        match fired {
            Ok(()) => {}
            Err(error) if error.is_transient() => transient = Some(error),
            Err(error) => {
                let DueTimer { run, timer: which, .. } = timer;
                tracing::warn!(%run, timer = %which, %error, "a timer could not be fired");
                skipped_timers.insert(timer_key(timer));
            }
        }
    }
    transient.map_or(Ok(TimerPollOutcome::Again), Err)
}

async fn fire_timer(core: &Arc<RuntimeCore>, due: &DueTimer) -> Result<(), Error> {
    core.reach_fault_point("effect:timer");
    core.execute_command(due.run, &RunCommand::FireTimer(due.timer.clone()), None).await.map(drop)
}

fn timer_key(timer: &DueTimer) -> String {
    format!("{} {}", timer.run, timer.timer)
}
