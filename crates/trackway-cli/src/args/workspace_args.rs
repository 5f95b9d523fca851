//! Arguments about a workspace.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{DataFolderArgs, WorkflowFolderArgs};

/// The workspace of an engine in this process.
#[derive(Debug, Clone, Args)]
pub(crate) struct WorkspaceArgs {
    /// Folder with `trackway.toml`, `agents`, `workflows` and `mcp.json`; by default the current one. A
    /// server uses its own
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Folder with `trackway.toml`, `agents`, `workflows` and `mcp.json`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: WorkflowFolderArgs,
    #[command(flatten)]
    pub(crate) data: DataFolderArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting, and where its value came from; secrets are hidden
    Show(ShowConfigArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowConfigArgs {
    /// Folder with `trackway.toml`, `agents` and `mcp.json`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
