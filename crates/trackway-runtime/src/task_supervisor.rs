//! Background work that continues after a failure. Each kind of work has a name. After a failure it pauses,
//! longer each time, and tries again. Until it succeeds it counts as failing, which `/readyz` shows.

use std::{collections::BTreeMap, fmt::Display, ops::ControlFlow, sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::runtime_core::RuntimeCore;

/// Pause after the first failure; each further one doubles it.
const PAUSE_FIRST: Duration = Duration::from_millis(100);

/// Work continues at the latest this long after what it needs is available again.
///
/// Limit (Runtime): pause of background work between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Which work fails at the moment, and how many pieces of it.
#[derive(Debug)]
pub(crate) struct BackgroundTaskHealth {
    failing: watch::Sender<BTreeMap<&'static str, usize>>,
}

impl Default for BackgroundTaskHealth {
    fn default() -> Self {
        Self { failing: watch::Sender::new(BTreeMap::new()) }
    }
}

impl BackgroundTaskHealth {
    /// The names of the work that fails at the moment.
    pub(crate) fn failing_background_tasks(&self) -> Vec<&'static str> {
        self.failing.borrow().keys().copied().collect()
    }

    pub(crate) fn subscribe_to_failing_tasks(&self) -> watch::Receiver<BTreeMap<&'static str, usize>> {
        self.failing.subscribe()
    }

    fn mark_task_failing(&self, name: &'static str, error: &dyn Display) {
        self.failing.send_modify(|failing| {
            let count = failing.entry(name).or_insert(0);
            *count += 1;
            if *count == 1 {
                tracing::warn!(work = name, %error, "background work fails and is tried again");
            }
        });
    }

    fn mark_task_recovered(&self, name: &'static str) {
        self.failing.send_modify(|failing| {
            let Some(count) = failing.get_mut(name) else { return };
            *count -= 1;
            if *count == 0 {
                failing.remove(name);
                tracing::info!(work = name, "background work goes on");
            }
        });
    }
}

/// One piece of background work. It counts as failing from a failure to the next success, and never after it
/// is dropped.
#[derive(Debug)]
pub struct TaskSupervisor {
    core: Arc<RuntimeCore>,
    name: &'static str,
    /// The pause after the next failure.
    pause: Duration,
    is_failing: bool,
}

impl TaskSupervisor {
    pub(crate) fn new(core: &Arc<RuntimeCore>, name: &'static str) -> Self {
        Self { core: core.clone(), name, pause: PAUSE_FIRST, is_failing: false }
    }

    /// The work was done.
    pub fn on_task_success(&mut self) {
        self.pause = PAUSE_FIRST;
        if std::mem::take(&mut self.is_failing) {
            self.core.health.mark_task_recovered(self.name);
        }
    }

    /// The work failed. Returns when it is time to try again; returns early when the runtime stops.
    pub async fn back_off_after_failure(&mut self, error: &(dyn Display + Sync)) -> ControlFlow<()> {
        let mut stopping = self.core.stopping.subscribe();
        if *stopping.borrow() {
            // A store that is being closed does not answer any more; that is no failure.
            return ControlFlow::Break(());
        }
        if !self.is_failing {
            self.is_failing = true;
            self.core.health.mark_task_failing(self.name, error);
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(PAUSE_MAX);
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stop| *stop) => ControlFlow::Break(()),
            () = self.core.options.clock.sleep_until(self.core.now() + pause) => {
                ControlFlow::Continue(())
            }
        }
    }
}

impl Drop for TaskSupervisor {
    fn drop(&mut self) {
        self.on_task_success();
    }
}
