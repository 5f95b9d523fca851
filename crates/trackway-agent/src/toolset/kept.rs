//! A cache of tool sets. A set is kept as long as none of its inputs changes.
//!
//! A turn asks for its set before every model call, and many turns of the same agent run at once. The
//! inputs change rarely.

use std::{
    collections::VecDeque,
    ptr,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use trackway_runtime::{Kind, Program};

use super::Toolset;
use crate::{AgentSpec, Stock};

/// Sets that are kept, the newest ones: more than a workspace has agents, and few enough to search. A
/// missing set is rebuilt.
/// Limit (Agents): sets of tools kept in memory.
const KEPT_MAX: usize = 64;

/// Sets by their inputs.
#[derive(Debug, Default)]
pub(crate) struct KeptToolsets {
    /// The newest last. Locked only to read or to insert; a set is built without the lock.
    kept: Mutex<VecDeque<Kept>>,
}

/// A set and its inputs. Inputs are replaced as a whole and never changed, so the same pointer means
/// the same content. The references are weak: they do not keep inputs alive, but they prevent the reuse
/// of an address.
#[derive(Debug)]
struct Kept {
    spec: Weak<AgentSpec>,
    stock: Weak<Stock>,
    programs: Vec<Weak<dyn Program>>,
    tools: Arc<Toolset>,
}

impl KeptToolsets {
    pub(crate) fn of(
        &self,
        spec: &Arc<AgentSpec>,
        stock: &Arc<Stock>,
        programs: &[Arc<dyn Program>],
    ) -> Arc<Toolset> {
        if let Some(kept) = self.lock().iter().find(|kept| kept.is_of(spec, stock, programs)) {
            return kept.tools.clone();
        }
        let workflows = programs.iter().map(|program| program.info());
        let workflows = workflows.filter(|info| info.kind == Kind::Workflow);
        let tools = stock.tools.iter().map(|tool| tool.info());
        let tools = Arc::new(Toolset::new(spec, workflows, tools));
        let made = Kept {
            spec: Arc::downgrade(spec),
            stock: Arc::downgrade(stock),
            programs: programs.iter().map(Arc::downgrade).collect(),
            tools: tools.clone(),
        };
        let mut kept = self.lock();
        // The agent's earlier inputs are obsolete.
        kept.retain(|kept| !is_at(&kept.spec, spec));
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(made);
        tools
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_of(
        &self,
        spec: &Arc<AgentSpec>,
        stock: &Arc<Stock>,
        programs: &[Arc<dyn Program>],
    ) -> bool {
        let same = |(kept, now): (&Weak<dyn Program>, &Arc<dyn Program>)| is_at(kept, now);
        is_at(&self.spec, spec)
            && is_at(&self.stock, stock)
            && self.programs.len() == programs.len()
            && self.programs.iter().zip(programs).all(same)
    }
}

fn is_at<T: ?Sized>(kept: &Weak<T>, now: &Arc<T>) -> bool {
    ptr::addr_eq(kept.as_ptr(), Arc::as_ptr(now))
}

#[cfg(test)]
mod tests;
