//! Where the runs that were written lately stand, so that the writer need not look it up for each
//! append.

use std::collections::HashMap;

use trackway_domain::RunId;
use trackway_ports::WorkerId;

/// Runs remembered: more than are at work at once, at about 80 bytes each. When it is full everything
/// is forgotten, which costs one lookup per run at work.
/// Limit (Store): runs whose last position is remembered.
const RUNS_MAX: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// SQLite's count of what other connections have committed, when this was last valid.
    version: i64,
    runs: HashMap<RunId, Head>,
}

/// Where one run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Head {
    /// Number of its newest event.
    pub(crate) seq: i64,
    /// It may have hooks. Where it has none, an append need not look for them.
    pub(crate) hooked: bool,
    /// How often a worker has taken it.
    pub(crate) epoch: i64,
    pub(crate) driver: Option<WorkerId>,
}

impl Heads {
    /// Forgets everything if another process has written since. Called inside the write transaction, so
    /// nobody can write between this and the commit.
    pub(crate) fn refresh(&mut self, version: i64) {
        if self.version != version {
            self.version = version;
            self.runs.clear();
        }
    }

    /// What was noted belongs to a transaction that is undone.
    pub(crate) fn forget_all(&mut self) {
        self.runs.clear();
    }

    pub(crate) fn forget(&mut self, run: RunId) {
        self.runs.remove(&run);
    }

    pub(crate) fn get(&self, run: RunId) -> Option<Head> {
        self.runs.get(&run).copied()
    }

    pub(crate) fn set(&mut self, run: RunId, head: Head) {
        if self.runs.len() >= RUNS_MAX {
            self.runs.clear();
        }
        self.runs.insert(run, head);
    }
}
