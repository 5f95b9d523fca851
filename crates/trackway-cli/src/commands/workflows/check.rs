//! `trackway workflows check`: for editors, hooks and build servers.

use std::path::{Path, PathBuf};

use serde_json::json;
use trackway_runtime::Catalogue;

use super::{Finding, faults, folders, unsupported};
use crate::{args::CheckWorkflows, exit::Exit, failure::Failure, output, text};

pub(super) fn check(args: &CheckWorkflows) -> Result<Exit, Failure> {
    let (found, named) = folders(&args.library)?;
    let catalogue = match (args.paths.is_empty(), named) {
        (true, false) => Catalogue::new(found),
        (true, true) => Catalogue::named(found),
        (false, _) => Catalogue::named(around(&args.paths, found)),
    };
    let listing = catalogue.list();
    let wanted = |file: &Path| {
        args.paths.is_empty() || args.paths.iter().any(|path| plain(file).starts_with(plain(path)))
    };
    let workflows = listing.workflows.iter().filter(|known| wanted(&known.file)).count();
    let mut findings: Vec<Finding> = args.paths.iter().filter_map(|path| no_file(path)).collect();
    let invalid = listing.invalid.iter().filter(|invalid| wanted(&invalid.file));
    findings.extend(invalid.flat_map(faults));
    let known = listing.workflows.iter().filter(|known| wanted(&known.file));
    findings.extend(known.flat_map(unsupported));
    if args.library.json {
        let findings: Vec<_> = findings.iter().map(Finding::json).collect();
        let usable = findings.is_empty();
        output::json(&json!({ "usable": usable, "workflows": workflows, "findings": findings }))?;
    } else {
        for line in findings.iter().flat_map(Finding::lines) {
            output::line(&text::printable(&line))?;
        }
        output::note(&match findings.len() {
            0 => format!("{}, no findings.", text::counted(workflows, "workflow")),
            more => format!(
                "{} in order, {}.",
                text::counted(workflows, "workflow"),
                text::counted(more, "finding")
            ),
        });
    }
    Ok(if findings.is_empty() { Exit::Done } else { Exit::Error })
}

/// The folders to read for these files: those of the workspace, and the parent folders of other
/// files, because a file may refer to its neighbours.
fn around(paths: &[PathBuf], mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_under = |path: &Path, folder: &Path| {
        !plain(folder).as_os_str().is_empty() && plain(path).starts_with(plain(folder))
    };
    let inside = paths.iter().all(|path| folders.iter().any(|folder| is_under(path, folder)));
    if !inside {
        folders.clear();
    }
    for path in paths {
        let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if folder.exists()
            && !folders.iter().any(|known| is_under(folder, known) || known == folder)
        {
            folders.push(folder.to_owned());
        }
    }
    folders
}

/// The path without a leading `./`.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

/// A finding, if this path cannot be a workflow file.
fn no_file(path: &Path) -> Option<Finding> {
    let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
    let message = if !path.exists() {
        "there is no such file or folder"
    } else if path.is_file() && !["yaml", "yml", "json"].contains(&kind.to_lowercase().as_str()) {
        "a workflow file ends in .yaml, .yml or .json"
    } else {
        return None;
    };
    Some(Finding {
        file: path.display().to_string(),
        line: None,
        pointer: String::new(),
        message: message.to_owned(),
        suggestion: None,
    })
}
