//! How far a run may grow: how deep runs start each other, and how many agents and dispatched workflows one
//! root may have below it. Without a limit, a model that starts workflows that start agents would never stop.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use trackway_domain::{RunCommand, RunId, SessionId};
use trackway_ports::{ReadError, RunFilter, RunRow};

use crate::{ChildError, Error, ProgramKind, runtime_core::RuntimeCore};

/// How far runs may grow below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildLimits {
    /// How many runs lead from a root to its deepest descendant.
    pub depth_max: u32,
    /// Agents' turns, and workflows that agents dispatch, below one root in all.
    pub runs_max: u32,
}

/// Deep enough for four agents that each dispatch a workflow that asks the next agent.
///
/// Limit (Agents): how deep runs start each other; `[dispatch] depth_max`.
const DEPTH_MAX_DEFAULT: u32 = 8;

/// More than one turn of a conversation needs, and a stop for a run that starts itself again and again.
///
/// Limit (Agents): agents and dispatched workflows below one run; `[dispatch] runs_max`.
const RUNS_MAX_DEFAULT: u32 = 100;

/// Roots whose descendants are counted in memory. If a root was forgotten, its descendants are counted again
/// from the store.
///
/// Limit (Runtime): roots whose descendants are counted in memory.
const ROOTS_MAX: usize = 4_096;

/// Rows read at once while descendants are counted.
const PAGE_ROWS: usize = 256;

impl Default for ChildLimits {
    fn default() -> Self {
        Self { depth_max: DEPTH_MAX_DEFAULT, runs_max: RUNS_MAX_DEFAULT }
    }
}

/// Agents and dispatched workflows below each root.
#[derive(Debug, Default)]
pub(crate) struct DescendantCounts(Mutex<BTreeMap<RunId, u32>>);

impl DescendantCounts {
    fn has_descendant_count(&self, root: RunId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&root)
    }

    /// Counts one more, unless the maximum is reached.
    fn try_count_descendant(&self, root: RunId, initial_count: u32, max: u32) -> bool {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= ROOTS_MAX && !counts.contains_key(&root) {
            // The oldest: ids are ordered by time.
            counts.pop_first();
        }
        let count = counts.entry(root).or_insert(initial_count);
        if *count >= max {
            return false;
        }
        *count += 1;
        true
    }
}

/// A run that is about to start a child.
pub(crate) struct ParentRun {
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) parent: Option<RunId>,
    /// It has started no child yet.
    pub(crate) is_first: bool,
}

impl RuntimeCore {
    /// Whether the run may have another child. A child that `counts` is an agent's turn, or dispatched by
    /// one.
    pub(crate) async fn check_child_limits(
        self: &Arc<Self>,
        parent: ParentRun,
        counts_toward_limit: bool,
    ) -> Result<Result<(), ChildError>, ReadError> {
        let limits = self.options.child_limits;
        let (mut depth, mut root, mut above) = (1, parent.run, parent.parent);
        while let Some(id) = above {
            depth += 1;
            if depth >= limits.depth_max {
                return Ok(Err(ChildError::TooDeep { max: limits.depth_max }));
            }
            root = id;
            above = self.options.journal.find_run(id).await?.and_then(|row| row.parent);
        }
        if depth >= limits.depth_max {
            return Ok(Err(ChildError::TooDeep { max: limits.depth_max }));
        }
        if !counts_toward_limit {
            return Ok(Ok(()));
        }
        let is_fresh = parent.is_first && parent.parent.is_none();
        let first = if is_fresh || self.descendants.has_descendant_count(root) {
            0
        } else {
            self.count_stored_descendants(root, parent.session).await?
        };
        if self.descendants.try_count_descendant(root, first, limits.runs_max) {
            Ok(Ok(()))
        } else {
            Ok(Err(ChildError::TooMany { max: limits.runs_max }))
        }
    }

    /// Agents and dispatched workflows that the store has below a root.
    async fn count_stored_descendants(&self, root: RunId, session: SessionId) -> Result<u32, ReadError> {
        let is_agent = |row: &RunRow| {
            let program = self.options.registry.current_program(&row.workflow.name);
            program.is_some_and(|program| program.info().kind == ProgramKind::Agent)
        };
        let root = self.options.journal.find_run(root).await?;
        let Some(root) = root else { return Ok(0) };
        let below = self.list_descendants(root.id, session).await?;
        let agents = std::iter::once(&root).chain(&below).filter(|row| is_agent(row));
        let agents: BTreeSet<RunId> = agents.map(|row| row.id).collect();
        let counts = |row: &&RunRow| {
            agents.contains(&row.id) || row.parent.is_some_and(|parent| agents.contains(&parent))
        };
        Ok(u32::try_from(below.iter().filter(counts).count()).unwrap_or(u32::MAX))
    }

    /// Every run below a root, parents before their children. They are in its session, and younger than it.
    async fn list_descendants(&self, root: RunId, session: SessionId) -> Result<Vec<RunRow>, ReadError> {
        let filter = RunFilter { session: Some(session), ..RunFilter::default() };
        let mut rows: Vec<RunRow> = Vec::new();
        let mut before = None;
        loop {
            let page = self.options.journal.list_runs(filter.clone(), before, PAGE_ROWS).await?;
            let whole = page.len() < PAGE_ROWS || page.last().is_some_and(|row| row.id <= root);
            before = page.last().map(|row| row.id);
            rows.extend(page.into_iter().filter(|row| row.id > root));
            if whole {
                break;
            }
        }
        rows.sort_unstable_by_key(|row| row.id);
        let mut known = BTreeSet::from([root]);
        rows.retain(|row| {
            let is_below = row.parent.is_some_and(|parent| known.contains(&parent));
            is_below && known.insert(row.id)
        });
        Ok(rows)
    }

    /// Cancels what still runs below a run. True if there was anything.
    pub(crate) async fn cancel_running_descendants(self: &Arc<Self>, root: RunId) -> Result<bool, Error> {
        let Some(row) = self.options.journal.find_run(root).await? else { return Ok(false) };
        let mut any = false;
        for row in self.list_descendants(root, row.session).await? {
            if row.state.is_terminal() {
                continue;
            }
            match self.execute_command(row.id, &RunCommand::Cancel, None).await {
                Ok(_) => any = true,
                // It has ended in the meantime.
                Err(Error::Ended { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(any)
    }
}
