//! A counter of events: it is notified of every event of this process once it is durable.

use std::fmt::Debug;

use trackway_domain::{Event, RunSubmission};

/// Receives events after their commit, each once, in the order of the log. The next commit waits for this
/// call, so it must count and return. Events of an earlier process are not repeated.
pub trait CommitObserver: Debug + Send + Sync {
    fn on_event_committed(&self, run: &RunSubmission, event: &Event);
}
