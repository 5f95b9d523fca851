//! Durable timers: the store keeps them, one task waits for the next.

use std::{collections::HashSet, sync::Arc};

use futures_util::future::join_all;
use tokio::sync::watch;
use trackway_domain::{Command, Timestamp};
use trackway_ports::DueTimer;

use crate::core::Core;

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
    loop {
        core.alarm.clear();
        match look(&core, core.now(), &mut passed_over).await {
            Ok(Next::Now) => continue,
            Ok(Next::At(next)) => next.into_iter().for_each(|next| core.alarm.set(next)),
            // A store that is being closed answers no more; that is no news.
            Err(_) if core.is_stopping() => return,
            Err(error) => {
                tracing::error!(%error, "timers cannot be read; no timer fires until a restart");
                return;
            }
        }
        loop {
            let next = *alarm.borrow_and_update();
            tokio::select! {
                biased;
                _ = stopping.wait_for(|stop| *stop) => return,
                _ = alarm.changed() => {}
                () = until(&core, next) => break,
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
) -> Result<Next, trackway_ports::ReadError> {
    let limit = BATCH_TIMERS + passed_over.len();
    let mut due = core.options.journal.timers_due(now, limit).await?;
    due.retain(|timer| !passed_over.contains(&name(timer)));
    if due.is_empty() {
        return core.options.journal.next_timer(now).await.map(Next::At);
    }
    let failed = join_all(due.iter().map(|timer| fire(core, timer))).await;
    passed_over.extend(failed.into_iter().flatten());
    Ok(Next::Now)
}

async fn until(core: &Core, moment: Option<Timestamp>) {
    match moment {
        Some(moment) => core.options.clock.sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Fires one timer; its name when that failed.
async fn fire(core: &Arc<Core>, due: &DueTimer) -> Option<String> {
    core.reach("effect:timer");
    match core.execute(due.run, &Command::Fire(due.timer.clone()), None).await {
        Ok(_) => None,
        Err(error) => {
            tracing::warn!(run = %due.run, timer = %due.timer, %error, "a timer could not be fired");
            Some(name(due))
        }
    }
}

fn name(timer: &DueTimer) -> String {
    format!("{} {}", timer.run, timer.timer)
}
