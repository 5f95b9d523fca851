//! Somebody who counts: told of every event of this process once it is durable.

use std::fmt::Debug;

use trackway_domain::{Event, Submission};

/// Hears of events after their commit, each once, in the order of the log. It is called where the next
/// commit waits: it counts and returns. What an earlier process did is not told again.
pub trait CommitObserver: Debug + Send + Sync {
    fn on_committed(&self, run: &Submission, event: &Event);
}
