//! How long, and at which pace, a lost peer is tried again.

use std::time::Duration;

use tokio::time::Instant;

/// The pause before the second attempt; the first follows at once.
/// Limit (Mesh): first pause between two attempts to reach a peer again.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// Limit (Mesh): longest pause between two attempts to reach a peer again.
const PAUSE_MAX: Duration = Duration::from_secs(3);

/// The time from a loss until it is given up; every update closes the window.
#[derive(Debug)]
pub(super) struct ReconnectWindow {
    limit: Duration,
    open: Option<OpenWindow>,
}

#[derive(Debug)]
struct OpenWindow {
    ends: Instant,
    pause: Duration,
}

impl ReconnectWindow {
    pub(super) const fn new(limit: Duration) -> Self {
        Self { limit, open: None }
    }

    /// The peer has said something.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Waits for the next attempt. Returns false when the time is over.
    pub(super) async fn wait_for_next_attempt(&mut self) -> bool {
        let Some(open) = &mut self.open else {
            self.open = Some(OpenWindow { ends: Instant::now() + self.limit, pause: PAUSE_FIRST });
            return true;
        };
        let next = Instant::now() + open.pause;
        if next > open.ends {
            return false;
        }
        open.pause = (open.pause * 2).min(PAUSE_MAX);
        tokio::time::sleep_until(next).await;
        true
    }
}
