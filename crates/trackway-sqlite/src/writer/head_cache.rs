//! The heads of recently written runs, so that the writer does not look them up for each append.

use std::collections::HashMap;

use trackway_domain::RunId;
use trackway_ports::WorkerId;

/// Cached runs: more than are active at once, at about 80 bytes each. When the cache is full it is
/// cleared, which costs one lookup per active run.
/// Limit (Store): runs whose last position is remembered.
const RUNS_MAX: usize = 32 * 1024;

#[derive(Debug, Default)]
pub(crate) struct RunHeadCache {
    /// SQLite's counter of the commits of other connections, when the cache was last valid.
    version: i64,
    runs: HashMap<RunId, CachedRunHead>,
}

/// The head of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CachedRunHead {
    /// Number of its newest event.
    pub(crate) seq: i64,
    /// The run may have hooks. If it has none, an append does not look for them.
    pub(crate) may_have_hooks: bool,
    /// How often a worker has taken over the run.
    pub(crate) epoch: i64,
    pub(crate) driver: Option<WorkerId>,
}

impl RunHeadCache {
    /// Clears the cache if another process has written since. Called inside the write transaction, so
    /// no other process can write between this and the commit.
    pub(crate) fn clear_if_database_changed(&mut self, version: i64) {
        if self.version != version {
            self.version = version;
            self.runs.clear();
        }
    }

    /// The cached values belong to a transaction that is rolled back.
    pub(crate) fn clear_all_run_heads(&mut self) {
        self.runs.clear();
    }

    pub(crate) fn forget_run_head(&mut self, run: RunId) {
        self.runs.remove(&run);
    }

    pub(crate) fn cached_run_head(&self, run: RunId) -> Option<CachedRunHead> {
        self.runs.get(&run).copied()
    }

    pub(crate) fn cache_run_head(&mut self, run: RunId, head: CachedRunHead) {
        if self.runs.len() >= RUNS_MAX {
            self.runs.clear();
        }
        self.runs.insert(run, head);
    }
}
