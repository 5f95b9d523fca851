//! `trackway workflows …`: the workflow files of a workspace, read in the same way as by `trackway
//! mcp`.
//!
//! These commands start nothing and open no data folder.

mod check;
mod list;
mod show;

use std::path::PathBuf;

use serde_json::{Value, json};
use trackway_definition::Fault;
use trackway_runtime::{Catalogue, Invalid, Known};

use super::mcp;
use crate::{
    args::{Library, Workflows},
    config::Config,
    exit::Exit,
    failure::Failure,
};

pub(super) fn workflows(command: &Workflows) -> Result<Exit, Failure> {
    match command {
        Workflows::List(args) => list::list(args),
        Workflows::Check(args) => check::check(args),
        Workflows::Show(args) => show::show(args),
    }
}

/// The workflow folders of a workspace, and whether the user named them.
fn folders(library: &Library) -> Result<(Vec<PathBuf>, bool), Failure> {
    let config = Config::load(library.workspace.as_deref())?;
    let folders = mcp::folders(&library.folders, &config, library.workspace.as_deref());
    Ok((folders, mcp::are_named(&library.folders, &config)))
}

fn catalogue(library: &Library) -> Result<Catalogue, Failure> {
    let (folders, named) = folders(library)?;
    Ok(if named { Catalogue::named(folders) } else { Catalogue::new(folders) })
}

/// One problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    file: String,
    line: Option<u32>,
    /// JSON pointer into the file; empty for the file as a whole.
    pointer: String,
    message: String,
    suggestion: Option<String>,
}

impl Finding {
    fn json(&self) -> Value {
        json!({
            "file": self.file,
            "line": self.line,
            "pointer": self.pointer,
            "message": self.message,
            "suggestion": self.suggestion,
        })
    }

    /// `workflows/a.yaml, line 3, /steps/0: …`, with the hint on a line of its own.
    fn lines(&self) -> Vec<String> {
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
fn faults(invalid: &Invalid) -> impl Iterator<Item = Finding> + '_ {
    invalid.errors.iter().map(|fault: &Fault| Finding {
        file: invalid.file.display().to_string(),
        line: fault.line,
        pointer: fault.path.clone(),
        message: fault.message.clone(),
        suggestion: fault.suggestion.clone(),
    })
}

/// Why a workflow cannot be started.
fn unsupported(known: &Known) -> impl Iterator<Item = Finding> + '_ {
    let matter = known.definition.unheeded.iter().filter(|construct| construct.matters);
    matter.map(|construct| Finding {
        file: known.file.display().to_string(),
        line: None,
        pointer: construct.path.clone(),
        message: format!("{}; the workflow cannot be started", construct.message),
        suggestion: None,
    })
}
