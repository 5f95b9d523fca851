//! The MCP door of a server: workflow definitions for outside agents, on the server's own store.

use std::sync::Arc;

use trackway_mcp::{Door, KeyRing, Switches};
use trackway_ports::{Clock as _, Faults};
use trackway_runtime::{Guide, GuideOptions, SystemClock, SystemIds};

use super::{Opened, ServerError};

/// What the MCP door serves.
#[derive(Debug, Clone, Default)]
pub struct Mcp {
    switches: Switches,
}

impl Mcp {
    /// The workflow definitions of the server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers `workflow_checkpoint`: notes without an advance.
    #[must_use]
    pub fn checkpoints(mut self, offer: bool) -> Self {
        self.switches.checkpoints = offer;
        self
    }

    /// Allows checkpoints on a whole session too.
    #[must_use]
    pub fn session_checkpoints(mut self, offer: bool) -> Self {
        self.switches.session_checkpoints = offer;
        self
    }

    pub(super) fn door(
        &self,
        opened: &Opened,
        faults: &Arc<dyn Faults>,
    ) -> Result<Door, ServerError> {
        let ring = KeyRing::open(opened.folder.path(), SystemClock.now())?;
        let guide = Guide::new(GuideOptions {
            journal: opened.store.journal.clone(),
            catalogue: opened.written.catalogue().clone(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: faults.clone(),
        });
        let guide = guide.beside(opened.runtime.clone());
        Ok(Door::new(guide, Arc::new(ring), self.switches))
    }
}
