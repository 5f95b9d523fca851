//! Files as people and WorkRail write them, and what becomes of them.

mod calls;
pub(crate) mod corpus;
mod docs;
mod faults;
mod odd;
mod own;
mod steps;

use crate::{Definition, Draft, Fault, Format, read};

/// A file that refers to no other.
fn linked(text: &str, format: Format) -> Result<Definition, Vec<Fault>> {
    let draft = read(text, format).map_err(|unreadable| unreadable.faults)?;
    draft.link(&|_| None)
}

/// A file that refers to others.
fn among(drafts: &[Draft], id: &str) -> Result<Definition, Vec<Fault>> {
    let find = |id: &str| drafts.iter().find(|draft| draft.id == id);
    find(id).expect("the draft").link(&find)
}

/// The rows of a table: a line of input, and below it, indented, what comes of it.
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

fn tolerant(steps: &serde_json::Value) -> Definition {
    linked(&with_steps(steps), Format::Json).expect("a definition")
}

/// Pointers and messages of what is wrong with these steps.
fn wrong(steps: &serde_json::Value) -> Vec<String> {
    shown(linked(&with_steps(steps), Format::Json))
}

fn shown(result: Result<Definition, Vec<Fault>>) -> Vec<String> {
    let faults = result.err().unwrap_or_default();
    let line = |fault: &Fault| {
        let hint = fault.suggestion.as_ref().map(|hint| format!(" [{hint}]")).unwrap_or_default();
        format!("{}: {}{hint}", fault.path, fault.message)
    };
    faults.iter().map(line).collect()
}
