//! `trackway workflows check`: for editors, hooks and build servers.

use std::path::{Path, PathBuf};

use serde_json::json;
use trackway_runtime::Catalogue;

use super::{
    WorkflowFinding, invalid_file_findings, resolve_library_folders, unsupported_construct_findings,
};
use crate::{
    args::CheckWorkflowsArgs, cli_error::CliError, exit_status::ExitStatus, output_streams, text_format,
};

pub(super) fn check_workflow_files(args: &CheckWorkflowsArgs) -> Result<ExitStatus, CliError> {
    let (found, named) = resolve_library_folders(&args.library)?;
    let catalogue = match (args.paths.is_empty(), named) {
        (true, false) => Catalogue::new(found),
        (true, true) => Catalogue::with_required_folders(found),
        (false, _) => Catalogue::with_required_folders(workflow_folders_for_paths(&args.paths, found)),
    };
    let listing = catalogue.list_definitions();
    let wanted = |file: &Path| {
        args.paths.is_empty()
            || args.paths.iter().any(|path| strip_current_dir(file).starts_with(strip_current_dir(path)))
    };
    let workflows = listing.workflows.iter().filter(|known| wanted(&known.file)).count();
    let mut findings: Vec<WorkflowFinding> =
        args.paths.iter().filter_map(|path| find_workflow_path_problem(path)).collect();
    let invalid = listing.invalid.iter().filter(|invalid| wanted(&invalid.file));
    findings.extend(invalid.flat_map(invalid_file_findings));
    let known = listing.workflows.iter().filter(|known| wanted(&known.file));
    findings.extend(known.flat_map(unsupported_construct_findings));
    if args.library.json {
        let findings: Vec<_> = findings.iter().map(WorkflowFinding::finding_to_json).collect();
        let usable = findings.is_empty();
        output_streams::write_stdout_json_line(
            &json!({ "usable": usable, "workflows": workflows, "findings": findings }),
        )?;
    } else {
        for line in findings.iter().flat_map(WorkflowFinding::render_finding_lines) {
            output_streams::write_stdout_line(&text_format::replace_control_chars(&line))?;
        }
        output_streams::print_stderr_note(&match findings.len() {
            0 => format!("{}, no findings.", text_format::format_counted_noun(workflows, "workflow")),
            more => format!(
                "{} in order, {}.",
                text_format::format_counted_noun(workflows, "workflow"),
                text_format::format_counted_noun(more, "finding")
            ),
        });
    }
    Ok(if findings.is_empty() { ExitStatus::Done } else { ExitStatus::Error })
}

/// The folders to read for these files: those of the workspace, and the parent folders of other
/// files, because a file may refer to its neighbours.
fn workflow_folders_for_paths(paths: &[PathBuf], mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_under = |path: &Path, folder: &Path| {
        !strip_current_dir(folder).as_os_str().is_empty()
            && strip_current_dir(path).starts_with(strip_current_dir(folder))
    };
    let inside = paths.iter().all(|path| folders.iter().any(|folder| is_under(path, folder)));
    if !inside {
        folders.clear();
    }
    for path in paths {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if folder.exists() && !folders.iter().any(|known| is_under(folder, known) || known == folder) {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// The path without a leading `./`.
fn strip_current_dir(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// A finding, if this path cannot be a workflow file.
fn find_workflow_path_problem(path: &Path) -> Option<WorkflowFinding> {
    let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    let message = if !path.exists() {
        "there is no such file or folder"
    } else if path.is_file() && !["yaml", "yml", "json"].contains(&kind.to_lowercase().as_str()) {
        "a workflow file ends in .yaml, .yml or .json"
    } else {
        return None;
    };
    Some(WorkflowFinding {
        file: path.display().to_string(),
        line: None,
        pointer: String::new(),
        message: message.to_owned(),
        suggestion: None,
    })
}
