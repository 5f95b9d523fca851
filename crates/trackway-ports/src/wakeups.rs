//! Wake-ups between the workers of one store.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use trackway_domain::{RunId, Seq};

use crate::WorkerId;

/// The log of a run has new events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakeup {
    pub run: RunId,
    /// Number of its last event.
    pub seq: Seq,
    /// The worker that appended them.
    pub from: WorkerId,
}

/// Called with every wake-up, on the thread on which it arrives. It must be short and must not block.
/// After it returns false, it is not called again.
pub type WakeupListener = Box<dyn Fn(Wakeup) -> bool + Send + Sync>;

/// Carries wake-ups from worker to worker. They are sent after the commit. A wake-up may be lost or
/// arrive twice: it only saves the wait until the next poll of the store.
pub trait Wakeups: Send + Sync + fmt::Debug {
    fn publish_wakeup(&self, wakeup: Wakeup);

    /// Receives every wake-up from now on, including those of this process.
    fn subscribe_to_wakeups(&self, listener: WakeupListener);
}

/// Wake-ups among workers in one process.
#[derive(Default)]
pub struct InProcessWakeups {
    listeners: Mutex<Vec<WakeupListener>>,
}

impl InProcessWakeups {
    fn lock_listeners(&self) -> MutexGuard<'_, Vec<WakeupListener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for InProcessWakeups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalWakeups").field("listeners", &self.lock_listeners().len()).finish()
    }
}

impl Wakeups for InProcessWakeups {
    fn publish_wakeup(&self, wakeup: Wakeup) {
        self.lock_listeners().retain(|listener| listener(wakeup));
    }

    fn subscribe_to_wakeups(&self, listener: WakeupListener) {
        self.lock_listeners().push(listener);
    }
}
