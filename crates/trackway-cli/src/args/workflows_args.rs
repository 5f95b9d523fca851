//! Arguments of `trackway workflows`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::WorkflowFolderArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowsCommand {
    /// List the workflow files of a workspace, and those that are not valid
    List(ListWorkflowsArgs),
    /// Check workflow files; exits with 1 if one cannot be used
    Check(CheckWorkflowsArgs),
    /// Show one workflow: its steps, its inputs, the outputs of its steps, and its hash
    Show(ShowWorkflowArgs),
}

/// Where to look for workflow files.
#[derive(Debug, Args)]
pub(crate) struct WorkflowLibraryArgs {
    #[command(flatten)]
    pub(crate) folders: WorkflowFolderArgs,
    /// Folder with `trackway.toml` and `workflows`; by default the current one
    #[arg(long, env = "TRACKWAY_WORKSPACE", value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListWorkflowsArgs {
    /// Words that must all occur in a workflow's id, name, description or tags
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) library: WorkflowLibraryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckWorkflowsArgs {
    /// Files, or folders with their subfolders; by default all of the workspace
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) library: WorkflowLibraryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowWorkflowArgs {
    /// Id of the workflow
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) library: WorkflowLibraryArgs,
}
