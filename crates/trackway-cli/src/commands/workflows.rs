//! `trackway workflows …`: the workflow files of a workspace, read in the same way as by `trackway
//! mcp`.
//!
//! These commands start nothing and open no data folder.

mod check_workflows_command;
mod list_workflows_command;
mod show_workflow_command;

use std::path::PathBuf;

use serde_json::{Value, json};
use trackway_definition::Finding;
use trackway_runtime::{Catalogue, CatalogueEntry, InvalidDefinitionFile};

use super::mcp_command;
use crate::{
    args::{WorkflowLibraryArgs, WorkflowsCommand},
    cli_error::CliError,
    config::WorkspaceConfig,
    exit_status::ExitStatus,
};

pub(super) fn run_workflows_command(command: &WorkflowsCommand) -> Result<ExitStatus, CliError> {
    match command {
        WorkflowsCommand::List(args) => list_workflows_command::list_workflows(args),
        WorkflowsCommand::Check(args) => check_workflows_command::check_workflow_files(args),
        WorkflowsCommand::Show(args) => show_workflow_command::show_workflow(args),
    }
}

/// The workflow folders of a workspace, and whether the user named them.
fn resolve_library_folders(library: &WorkflowLibraryArgs) -> Result<(Vec<PathBuf>, bool), CliError> {
    let config = WorkspaceConfig::load_config(library.workspace.as_deref())?;
    let folders =
        mcp_command::resolve_workflow_folders(&library.folders, &config, library.workspace.as_deref());
    Ok((folders, mcp_command::has_user_named_folders(&library.folders, &config)))
}

fn open_catalogue(library: &WorkflowLibraryArgs) -> Result<Catalogue, CliError> {
    let (folders, named) = resolve_library_folders(library)?;
    Ok(if named { Catalogue::with_required_folders(folders) } else { Catalogue::new(folders) })
}

/// One problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WorkflowFinding {
    file: String,
    line: Option<u32>,
    /// JSON pointer into the file; empty for the file as a whole.
    pointer: String,
    message: String,
    suggestion: Option<String>,
}

impl WorkflowFinding {
    fn finding_to_json(&self) -> Value {
        json!({
            "file": self.file,
            "line": self.line,
            "pointer": self.pointer,
            "message": self.message,
            "suggestion": self.suggestion,
        })
    }

    /// `workflows/a.yaml, line 3, /steps/0: …`, with the hint on a separate line.
    fn render_finding_lines(&self) -> Vec<String> {
        let mut place = self.file.clone();
        if let Some(line) = self.line {
            place.push_str(&format!(", line {line}"));
        }
        if !self.pointer.is_empty() {
            place.push_str(&format!(", {}", self.pointer));
        }
        let hint = self.suggestion.iter().map(|suggestion| format!("  hint: {suggestion}"));
        [format!("{place}: {}", self.message)].into_iter().chain(hint).collect()
    }
}

/// Why a file is not a valid workflow.
fn invalid_file_findings(invalid: &InvalidDefinitionFile) -> impl Iterator<Item = WorkflowFinding> + '_ {
    invalid.errors.iter().map(|fault: &Finding| WorkflowFinding {
        file: invalid.file.display().to_string(),
        line: fault.line,
        pointer: fault.path.clone(),
        message: fault.message.clone(),
        suggestion: fault.suggestion.clone(),
    })
}

/// Why a workflow cannot be started.
fn unsupported_construct_findings(entry: &CatalogueEntry) -> impl Iterator<Item = WorkflowFinding> + '_ {
    let matter = entry.definition.unsupported.iter().filter(|construct| construct.matters);
    matter.map(|construct| WorkflowFinding {
        file: entry.file.display().to_string(),
        line: None,
        pointer: construct.path.clone(),
        message: format!("{}; the workflow cannot be started", construct.message),
        suggestion: None,
    })
}
