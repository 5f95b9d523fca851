//! The MCP door of a server: workflow definitions for outside agents, on the server's own store.

use std::sync::Arc;

use trackway_mcp::{CheckpointSwitches, KeyRing, McpDoor};
use trackway_ports::{Clock as _, FaultInjector};
use trackway_runtime::{GuidedRunOptions, GuidedRuns, SystemClock, SystemIds};

use super::{OpenedEngine, ServerError};

/// What the MCP door serves.
#[derive(Debug, Clone, Default)]
pub struct McpOptions {
    switches: CheckpointSwitches,
}

impl McpOptions {
    /// The workflow definitions of the server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers `workflow_checkpoint`: notes without an advance.
    #[must_use]
    pub fn offer_checkpoints(mut self, offer: bool) -> Self {
        self.switches.checkpoints = offer;
        self
    }

    /// Allows checkpoints on a whole session too.
    #[must_use]
    pub fn offer_session_checkpoints(mut self, offer: bool) -> Self {
        self.switches.session_checkpoints = offer;
        self
    }

    pub(super) async fn door(
        &self,
        opened: &OpenedEngine,
        faults: &Arc<dyn FaultInjector>,
    ) -> Result<McpDoor, ServerError> {
        let ring = KeyRing::open(opened.store.keys.clone(), SystemClock.now()).await?;
        let guide = GuidedRuns::new(GuidedRunOptions {
            journal: opened.store.journal.clone(),
            catalogue: opened.written.workflow_catalogue().clone(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: faults.clone(),
        });
        let guide = guide.with_runtime(opened.runtime.clone());
        Ok(McpDoor::new(guide, Arc::new(ring), self.switches))
    }
}
