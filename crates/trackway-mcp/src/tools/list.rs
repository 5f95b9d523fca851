//! `workflow_list`: what can be started, and which files cannot be read; filtered, and a page at a time.

use std::{fmt::Write as _, path::PathBuf};

use rmcp::model::CallToolResult;
use serde_json::{Value, json};
use trackway_definition::Fault;
use trackway_domain::{Need, Scopes};
use trackway_runtime::{Invalid, Known, Listing};

use crate::{refusal::Refusal, text, tools::Name};

/// Limit (MCP): bytes of JSON of the entries on one page of `workflow_list`.
/// A page has at least one entry, and each is bounded.
const PAGE_BYTES_MAX: usize = 8 * 1024;

/// Limit (MCP): characters of a description in `workflow_list`; `workflow_inspect` shows it whole.
const DESCRIPTION_CHARS_MAX: usize = 300;

/// Limit (MCP): faults of one file in `workflow_list`; `trackway workflows check` shows them all.
const FAULTS_MAX: usize = 5;

/// A file that somebody who has none can begin with.
const FIRST_FILE: &str = "id: hello\nname: Hello\nversion: \"1\"\nsteps:\n  - id: greet\n    prompt: Say hello to the user.\n";

/// What of the list is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Wanted {
    /// Words that all have to be in a workflow's id, name, description or tags.
    pub(crate) query: Option<String>,
    /// The `nextCursor` of the page before.
    pub(crate) cursor: Option<String>,
}

/// Where a page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum After {
    Start,
    /// After the workflow of this id.
    Workflow(String),
    /// After this file that is no workflow.
    File(String),
}

/// The part of a listing that these scopes may see.
pub(crate) fn list(
    listing: Listing,
    folders: &[PathBuf],
    scopes: &Scopes,
    wanted: &Wanted,
) -> Result<CallToolResult, Refusal> {
    let after = after(wanted.cursor.as_deref())?;
    let Listing { mut workflows, mut invalid } = listing;
    workflows.retain(|known| scopes.allow_run(&known.definition.id));
    invalid.retain(|file| match &file.workflow {
        Some(id) => scopes.allow_run(id),
        None => scopes.is_all(),
    });
    let all = workflows.len();
    let words = words(wanted.query.as_deref());
    workflows.retain(|known| matches(&words, &searched(known)));
    invalid.retain(|file| {
        matches(
            &words,
            &format!("{} {}", file.file.display(), file.workflow.as_deref().unwrap_or("")),
        )
    });
    let total = workflows.len();
    let page = Page::cut(workflows, invalid, &after);
    let mut structured = json!({
        "workflows": page.workflows.iter().map(workflow).collect::<Vec<_>>(),
        "invalid": page.invalid.iter().map(broken).collect::<Vec<_>>(),
        "total": total,
    });
    if let Some(next) = &page.next {
        structured["nextCursor"] = next.as_str().into();
    }
    let mut told = told(&page, total, all, wanted);
    if all == 0 && scopes.is_all() {
        structured["folders"] = folders.iter().map(|folder| place(folder)).collect();
        told.push_str(&first_steps(folders));
    }
    Ok(super::answer(told, structured))
}

fn after(cursor: Option<&str>) -> Result<After, Refusal> {
    let Some(cursor) = cursor.filter(|cursor| !cursor.is_empty()) else { return Ok(After::Start) };
    match cursor.split_once(':') {
        Some(("w", id)) => Ok(After::Workflow(id.to_owned())),
        Some(("f", file)) => Ok(After::File(file.to_owned())),
        _ => Err(Refusal::arguments(
            Name::List.as_str(),
            vec![Need {
                pointer: "/cursor".to_owned(),
                message: "cursor is not a `nextCursor` of this tool; leave it out to begin with the first page".to_owned(),
                ..Need::default()
            }],
        )),
    }
}

fn words(query: Option<&str>) -> Vec<String> {
    query.unwrap_or_default().split_whitespace().map(str::to_lowercase).collect()
}

fn matches(words: &[String], text: &str) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word))
}

fn searched(known: &Known) -> String {
    let definition = &known.definition;
    let tags = definition.tags.join(" ");
    format!("{} {} {} {tags}", definition.id, definition.name, definition.description)
}

/// What one answer shows.
struct Page {
    workflows: Vec<Known>,
    invalid: Vec<Invalid>,
    /// Where the next page begins, if there is one.
    next: Option<String>,
}

