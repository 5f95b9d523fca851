//! What came of the calls, in plain words: the words of the tools themselves.

use serde_json::Value;

use super::{fields, shape::plain, toolbox};
use crate::conversation::{Entry, Piece};

/// Tells the results at the end of a conversation.
pub(super) fn results(entries: &[Entry]) -> String {
    let is_result = |entry: &&Entry| matches!(entry, Entry::Result { .. });
    let count = entries.iter().rev().take_while(is_result).count();
    let told = entries[entries.len() - count..].iter().filter_map(|entry| match entry {
        Entry::Result { tool, pieces, failed, .. } => Some(result(tool, pieces, *failed)),
        Entry::User { .. } | Entry::Model { .. } => None,
    });
    told.collect::<Vec<_>>().join("\n\n")
}

fn result(tool: &str, pieces: &[Piece], failed: bool) -> String {
    let text = pieces.iter().map(piece).collect::<Vec<_>>().join("\n");
    let name = toolbox::spoken(tool);
    if let Ok(dispatch) = serde_json::from_str::<Value>(&text)
        && let Some(told) = dispatched(name, &dispatch)
    {
        return told;
    }
    match (failed, text.trim()) {
        (true, "") => format!("{name} failed."),
        (true, reason) => format!("{name} failed: {reason}"),
        (false, "") => format!("{name} answered nothing."),
        (false, text) => text.to_owned(),
    }
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Image { media_type, .. } => format!("[an image, {media_type}]"),
    }
}

/// What came of starting a workflow; nothing where the value is not of that form.
fn dispatched(tool: &str, value: &Value) -> Option<String> {
    let outcome = value.get("outcome")?.as_str()?;
    let parts = value.get("result")?.as_array()?;
    let name = value.pointer("/metadata/workflowName").and_then(Value::as_str).unwrap_or(tool);
    let said: Vec<String> = parts.iter().map(part).collect();
    let said = said.join("\n");
    let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
    // A message that repeats the parts is told once.
    let words = match (message, said.as_str()) {
        ("", said) => said.to_owned(),
        (message, said) if said.is_empty() || said.contains(message) => {
            if said.is_empty() {
                message.to_owned()
            } else {
                said.to_owned()
            }
        }
        (message, said) => format!("{message}\n{said}"),
    };
    let verb = match outcome {
        "answered" => "answered",
        "input-required" => "asks",
        "auth-required" => "asks for authorization",
        "rejected" => "rejected this",
        "failed" => "failed",
        "timeout" => "has not answered in time",
        other => other,
    };
    let task = value.get("taskId").and_then(Value::as_str);
    let task = task.map(|task| format!(" (task {task})")).unwrap_or_default();
    let mut told = match words.trim() {
        "" => format!("{name} {verb}{task}."),
        words if words.contains('\n') => format!("{name} {verb}{task}:\n{words}"),
        words => format!("{name} {verb}{task}: {words}"),
    };
    if let Some(wanted) = value.get("schema").and_then(wanted) {
        told.push('\n');
        told.push_str(&wanted);
    }
    Some(told)
}

fn part(part: &Value) -> String {
    let file = |key: &str| part.pointer(&format!("/file/{key}")).and_then(Value::as_str);
    match part.get("kind").and_then(Value::as_str) {
        Some("text") => part.get("text").map(plain).unwrap_or_default(),
        Some("data") => part.get("data").map(Value::to_string).unwrap_or_default(),
        Some("file") => {
            let described = [file("name"), file("mimeType"), file("uri")];
            let described: Vec<&str> = described.into_iter().flatten().collect();
            format!("[a file: {}]", described.join(", "))
        }
        _ => part.to_string(),
    }
}

/// Which fields an answer has to have.
fn wanted(schema: &Value) -> Option<String> {
    let fields = fields::fields(schema);
    let lines = fields.iter().map(|field| {
        let presence = if field.required { "" } else { ", may be left out" };
        let about = field.description.map(|about| format!(": {about}")).unwrap_or_default();
        format!("  {} ({}{presence}){about}", field.name, field.shape.in_words())
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| format!("It wants:\n{}", lines.join("\n")))
}
