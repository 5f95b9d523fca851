//! Guided runs: an outside agent drives, node by node, and every answer is recorded once.

mod api;

use std::sync::Arc;

use trackway_domain::{Caller, NodeId, RunId, Seal, SessionId};
use trackway_ports::{Clock, Faults, Ids, Journal};

pub use api::{Advance, Advanced, Checkpointed, Consent, GuideError, Migrated, Position, Start};

use crate::Catalogue;

/// What a guide works with.
#[derive(Debug, Clone)]
pub struct GuideOptions {
    pub journal: Arc<dyn Journal>,
    pub catalogue: Arc<Catalogue>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub faults: Arc<dyn Faults>,
}

/// The command path of guided runs. It holds no run in memory: several processes may guide the same
/// run in one store, and the log settles who was first.
#[derive(Debug, Clone)]
pub struct Guide {
    options: GuideOptions,
}

impl Guide {
    pub fn new(options: GuideOptions) -> Self {
        Self { options }
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.options.catalogue
    }

    /// Begins a run, pinned to the definition as it is now.
    pub async fn start(&self, caller: &Caller, start: Start) -> Result<Position, GuideError> {
        let _ = (caller, start);
        todo!()
    }

    /// The node again, with a fresh ack. Nothing is recorded.
    pub async fn look(
        &self,
        caller: &Caller,
        run: RunId,
        node: NodeId,
        seal: Seal,
    ) -> Result<Position, GuideError> {
        let _ = (caller, run, node, seal);
        todo!()
    }

    /// Answers a node. The same answer again is told what it was told.
    pub async fn advance(&self, caller: &Caller, advance: Advance) -> Result<Advanced, GuideError> {
        let _ = (caller, advance);
        todo!()
    }

    /// Records notes on a node; the same notes on the same node are recorded once.
    pub async fn checkpoint(
        &self,
        caller: &Caller,
        run: RunId,
        node: NodeId,
        notes: &str,
        seal: Seal,
    ) -> Result<Checkpointed, GuideError> {
        let _ = (caller, run, node, notes, seal);
        todo!()
    }

    /// Records notes on a session, which is made where there is none of that id.
    pub async fn checkpoint_session(
        &self,
        caller: &Caller,
        session: &SessionId,
        notes: &str,
    ) -> Result<bool, GuideError> {
        let _ = (caller, session, notes);
        todo!()
    }

    /// Reads the unfinished ends of a run by the definition as it is now.
    pub async fn migrate(&self, caller: &Caller, run: RunId) -> Result<Migrated, GuideError> {
        let _ = (caller, run);
        todo!()
    }
}
