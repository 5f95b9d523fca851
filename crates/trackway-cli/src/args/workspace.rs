//! Arguments about a workspace.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Data, Folders};

/// The workspace of an engine in this process.
#[derive(Debug, Clone, Args)]
pub(crate) struct Within {
    /// Folder with `trackway.toml`, `agents`, `workflows` and `mcp.json`; by default the current one. A
    /// server uses its own
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Folder with `trackway.toml`, `agents`, `workflows` and `mcp.json`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Show every setting, and where its value came from; secrets are hidden
    Show(ShowConfig),
}

#[derive(Debug, Args)]
pub(crate) struct ShowConfig {
    /// Folder with `trackway.toml`, `agents` and `mcp.json`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
