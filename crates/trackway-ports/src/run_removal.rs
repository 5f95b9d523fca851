//! What to remove, in the state in which the decision to remove it was made.

use trackway_domain::{Caller, RunId, Seq, SessionId};

/// A run, and the length of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLogHead {
    pub run: RunId,
    /// Number of its last event.
    pub head: Seq,
}

/// Runs to remove, all or none. Events that are newer than the decision to remove must not be lost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunRemoval {
    pub runs: Vec<RunLogHead>,
    /// The session whose complete set of runs this is. If it has another run by now, nothing is
    /// removed.
    pub session: Option<(Caller, SessionId)>,
}

impl RunRemoval {
    /// These runs, in any session.
    pub fn removal_of_runs(runs: impl IntoIterator<Item = (RunId, Seq)>) -> Self {
        let runs = runs.into_iter().map(|(run, head)| RunLogHead { run, head });
        Self { runs: runs.collect(), session: None }
    }
}
