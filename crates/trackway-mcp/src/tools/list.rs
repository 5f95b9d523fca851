//! `workflow_list`: what can be started, and which files cannot be read.

use std::fmt::Write as _;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_definition::Fault;
use trackway_domain::Scopes;
use trackway_runtime::{Invalid, Known, Listing};

use crate::text;

/// The part of a listing that these scopes may see.
pub(crate) fn list(listing: Listing, scopes: &Scopes) -> CallToolResult {
    let Listing { mut workflows, mut invalid } = listing;
    workflows.retain(|known| scopes.allow_run(&known.definition.id));
    invalid.retain(|file| match &file.workflow {
        Some(id) => scopes.allow_run(id),
        None => scopes.is_all(),
    });
    let structured = json!({
        "workflows": workflows.iter().map(workflow).collect::<Vec<_>>(),
        "invalid": invalid.iter().map(broken).collect::<Vec<_>>(),
    });
    super::answer(told(&workflows, &invalid), structured)
}

fn workflow(known: &Known) -> Value {
    let definition = &known.definition;
    json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": definition.description,
        "version": definition.version,
        "workflowHash": known.hash,
    })
}

fn broken(file: &Invalid) -> Value {
    let mut told = json!({
        "file": file.file.display().to_string(),
        "errors": file.errors.iter().map(error).collect::<Vec<_>>(),
    });
    if let Some(id) = &file.workflow {
        told["workflowId"] = id.as_str().into();
    }
    told
}

fn error(fault: &Fault) -> Value {
    let mut told = json!({ "path": fault.path, "message": text::fault(fault) });
    if let Some(line) = fault.line {
        told["line"] = line.into();
    }
    told
}

fn told(workflows: &[Known], invalid: &[Invalid]) -> String {
    let mut told = String::new();
    if workflows.is_empty() {
        text::line(&mut told, "No workflow can be started here.");
    } else {
        let _ = writeln!(told, "Workflows that `workflow_start` takes:");
        for known in workflows {
            let definition = &known.definition;
            let about = definition.description.lines().next().unwrap_or_default();
            let _ = writeln!(told, "- `{}`: {} ({about})", definition.id, definition.name);
        }
        told.push('\n');
    }
    if !invalid.is_empty() {
        let _ = writeln!(told, "Files that are not valid workflows:");
        for file in invalid {
            let _ = writeln!(told, "- `{}`", file.file.display());
            for fault in &file.errors {
                let line = fault.line.map(|line| format!("line {line}, ")).unwrap_or_default();
                let _ = writeln!(told, "  - {line}`{}`: {}", fault.path, text::fault(fault));
            }
        }
    }
    told
}
