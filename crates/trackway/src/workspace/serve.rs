//! A server with everything that a workspace says: its agents, tools, written workflows and settings.

use std::{path::Path, sync::Arc};

use super::{
    Workspace, WorkspaceError,
    config::{self, Config, Signing},
    follow::{Following, Loader},
};
use crate::{Mcp, Server, Signer};

impl Server {
    /// Serves what a folder says, beside the workflows and tools that this server has by now: the agents of
    /// `agents/*.md`, the tools of the servers in `mcp.json`, the workflows of `workflows/`, and the settings
    /// of `trackway.toml`. An agent may dispatch the workflows that were added before. Agents follow their
    /// files while the server runs.
    ///
    /// Call it last: what is said before, but for workflows and tools, gives way to `trackway.toml`.
    ///
    /// ```no_run
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// trackway::Server::new().workspace(".")?.serve().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(self, folder: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let folder = config::folder(Some(folder.as_ref()))?;
        // What is wrong with it is told by the loader.
        let (workspace, _) = Workspace::read(folder, &config::variable);
        let folders = workspace.workflow_folders();
        let server = match workspace.config.workflows.folders {
            Some(_) => self.workflows(&folders),
            None => self.workflows_if_any(&folders),
        };
        let outline =
            server.outline().allow_loopback_targets(workspace.config.outgoing.allow_loopback);
        let following = Loader::new(folder, &folders, move || outline.outline()).follow()?;
        let mcp = Mcp::new()
            .checkpoints(workspace.config.mcp.checkpoints)
            .session_checkpoints(workspace.config.mcp.session_checkpoints);
        Ok(apply(workspace.config, server.mcp(mcp))?.following(following))
    }

    /// Serves the agents of a workspace for as long as the server is there.
    fn following(self, following: Following) -> Self {
        let Following { agents, watching } = following;
        self.agents_from(agents).keeping(Arc::new(watching))
    }
}

/// What the configuration says about the server, each setting at its place.
pub fn apply(config: Config, mut server: Server) -> Result<Server, WorkspaceError> {
    server = server.auth(config.auth).body_bytes_max(config.server.body_max_bytes);
    server = server.connections(config.server.connections);
    server = server.blocking_timeout(config.server.blocking_timeout);
    if let Some(url) = config.server.public_url {
        server = server.public_url(url);
    }
    server = server.grpc_reflection(config.a2a.grpc_reflection);
    server = server.grpc_in_card(!config.a2a.grpc_hidden);
    server = server.retention(config.retention.older_than);
    server = server.child_limits(config.dispatch.limits);
    if config.outgoing.allow_loopback {
        server = server.allow_loopback_targets(true);
    }
    if let Some(secret) = config.push.secret {
        server = server.push_secret(secret);
    }
    if let Some(name) = config.a2a.default_agent {
        server = server.default_agent(name.name);
    }
    if let Some(Signing { key_pem, key_id }) = config.a2a.signing {
        let signer = Signer::from_pem(key_pem.expose().as_bytes(), key_id);
        server = server.sign_cards(signer.map_err(WorkspaceError::Signing)?);
    }
    Ok(server)
}
