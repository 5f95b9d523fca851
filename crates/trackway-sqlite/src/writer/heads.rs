//! The newest event number of the runs that were written lately, so that the writer need not look it up
//! for each append.

use std::collections::HashMap;

use trackway_domain::RunId;

/// Runs remembered: more than are at work at once, at about 50 bytes each. When it is full everything
/// is forgotten, which costs one lookup per run at work.
const RUNS_MAX: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// SQLite's count of what other connections have committed, when this was last valid.
    version: i64,
    newest: HashMap<RunId, i64>,
}

impl Heads {
    /// Forgets everything if another process has written since. Called inside the write transaction, so
    /// nobody can write between this and the commit.
    pub(crate) fn refresh(&mut self, version: i64) {
        if self.version != version {
            self.version = version;
            self.newest.clear();
        }
    }

    pub(crate) fn get(&self, run: RunId) -> Option<i64> {
        self.newest.get(&run).copied()
    }

    pub(crate) fn set(&mut self, run: RunId, newest: i64) {
        if self.newest.len() >= RUNS_MAX {
            self.newest.clear();
        }
        self.newest.insert(run, newest);
    }
}
