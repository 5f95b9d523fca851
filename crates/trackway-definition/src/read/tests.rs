//! Files as people and WorkRail write them, and the definitions that they give.

mod calls;
pub(crate) mod corpus;
mod docs;
mod faults;
mod odd;
mod own;
mod steps;

use crate::{Definition, DefinitionDraft, FileFormat, Finding, parse_definition_draft};

/// A file that refers to no other.
fn link_alone(text: &str, format: FileFormat) -> Result<Definition, Vec<Finding>> {
    let draft = parse_definition_draft(text, format).map_err(|unreadable| unreadable.findings)?;
    draft.link_references(&|_| None)
}

/// A file that refers to others.
fn link_among(drafts: &[DefinitionDraft], id: &str) -> Result<Definition, Vec<Finding>> {
    let find = |id: &str| drafts.iter().find(|draft| draft.id == id);
    find(id).expect("the draft").link_references(&find)
}

/// The rows of a table: a line of input, and below it, indented, the result.
fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut lines = table.lines();
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?.trim_start())))
}

/// A tolerant file with these steps.
fn with_steps(steps: &serde_json::Value) -> String {
    serde_json::json!({
        "id": "some-work", "name": "Some work", "description": "Does it.", "version": "1.0.0",
        "steps": steps,
    })
    .to_string()
}

fn parse_tolerant(steps: &serde_json::Value) -> Definition {
    link_alone(&with_steps(steps), FileFormat::Json).expect("a definition")
}

/// Pointers and messages of the findings for these steps.
fn findings_of_steps(steps: &serde_json::Value) -> Vec<String> {
    format_findings(link_alone(&with_steps(steps), FileFormat::Json))
}

fn format_findings(result: Result<Definition, Vec<Finding>>) -> Vec<String> {
    let faults = result.err().unwrap_or_default();
    let line = |fault: &Finding| {
        let hint = fault.suggestion.as_ref().map(|hint| format!(" [{hint}]")).unwrap_or_default();
        format!("{}: {}{hint}", fault.path, fault.message)
    };
    faults.iter().map(line).collect()
}
