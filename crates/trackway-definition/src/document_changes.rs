//! What an answer adds to the documents of its session.

use serde_json::Value;
use trackway_domain::{AttemptInputs, DocumentChange, DocumentKind};

use crate::model::{OutputContractForm, OutputDocumentRule, PromptStep};
use crate::output_check::output_artifacts;

/// The changes, in order: the parts that the contract names, its artifacts, and the notes.
pub(crate) fn document_changes(
    prompt: &PromptStep,
    step: &str,
    inputs: &AttemptInputs,
) -> Vec<DocumentChange> {
    let mut changes = Vec::new();
    if let (Some(contract), Some(output)) = (&prompt.output, &inputs.output) {
        for rule in &contract.documents {
            if let Some(value) = output.pointer(&rule.from) {
                changes.extend(changes_from_document_rule(rule, value));
            }
        }
    }
    let mut kinds: Vec<&str> = Vec::new();
    if let Some(OutputContractForm::Artifact { kind, .. }) =
        prompt.output.as_ref().map(|contract| &contract.form)
    {
        kinds.push(kind);
    }
    if !prompt.assessments.is_empty() {
        kinds.push(crate::assessment::KIND);
    }
    kinds.dedup();
    let asked = output_artifacts(inputs).iter().filter_map(|artifact| {
        let kind = artifact.get("kind")?.as_str()?;
        kinds.contains(&kind).then(|| build_document_change(kind, DocumentKind::Log, artifact))
    });
    changes.extend(asked);
    if let Some(notes) = &inputs.notes {
        changes.push(build_document_change(step, DocumentKind::Notes, &Value::from(notes.as_str())));
    }
    changes
}

/// A list is added to a log or a table item by item.
fn changes_from_document_rule(rule: &OutputDocumentRule, value: &Value) -> Vec<DocumentChange> {
    let change = |value: &Value| DocumentChange {
        name: rule.name.clone(),
        kind: rule.kind,
        key: rule.key.clone(),
        value: value.clone(),
    };
    match (rule.kind, value) {
        (DocumentKind::Log | DocumentKind::Table, Value::Array(items)) => items.iter().map(change).collect(),
        _ => vec![change(value)],
    }
}

fn build_document_change(name: &str, kind: DocumentKind, value: &Value) -> DocumentChange {
    DocumentChange { name: name.to_owned(), kind, key: None, value: value.clone() }
}

#[cfg(test)]
mod tests;
