//! Tools that come and go while a server runs, such as those of peers.

use std::{collections::BTreeMap, fmt, sync::Arc};

use trackway_domain::Caller;

use super::Tool;

/// Where the tools of peers come from. An agent asks before every model call (I3), so the answers come from
/// memory.
pub trait ToolSource: Send + Sync + fmt::Debug {
    /// The tools that the caller may use, as they are now. As long as nothing changes for the caller, the
    /// answer is the same allocation: sets of tools are kept by it.
    fn tools_for_caller(&self, caller: &Caller) -> Arc<ToolSourceSnapshot>;

    /// The tool of a peer, even if it is not offered now: a call that has begun continues although its peer
    /// left the set. None if the caller has no such peer.
    fn find_peer_tool(&self, caller: &Caller, peer: &str) -> Option<Arc<dyn Tool>>;
}

/// The tools of a source at one moment, for one caller.
#[derive(Debug, Default)]
pub struct ToolSourceSnapshot {
    /// Changes with every change of the source.
    pub generation: u64,
    pub tools: Vec<Arc<dyn Tool>>,
    /// Tools that are not offered now, by name.
    pub unavailable: BTreeMap<String, UnavailableTool>,
}

/// A tool of a peer that cannot be called now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableTool {
    pub peer: String,
    /// Why, in words for a model.
    pub reason: String,
}
