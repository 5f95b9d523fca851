//! Wake-ups between the workers of one store.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use trackway_domain::{RunId, Seq};

use crate::WorkerId;

/// The log of a run has gone on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wakeup {
    pub run: RunId,
    /// Number of its last event.
    pub seq: Seq,
    /// Who appended it.
    pub from: WorkerId,
}

/// Called with every wake-up, on the thread that it arrives on. It must be short and must not block. When
/// it returns false it is not called again.
pub type Listener = Box<dyn Fn(Wakeup) -> bool + Send + Sync>;

/// Carries wake-ups from worker to worker. They are sent after the commit. One may be lost or come twice:
/// they only save the wait for the next look at the store.
pub trait Wakeups: Send + Sync + fmt::Debug {
    fn publish(&self, wakeup: Wakeup);

    /// Hears of what is published from now on, by this process too.
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
