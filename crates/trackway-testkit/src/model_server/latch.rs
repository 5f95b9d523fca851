//! A point in a script at which the server waits for the test.

use tokio::sync::watch;

/// Clones are the same latch.
#[derive(Debug, Clone, Default)]
pub struct Latch {
    state: watch::Sender<State>,
}

#[derive(Debug, Default)]
struct State {
    reached: usize,
    released: bool,
}

impl Latch {
    pub fn new() -> Self {
        Self::default()
    }

    /// Releases all waiters, now and later.
    pub fn release(&self) {
        self.state.send_modify(|state| state.released = true);
    }

    /// Resolves when a script has reached the latch: everything before it was sent.
    pub async fn reached(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.reached > 0).await;
    }

    pub(super) async fn pass(&self) {
        let mut state = self.state.subscribe();
        self.state.send_modify(|state| state.reached += 1);
        let _ = state.wait_for(|state| state.released).await;
    }
}
