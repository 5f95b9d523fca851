//! A server with the content of a workspace: its agents, tools, workflow definitions and settings.

use std::{path::Path, sync::Arc};

use super::{
    Workspace, WorkspaceError,
    config::{self, CardSigningKey, WorkspaceConfig},
    workspace_loader::{FollowedAgents, WorkspaceLoader},
};
use crate::{CardSigner, McpOptions, Server};

impl Server {
    /// Adds a folder to the workflows and tools that this server already has: the agents of `agents/*.md`,
    /// the tools of the servers in `mcp.json`, the workflows of `workflows/`, and the settings of
    /// `trackway.toml`. An agent may dispatch the workflows that were added before this call. Agents follow
    /// their files while the server runs.
    ///
    /// Call it last: `trackway.toml` overrides earlier settings, except workflows and tools.
    ///
    /// ```no_run
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// trackway::Server::new().workspace(".")?.serve().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(self, folder: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let folder = config::resolve_workspace_folder(Some(folder.as_ref()))?;
        // The loader reports the findings.
        let (workspace, _) = Workspace::load_workspace(folder, &config::read_env_var);
        let folders = workspace.workflow_folders();
        let server = match workspace.config.workflows.folders {
            Some(_) => self.workflows(&folders),
            None => self.optional_workflows(&folders),
        };
        let outline = server
            .clone_with_programs_only()
            .allow_loopback_targets(workspace.config.outgoing.allow_loopback)
            .allow_targets(workspace.config.outgoing.allow.clone());
        let following = WorkspaceLoader::new(folder, &folders, move || outline.clone_with_programs_only())
            .load_and_follow_agents()?;
        let mcp = McpOptions::new()
            .offer_checkpoints(workspace.config.mcp.checkpoints)
            .offer_session_checkpoints(workspace.config.mcp.session_checkpoints);
        Ok(apply_config_to_server(workspace.config, server.mcp(mcp))?.with_followed_agents(following))
    }

    /// Serves the agents of a workspace for the lifetime of the server.
    fn with_followed_agents(self, following: FollowedAgents) -> Self {
        let FollowedAgents { agents, watching } = following;
        self.agents_from(agents).retain_for_server_lifetime(Arc::new(watching))
    }
}

/// Applies the configuration to the server, setting by setting.
pub fn apply_config_to_server(config: WorkspaceConfig, mut server: Server) -> Result<Server, WorkspaceError> {
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
    server = server.trust_nodes(config.mesh.configuration.options.trust);
    server = server.artifact_limits(config.artifacts);
    if config.outgoing.allow_loopback {
        server = server.allow_loopback_targets(true);
    }
    server = server.allow_targets(config.outgoing.allow);
    if let Some(secret) = config.push.secret {
        server = server.push_secret(secret);
    }
    if let Some(url) = config.nats.url {
        server = server.nats(url);
    }
    if let Some(name) = config.a2a.default_agent {
        server = server.default_agent(name.name);
    }
    if let Some(CardSigningKey { key_pem, key_id }) = config.a2a.signing {
        let signer = CardSigner::from_pem(key_pem.expose_secret().as_bytes(), key_id);
        server = server.sign_cards(signer.map_err(WorkspaceError::Signing)?);
    }
    Ok(server)
}
