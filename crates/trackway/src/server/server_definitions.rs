//! Workflow definitions of a server. A definition that the engine can drive is an agent like the programs
//! are, and follows its file while the server runs.

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use trackway_agent::BuiltInTools;
use trackway_runtime::{
    Catalogue, CatalogueSync, FolderWatch, ProgramRegistry, RegistryError, Runtime, StepAttempt, SystemClock,
    Tools,
};

use super::Server;

/// The definitions and tools of a server.
#[derive(Debug)]
pub(super) struct ServerDefinitions {
    catalogue_sync: CatalogueSync,
    tools: Arc<Tools>,
}

impl Server {
    /// Offers the workflow definitions in these folders and their subfolders. A definition that the engine
    /// can drive by itself is an agent like every other; the others need [`Server::mcp`]. A missing folder
    /// is listed as invalid until it exists.
    #[must_use]
    pub fn workflows<P: AsRef<Path>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.folders = folders.into_iter().map(|folder| folder.as_ref().to_owned()).collect();
        self.folders_named = true;
        self
    }

    /// The same for folders that are a default: a missing one counts as empty.
    #[must_use]
    pub fn optional_workflows<P: AsRef<Path>>(self, folders: impl IntoIterator<Item = P>) -> Self {
        Self { folders_named: false, ..self.workflows(folders) }
    }

    /// Adds a tool for the steps of workflow definitions and for the agents whose spec names it: a function
    /// from arguments, whose JSON Schema is derived, to a result. A call is a recorded step. It is repeated
    /// only if the process died before the result was recorded, and then with the same
    /// [`StepAttempt::idempotency_key`].
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
        F: Fn(I, StepAttempt) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
    {
        self.tools.push(trackway_workflow::tool(name, description, call));
        self
    }

    /// Only the tools of steps, for checks that need no server: the added tools, and the built-in one that
    /// tells the time, unless another tool has its name.
    pub fn step_tools(&self) -> Result<Tools, RegistryError> {
        let mut tools = Tools::default();
        for tool in &self.tools {
            if let Some(twice) = tools.add_tool(tool.clone()) {
                return Err(RegistryError::DuplicateTool { name: twice.info().name.clone() });
            }
        }
        let clock = BuiltInTools::time_now_tool(Arc::new(SystemClock));
        if tools.find_tool(&clock.info().name).is_none() {
            tools.add_tool(clock);
        }
        Ok(tools)
    }

    pub(super) fn open_definitions(
        &self,
        programs: &ProgramRegistry,
    ) -> Result<ServerDefinitions, RegistryError> {
        let tools = Arc::new(self.step_tools()?);
        let folders: Vec<PathBuf> = self.folders.clone();
        let catalogue = match self.folders_named {
            true => Catalogue::with_required_folders(folders),
            false => Catalogue::new(folders),
        };
        let catalogue = Arc::new(catalogue);
        Ok(ServerDefinitions {
            catalogue_sync: CatalogueSync::new(catalogue, programs, tools.clone()),
            tools,
        })
    }
}

impl ServerDefinitions {
    pub(super) fn workflow_catalogue(&self) -> &Arc<Catalogue> {
        self.catalogue_sync.catalogue()
    }

    pub(super) fn tools(&self) -> &Arc<Tools> {
        &self.tools
    }

    /// Offers the current content of the folders.
    pub(super) fn reload_definitions(&self, registry: &ProgramRegistry) {
        for declined in self.catalogue_sync.sync_program_registry(registry) {
            let (workflow, why) = (declined.workflow, declined.why);
            if declined.matters {
                tracing::warn!(workflow, why, "a workflow is not offered");
            } else {
                tracing::debug!(workflow, why, "a workflow is for outside agents only");
            }
        }
    }
}

/// Follows the files until the returned value is dropped.
pub(super) fn watch_definition_folders(
    definitions: &Arc<ServerDefinitions>,
    runtime: &Runtime,
) -> Option<FolderWatch> {
    let catalogue = definitions.workflow_catalogue().clone();
    let watching = catalogue.watch_folders({
        let (definitions, runtime) = (definitions.clone(), runtime.clone());
        move || definitions.reload_definitions(runtime.registry())
    });
    // The watch did not see changes from before its start.
    definitions.reload_definitions(runtime.registry());
    match watching {
        Ok(watching) => Some(watching),
        Err(error) => {
            tracing::warn!(%error, "changes in the workflow folders go unnoticed until a restart");
            None
        }
    }
}
