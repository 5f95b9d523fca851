//! Guided runs: an outside agent drives, node by node, and every answer is recorded once.

mod attempt_input_digest;
mod checkpoint_notes;
mod definition_cache;
mod definition_migration;
mod full_node_context;
mod guided_command_execution;
mod guided_request_types;
mod guided_start;
mod input_size_limits;
mod newest_open_node;
mod node_advance;
mod node_context;
mod node_recap;
mod node_view;
mod open_nodes;
mod resume_search;
mod run_and_definition_loading;
mod session_resolution;

use std::sync::Arc;

use tokio::sync::Semaphore;
use trackway_domain::Object;
use trackway_ports::{Clock, FaultInjector, IdSource, Journal};

pub use checkpoint_notes::NotesOutcome;
pub use guided_request_types::{
    GuidedAdvanceRequest, GuidedAdvanceResponse, GuidedCheckpointResponse, GuidedMigrateResponse,
    GuidedNodeView, GuidedRunError, GuidedStartRequest,
};
pub use node_recap::{NodeRecap, RecapBranch, RecapDocument, RecapNote};
pub use resume_search::{ResumableRun, ResumeResults};

use self::definition_cache::DefinitionCache;
use crate::{Catalogue, Runtime, SchemaCache};

/// Appends in flight at once. Enough to fill a group commit several times; beyond it, callers wait for their
/// turn instead of growing a queue.
/// Limit (Sessions): appends at once.
const APPENDS_MAX: usize = 1_024;

/// The dependencies of guided runs.
#[derive(Debug, Clone)]
pub struct GuidedRunOptions {
    pub journal: Arc<dyn Journal>,
    pub catalogue: Arc<Catalogue>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub faults: Arc<dyn FaultInjector>,
}

/// The command path of guided runs. It holds no run in memory: several processes may guide the same run in
/// one store, and the log decides which was first.
#[derive(Debug, Clone)]
pub struct GuidedRuns {
    options: GuidedRunOptions,
    definitions: Arc<DefinitionCache>,
    schemas: Arc<SchemaCache>,
    appends: Arc<Semaphore>,
    /// The runtime whose watchers are notified of what is recorded here.
    runtime: Option<Runtime>,
}

impl GuidedRuns {
    pub fn new(options: GuidedRunOptions) -> Self {
        Self {
            options,
            definitions: Arc::default(),
            schemas: Arc::default(),
            appends: Arc::new(Semaphore::new(APPENDS_MAX)),
            runtime: None,
        }
    }

    /// The same, with an engine on the same store in this process: watchers of a run there see what is
    /// recorded here.
    #[must_use]
    pub fn with_runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Whether a context names a session, which may already have content.
    pub fn context_has_session_id(context: &Object) -> bool {
        !session_resolution::session_ids_in_context(context).is_empty()
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.options.catalogue
    }
}
