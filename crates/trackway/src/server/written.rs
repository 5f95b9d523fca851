//! Written workflows of a server: the definitions in its folders that the engine can drive are agents
//! like its programs, and follow their files while it serves.

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use trackway_agent::BuiltIn;
use trackway_runtime::{
    Attempt, Catalogue, Offers, Registry, RegistryError, Runtime, SystemClock, Tools, Watching,
};

use super::Server;

/// The definitions and tools of a server.
#[derive(Debug)]
pub(super) struct Written {
    offers: Offers,
    tools: Arc<Tools>,
}

impl Server {
    /// Offers the written workflows in these folders and those below them. Where the engine can drive one
    /// by itself it is an agent like every other; the others need [`Server::mcp`]. A folder that is not
    /// there is listed as invalid until it is.
    #[must_use]
    pub fn workflows<P: AsRef<Path>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.folders = folders.into_iter().map(|folder| folder.as_ref().to_owned()).collect();
        self.folders_named = true;
        self
    }

    /// The same for folders that nobody named, such as a default: one that is not there is empty.
    #[must_use]
    pub fn workflows_if_any<P: AsRef<Path>>(self, folders: impl IntoIterator<Item = P>) -> Self {
        Self { folders_named: false, ..self.workflows(folders) }
    }

    /// Adds a tool for the steps of written workflows and for the agents whose spec names it: a function
    /// from arguments, whose JSON Schema is derived, to a result. A call is a recorded step: it is repeated
    /// only where the process died before its result was recorded, and then with the same
    /// [`Attempt::idempotency_key`].
    ///
    /// ```no_run
    /// # use trackway::Server;
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Sum { a: i64, b: i64 }
    ///
    /// let server = Server::new().workflows(["workflows"]).tool(
    ///     "sum",
    ///     "Adds two numbers.",
    ///     |Sum { a, b }, _attempt| async move {
    ///         a.checked_add(b).ok_or("the numbers are too large")
    ///     },
    /// );
    /// ```
    #[must_use]
    pub fn tool<I, O, E, F, Fut>(mut self, name: &str, description: &str, call: F) -> Self
    where
        I: DeserializeOwned + JsonSchema + 'static,
        O: Serialize,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        F: Fn(I, Attempt) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
    {
        self.tools.push(trackway_workflow::tool(name, description, call));
        self
    }

    /// The tools of steps alone, for checks that need no server: those that were added, and the built-in
    /// one that tells the time, unless another has its name.
    pub fn tools(&self) -> Result<Tools, RegistryError> {
        let mut tools = Tools::default();
        for tool in &self.tools {
            if let Some(twice) = tools.add(tool.clone()) {
                return Err(RegistryError::ToolTwice { name: twice.info().name.clone() });
            }
        }
        let clock = BuiltIn::time_now(Arc::new(SystemClock));
        if tools.get(&clock.info().name).is_none() {
            tools.add(clock);
        }
        Ok(tools)
    }

    pub(super) fn written(&self, programs: &Registry) -> Result<Written, RegistryError> {
        let tools = Arc::new(self.tools()?);
        let folders: Vec<PathBuf> = self.folders.clone();
        let catalogue = match self.folders_named {
            true => Catalogue::named(folders),
            false => Catalogue::new(folders),
        };
        let catalogue = Arc::new(catalogue);
        Ok(Written { offers: Offers::new(catalogue, programs, tools.clone()), tools })
    }
}

impl Written {
    pub(super) fn catalogue(&self) -> &Arc<Catalogue> {
        self.offers.catalogue()
    }

    pub(super) fn tools(&self) -> &Arc<Tools> {
        &self.tools
    }

    /// Offers what is in the folders now.
    pub(super) fn renew(&self, registry: &Registry) {
        for declined in self.offers.renew(registry) {
            let (workflow, why) = (declined.workflow, declined.why);
            if declined.matters {
                tracing::warn!(workflow, why, "a workflow is not offered");
            } else {
                tracing::debug!(workflow, why, "a workflow is for outside agents only");
            }
        }
    }
}

/// Follows the files until what is returned is dropped.
pub(super) fn watch(written: &Arc<Written>, runtime: &Runtime) -> Option<Watching> {
    let catalogue = written.catalogue().clone();
    let watching = catalogue.watch({
        let (written, runtime) = (written.clone(), runtime.clone());
        move || written.renew(runtime.registry())
    });
    // What changed before the watch began was told to nobody.
    written.renew(runtime.registry());
    match watching {
        Ok(watching) => Some(watching),
        Err(error) => {
            tracing::warn!(%error, "changes in the workflow folders go unnoticed until a restart");
            None
        }
    }
}
