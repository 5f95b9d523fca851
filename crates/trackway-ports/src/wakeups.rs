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
pub type Listener = Box<dyn Fn(Wakeup) -> bool + Send + Sync>;

/// Carries wake-ups from worker to worker. They are sent after the commit. A wake-up may be lost or
/// arrive twice: it only saves the wait until the next poll of the store.
pub trait Wakeups: Send + Sync + fmt::Debug {
    fn publish(&self, wakeup: Wakeup);

    /// Receives every wake-up from now on, including those of this process.
    fn listen(&self, listener: Listener);
}

/// Wake-ups among workers in one process.
#[derive(Default)]
pub struct LocalWakeups {
    listeners: Mutex<Vec<Listener>>,
}

impl LocalWakeups {
    fn listeners(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LocalWakeups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalWakeups").field("listeners", &self.listeners().len()).finish()
    }
}

impl Wakeups for LocalWakeups {
    fn publish(&self, wakeup: Wakeup) {
        self.listeners().retain(|listener| listener(wakeup));
    }

    fn listen(&self, listener: Listener) {
        self.listeners().push(listener);
    }
}
