//! What is to be removed, as it was when that was decided.

use trackway_domain::{Caller, RunId, Seq, SessionId};

/// A run, and how far its log had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunHead {
    pub run: RunId,
    /// Number of its last event.
    pub head: Seq,
}

/// Runs to remove, all or none. Nobody may lose what was recorded after somebody decided to remove it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removal {
    pub runs: Vec<RunHead>,
    /// The session that these are all the runs of. If it has another by now, nothing is removed.
    pub session: Option<(Caller, SessionId)>,
}

impl Removal {
    /// These runs, whichever sessions they are of.
    pub fn of(runs: impl IntoIterator<Item = (RunId, Seq)>) -> Self {
        let runs = runs.into_iter().map(|(run, head)| RunHead { run, head });
        Self { runs: runs.collect(), session: None }
    }
}
