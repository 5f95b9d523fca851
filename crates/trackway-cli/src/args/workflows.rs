//! What can be typed about written workflows.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Folders;

#[derive(Debug, Subcommand)]
pub(crate) enum Workflows {
    /// List the written workflows of a workspace, and the files that are none
    List(ListWorkflows),
    /// Check workflow files; exits with 1 where one cannot be used
    Check(CheckWorkflows),
    /// Show one workflow: its steps, what it takes, what its steps give, and its hash
    Show(ShowWorkflow),
}

/// Where written workflows are looked for.
#[derive(Debug, Args)]
pub(crate) struct Library {
    #[command(flatten)]
    pub(crate) folders: Folders,
    /// Folder with `trackway.toml` and `workflows`; the current one unless given
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListWorkflows {
    /// Words that all have to be in a workflow's id, name, description or tags
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) library: Library,
}

#[derive(Debug, Args)]
pub(crate) struct CheckWorkflows {
    /// Files, or folders with all below them; all of the workspace's unless given
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) library: Library,
}

#[derive(Debug, Args)]
pub(crate) struct ShowWorkflow {
    /// Id of the workflow
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) library: Library,
}