impl Page {
    /// Workflows in order of their ids, then files in order of their paths, as far as they fit.
    fn cut(workflows: Vec<Known>, invalid: Vec<Invalid>, after: &After) -> Self {
        let mut page = Self { workflows: Vec::new(), invalid: Vec::new(), next: None };
        let mut left = PAGE_BYTES_MAX;
        for known in workflows {
            match after {
                After::Workflow(id) if known.definition.id <= *id => continue,
                After::File(_) => continue,
                _ => {}
            }
            if !page.takes(&mut left, &workflow(&known)) {
                return page;
            }
            page.workflows.push(known);
        }
        for file in invalid {
            if matches!(after, After::File(last) if file.file.display().to_string() <= *last) {
                continue;
            }
            if !page.takes(&mut left, &broken(&file)) {
                return page;
            }
            page.invalid.push(file);
        }
        page
    }

    /// Whether there is room for one more. Where there is none, the next page begins there.
    fn takes(&mut self, left: &mut usize, entry: &Value) -> bool {
        let bytes = entry.to_string().len();
        let is_empty = self.workflows.is_empty() && self.invalid.is_empty();
        if bytes <= *left || is_empty {
            *left = left.saturating_sub(bytes);
            return true;
        }
        self.next = match (self.invalid.last(), self.workflows.last()) {
            (Some(file), _) => Some(format!("f:{}", file.file.display())),
            (None, Some(known)) => Some(format!("w:{}", known.definition.id)),
            (None, None) => None,
        };
        false
    }
}

fn workflow(known: &Known) -> Value {
    let definition = &known.definition;
    let mut told = json!({
        "workflowId": definition.id,
        "name": definition.name,
        "description": text::cut(&definition.description, DESCRIPTION_CHARS_MAX),
        "version": definition.version,
        "workflowHash": known.hash,
    });
    if !definition.tags.is_empty() {
        told["tags"] = json!(definition.tags);
    }
    told
}

fn broken(file: &Invalid) -> Value {
    let mut told = json!({
        "file": file.file.display().to_string(),
        "errors": file.errors.iter().take(FAULTS_MAX).map(error).collect::<Vec<_>>(),
    });
    if let Some(id) = &file.workflow {
        told["workflowId"] = id.as_str().into();
    }
    if file.errors.len() > FAULTS_MAX {
        told["errorCount"] = file.errors.len().into();
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

fn told(page: &Page, total: usize, all: usize, wanted: &Wanted) -> String {
    let mut told = String::new();
    if all == 0 {
        text::line(&mut told, "No workflow can be started here.");
    } else if total == 0 {
        let query = wanted.query.as_deref().unwrap_or_default();
        text::line(
            &mut told,
            &format!("No workflow has all words of {query:?}. Without `query`, there are {all}."),
        );
    } else if !page.workflows.is_empty() {
        let _ = writeln!(told, "Workflows that `workflow_start` takes ({total}):");
        for known in &page.workflows {
            let definition = &known.definition;
            let first = definition.description.lines().next().unwrap_or_default();
            let about = text::cut(first, DESCRIPTION_CHARS_MAX);
            let _ = writeln!(told, "- `{}`: {} ({about})", definition.id, definition.name);
        }
        told.push('\n');
    }
    if !page.invalid.is_empty() {
        let _ = writeln!(told, "Files that are not valid workflows:");
        for file in &page.invalid {
            let _ = writeln!(told, "- `{}`", file.file.display());
            for fault in file.errors.iter().take(FAULTS_MAX) {
                let _ = writeln!(told, "  - {}", text::placed(fault));
            }
            if let Some(more) = file.errors.len().checked_sub(FAULTS_MAX + 1) {
                let _ = writeln!(told, "  - and {} more", more + 1);
            }
        }
        told.push('\n');
    }
    if let Some(next) = &page.next {
        text::line(
            &mut told,
            &format!(
                "There is more: call `workflow_list` again with `cursor` {next:?}, or with words in `query`."
            ),
        );
    }
    told
}

/// Where files are looked for, and how one is made.
fn first_steps(folders: &[PathBuf]) -> String {
    let mut told = String::from("Workflow files (.yaml, .yml, .json) are looked for in:\n");
    for folder in folders {
        let state = if folder.exists() { "" } else { " (there is no such folder yet)" };
        let _ = writeln!(told, "- `{}`{state}", place(folder));
    }
    let first = folders.first().map_or_else(|| "workflows".to_owned(), |folder| place(folder));
    let _ = write!(
        told,
        "\nTo make one, save this as `{first}/hello.yaml`. It is found at the next call:\n```yaml\n{FIRST_FILE}```\n"
    );
    told
}

/// A folder as somebody in another folder finds it.
fn place(folder: &std::path::Path) -> String {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests;
