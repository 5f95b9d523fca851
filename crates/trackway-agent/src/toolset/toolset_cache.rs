//! A cache of tool sets. A set is kept as long as none of its inputs changes.
//!
//! A turn asks for its set before every model call, and many turns of the same agent run at once. The
//! inputs change rarely.

use std::{
    collections::VecDeque,
    ptr,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use trackway_runtime::{Program, ProgramKind, ToolSourceSnapshot};

use super::Toolset;
use crate::{AgentSpec, ResourcesSnapshot};

/// Sets that are kept, the newest ones: more than a workspace has agents, and few enough to search. A
/// missing set is rebuilt.
/// Limit (Agents): sets of tools kept in memory.
const KEPT_MAX: usize = 64;

/// Sets by their inputs.
#[derive(Debug, Default)]
pub(crate) struct ToolsetCache {
    /// The newest last. Locked only to read or to insert; a set is built without the lock.
    kept: Mutex<VecDeque<CachedToolset>>,
}

/// A set and its inputs. Inputs are replaced as a whole and never changed, so the same pointer means
/// the same content. The references are weak: they do not keep inputs alive, but they prevent the reuse
/// of an address.
#[derive(Debug)]
struct CachedToolset {
    spec: Weak<AgentSpec>,
    stock: Weak<ResourcesSnapshot>,
    peer_tools: Weak<ToolSourceSnapshot>,
    programs: Vec<Weak<dyn Program>>,
    tools: Arc<Toolset>,
}

impl ToolsetCache {
    pub(crate) fn get_or_build_toolset(
        &self,
        spec: &Arc<AgentSpec>,
        snapshot: &Arc<ResourcesSnapshot>,
        peer_tools: &Arc<ToolSourceSnapshot>,
        programs: &[Arc<dyn Program>],
    ) -> Arc<Toolset> {
        let is_built_from =
            |kept: &&CachedToolset| kept.is_toolset_built_from(spec, snapshot, peer_tools, programs);
        if let Some(kept) = self.lock_entries().iter().find(is_built_from) {
            return kept.tools.clone();
        }
        let workflows = programs.iter().map(|program| program.info());
        let workflows = workflows.filter(|info| info.kind == ProgramKind::Workflow);
        let tools = snapshot.tools.iter().chain(&peer_tools.tools).map(|tool| tool.info());
        let tools = Arc::new(Toolset::new(spec, workflows, tools));
        let made = CachedToolset {
            spec: Arc::downgrade(spec),
            stock: Arc::downgrade(snapshot),
            peer_tools: Arc::downgrade(peer_tools),
            programs: programs.iter().map(Arc::downgrade).collect(),
            tools: tools.clone(),
        };
        let mut kept = self.lock_entries();
        // The agent's earlier inputs are obsolete. Callers who see other peers have sets of their own.
        kept.retain(|kept| {
            let is_other_view =
                kept.peer_tools.strong_count() > 0 && !is_same_allocation(&kept.peer_tools, peer_tools);
            !is_same_allocation(&kept.spec, spec) || is_other_view
        });
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(made);
        tools
    }

    fn lock_entries(&self) -> std::sync::MutexGuard<'_, VecDeque<CachedToolset>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedToolset {
    fn is_toolset_built_from(
        &self,
        spec: &Arc<AgentSpec>,
        snapshot: &Arc<ResourcesSnapshot>,
        peer_tools: &Arc<ToolSourceSnapshot>,
        programs: &[Arc<dyn Program>],
    ) -> bool {
        let same = |(kept, now): (&Weak<dyn Program>, &Arc<dyn Program>)| is_same_allocation(kept, now);
        is_same_allocation(&self.spec, spec)
            && is_same_allocation(&self.stock, snapshot)
            && is_same_allocation(&self.peer_tools, peer_tools)
            && self.programs.len() == programs.len()
            && self.programs.iter().zip(programs).all(same)
    }
}

fn is_same_allocation<T: ?Sized>(cached: &Weak<T>, current: &Arc<T>) -> bool {
    ptr::addr_eq(cached.as_ptr(), Arc::as_ptr(current))
}

#[cfg(test)]
mod tests;
