//! A server in this process, with the whole workspace: a run that began with an agent continues with that
//! agent, whichever command drives it.

use std::path::Path;

use trackway::Server;

use super::mcp_command;
use crate::{
    args::WorkflowFolderArgs,
    cli_error::CliError,
    config::{self, WorkspaceConfig},
    programs,
    workspace::workspace_loader::WorkspaceLoader,
};

/// A server with the bundled programs and the workflow files, and the loader of the workspace's agents.
pub(super) fn build_server_and_loader(
    workspace: Option<&Path>,
    folders: &WorkflowFolderArgs,
    data: &Path,
) -> Result<(Server, WorkspaceLoader), CliError> {
    let folder = config::resolve_workspace_folder(workspace)?;
    // The loader reports the findings.
    let (config, _) = WorkspaceConfig::load_config_with_findings(folder, &config::read_env_var);
    let folders = mcp_command::resolve_workflow_folders(folders, &config, workspace);
    let (data, outgoing) = (data.to_owned(), config.outgoing);
    let make = {
        let folders = folders.clone();
        move || {
            programs::bundled_server(&data)
                .workflows(&folders)
                .allow_loopback_targets(outgoing.allow_loopback)
                .allow_targets(outgoing.allow.clone())
        }
    };
    Ok((make(), WorkspaceLoader::new(folder, &folders, make)))
}

/// The same with the current agents.
pub(super) fn build_server_with_agents(
    workspace: Option<&Path>,
    folders: &WorkflowFolderArgs,
    data: &Path,
) -> Result<Server, CliError> {
    let (server, mut loader) = build_server_and_loader(workspace, folders, data)?;
    Ok(server.agents(loader.load_agents()?))
}
