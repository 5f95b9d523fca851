//! What an answer adds to the documents of its session.

use serde_json::Value;
use trackway_domain::{DocumentChange, DocumentKind, Inputs};

use crate::contract::given;
use crate::model::{DocumentRule, Form, Prompt};

/// The changes, in order: what the contract names, its artifacts, and the notes.
pub(crate) fn changes(prompt: &Prompt, step: &str, inputs: &Inputs) -> Vec<DocumentChange> {
    let mut changes = Vec::new();
    if let (Some(contract), Some(output)) = (&prompt.output, &inputs.output) {
        for rule in &contract.documents {
            if let Some(value) = output.pointer(&rule.from) {
                changes.extend(by_rule(rule, value));
            }
        }
    }
    let mut kinds: Vec<&str> = Vec::new();
    if let Some(Form::Artifact { kind, .. }) = prompt.output.as_ref().map(|contract| &contract.form)
    {
        kinds.push(kind);
    }
    if !prompt.assessments.is_empty() {
        kinds.push(crate::assessment::KIND);
    }
    kinds.dedup();
    let asked = given(inputs).iter().filter_map(|artifact| {
        let kind = artifact.get("kind")?.as_str()?;
        kinds.contains(&kind).then(|| change(kind, DocumentKind::Log, artifact))
    });
    changes.extend(asked);
    if let Some(notes) = &inputs.notes {
        changes.push(change(step, DocumentKind::Notes, &Value::from(notes.as_str())));
    }
    changes
}

/// A list goes into a log or a table item by item.
fn by_rule(rule: &DocumentRule, value: &Value) -> Vec<DocumentChange> {
    let change = |value: &Value| DocumentChange {
        name: rule.name.clone(),
        kind: rule.kind,
        key: rule.key.clone(),
        value: value.clone(),
    };
    match (rule.kind, value) {
        (DocumentKind::Log | DocumentKind::Table, Value::Array(items)) => {
            items.iter().map(change).collect()
        }
        _ => vec![change(value)],
    }
}

fn change(name: &str, kind: DocumentKind, value: &Value) -> DocumentChange {
    DocumentChange { name: name.to_owned(), kind, key: None, value: value.clone() }
}

#[cfg(test)]
mod tests;
