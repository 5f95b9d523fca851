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
use trackway_domain::Object;
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
}
