//! A point in a script at which the server waits for the test.

use tokio::sync::watch;

/// Clones are the same latch.
#[derive(Debug, Clone, Default)]
pub struct ScriptLatch {
    state: watch::Sender<LatchState>,
}

#[derive(Debug, Default)]
struct LatchState {
    reached: usize,
    released: bool,
}

impl ScriptLatch {
    pub fn new() -> Self {
        Self::default()
    }

    /// Releases all waiters, now and later.
    pub fn release(&self) {
        self.state.send_modify(|state| state.released = true);
    }

    /// Resolves when a script has reached the latch: everything before it was sent.
    pub async fn wait_until_reached(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.reached > 0).await;
    }

    pub(super) async fn wait_until_released(&self) {
        let mut state = self.state.subscribe();
        self.state.send_modify(|state| state.reached += 1);
        let _ = state.wait_for(|state| state.released).await;
    }
}
