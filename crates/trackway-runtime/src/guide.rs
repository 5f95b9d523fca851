//! Guided runs: an outside agent drives, node by node, and every answer is recorded once.

mod advance;
mod answer;
mod api;
mod bounds;
mod checkpoint;
mod context;
mod definitions;
mod digest;
mod ends;
mod execute;
mod fork;
mod migrate;
mod place;
mod recap;
mod resume;
mod session;
mod start;
mod store;

use std::sync::Arc;

use tokio::sync::Semaphore;
use trackway_domain::{Access, NodeId, Object, RunId, Seal, SessionId};
use trackway_ports::{Clock, Faults, Ids, Journal};

pub use api::{Advance, Advanced, Checkpointed, GuideError, Migrated, Position, Start};
pub use recap::{Recap, RecapDocument, RecapGrowth, RecapNote};
pub use resume::{Resumable, Resumed};

use self::definitions::Definitions;
use crate::{Catalogue, Runtime, SchemaBook};

/// Appends under way at once. Enough to fill a group commit several times over; beyond it, callers wait
/// for their turn instead of growing a queue.
/// Limit (Sessions): appends at once.
const APPENDS_MAX: usize = 1_024;

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
    definitions: Arc<Definitions>,
    schemas: Arc<SchemaBook>,
    appends: Arc<Semaphore>,
    /// Whose watchers are told of what is recorded here.
    runtime: Option<Runtime>,
}

impl Guide {
    pub fn new(options: GuideOptions) -> Self {
        Self {
            options,
            definitions: Arc::default(),
            schemas: Arc::default(),
            appends: Arc::new(Semaphore::new(APPENDS_MAX)),
            runtime: None,
        }
    }

    /// The same, where an engine works on the same store in this process: who watches a run there sees
    /// what is recorded here.
    #[must_use]
    pub fn beside(mut self, runtime: Runtime) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Whether a context names a session, which may then hold something already.
    pub fn names_session(context: &Object) -> bool {
        !session::ids_in(context).is_empty()
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.options.catalogue
    }

    /// Begins a run, pinned to the definition as it is now.
    pub async fn start(&self, access: &Access, start: Start) -> Result<Position, GuideError> {
        self.begin(access, start).await
    }

    /// The node again, with a fresh ack. Nothing is recorded.
    pub async fn look(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        seal: Seal,
    ) -> Result<Position, GuideError> {
        self.see(access, run, node, seal).await
    }

    /// Answers a node. The same answer again is told what it was told.
    pub async fn advance(&self, access: &Access, advance: Advance) -> Result<Advanced, GuideError> {
        self.answer(access, advance).await
    }

    /// Records notes on a node; the same notes on the same node are recorded once.
    pub async fn checkpoint(
        &self,
        access: &Access,
        run: RunId,
        node: NodeId,
        notes: &str,
        seal: Seal,
    ) -> Result<Checkpointed, GuideError> {
        self.note(access, run, node, notes, seal).await
    }

    /// Records notes on a session, which is made where there is none of that id. True where the same
    /// notes had been recorded before.
    pub async fn checkpoint_session(
        &self,
        access: &Access,
        session: &SessionId,
        notes: &str,
    ) -> Result<bool, GuideError> {
        self.note_session(access, session, notes).await
    }

    /// The node from which somebody goes on who has none of the run's tokens.
    pub async fn newest(&self, access: &Access, run: RunId) -> Result<NodeId, GuideError> {
        self.newest_point(access, run).await
    }

    /// Reads the unfinished ends of a run by the definition as it is now.
    pub async fn migrate(&self, access: &Access, run: RunId) -> Result<Migrated, GuideError> {
        self.move_on(access, run).await
    }
}
