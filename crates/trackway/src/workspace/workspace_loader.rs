//! A workspace that is read again when one of its files changes.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crate::{AgentSet, Server};
use tokio::sync::watch;
use trackway_runtime::{FolderWatch, watch_paths_for_changes};

use super::{
    Workspace, agent_files, mcp_file,
    open_models::OpenModels,
    reference_check::{self, AvailableCapabilities},
};
use crate::workspace::{WorkspaceError, config, finding};

/// Pause between a change and the read. Many programs empty a file before they write it. A read in
/// between would find a valid workspace without models.
const SETTLE: Duration = Duration::from_millis(50);

/// Reads a workspace, repeatedly.
pub struct WorkspaceLoader {
    folder: PathBuf,
    /// The folders of the workflow definitions.
    workflows: Vec<PathBuf>,
    /// Builds a server with everything that agents may use.
    server: Box<dyn Fn() -> Server + Send>,
    open_models: OpenModels,
}

impl fmt::Debug for WorkspaceLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl WorkspaceLoader {
    pub fn new(folder: &Path, workflows: &[PathBuf], server: impl Fn() -> Server + Send + 'static) -> Self {
        let (folder, workflows) = (folder.to_owned(), workflows.to_vec());
        Self { folder, workflows, server: Box::new(server), open_models: OpenModels::default() }
    }

    /// The agents of the current workspace, or an error if anything is wrong with it.
    pub fn load_agents(&mut self) -> Result<AgentSet, WorkspaceError> {
        let (workspace, mut findings) = Workspace::load_workspace(&self.folder, &config::read_env_var);
        let there =
            AvailableCapabilities::capabilities_of_server((self.server)(), &workspace, &self.workflows)?;
        findings.extend(reference_check::check_workspace(&workspace, &there));
        let (shelf, more) = self.open_models.reopen_changed_models(&workspace);
        findings.extend(more);
        if let Some(refusal) = finding::error_from_findings(&findings) {
            return Err(refusal);
        }
        self.open_models = shelf;
        Ok(AgentSet {
            resources: self.open_models.agent_resources_snapshot(&workspace),
            specs: workspace.agents.into_iter().map(|agent| agent.spec).collect(),
            mcp: workspace.mcp.config,
            folder: workspace.folder,
            mesh: workspace.config.mesh.configuration,
            default_agent: Some(workspace.default_agent),
        })
    }

    /// The current agents, and their changes for as long as the returned value lives.
    pub fn load_and_follow_agents(self) -> Result<FollowedAgents, WorkspaceError> {
        let (tell, agents) = watch::channel(AgentSet::default());
        let paths = [config::FILE, agent_files::FOLDER, mcp_file::FILE].map(|name| self.folder.join(name));
        // Locked from the read of the files until the result is sent: of two concurrent reads, the later
        // one must also send last.
        let loader = Arc::new(Mutex::new((self, tell)));
        let later = loader.clone();
        let watching = watch_paths_for_changes(&paths, move || {
            thread::sleep(SETTLE);
            let mut held = later.lock().unwrap_or_else(PoisonError::into_inner);
            let (loader, tell) = &mut *held;
            match loader.load_agents() {
                Ok(agents) => {
                    tracing::info!("the workspace has changed and is in effect");
                    // There is no receiver any more: the server is about to end.
                    let _ = tell.send(agents);
                }
                Err(error) => {
                    for why in error.to_string().lines() {
                        tracing::warn!("{why}");
                    }
                    tracing::warn!(
                        "the workspace has changed and cannot be used; the previous one stays in effect"
                    );
                }
            }
        });
        let watching = watching
            .inspect_err(|error| tracing::warn!(%error, "changes of the workspace go unnoticed"))
            .ok();
        // Read only now: the watch does not report changes from before its start.
        let mut held = loader.lock().unwrap_or_else(PoisonError::into_inner);
        let first = held.0.load_agents()?;
        held.1.send_replace(first);
        drop(held);
        Ok(FollowedAgents { agents, watching })
    }
}

/// Agents that follow their workspace.
#[derive(Debug)]
pub struct FollowedAgents {
    pub agents: watch::Receiver<AgentSet>,
    pub(super) watching: Option<FolderWatch>,
}

#[cfg(test)]
mod tests;
