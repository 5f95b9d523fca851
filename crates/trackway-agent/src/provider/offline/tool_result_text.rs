//! The results of calls in plain words, taken from the tools themselves.

use serde_json::Value;

use super::tool_menu;
use crate::{
    conversation::{ContentPiece, ConversationEntry, OpenQuestionNote},
    schema_form::{form_fields, value_display_text},
};

/// Reports the results at the end of a conversation.
pub(super) fn render_latest_tool_results(entries: &[ConversationEntry]) -> String {
    let is_result = |entry: &&ConversationEntry| matches!(entry, ConversationEntry::Result { .. });
    let count = entries.iter().rev().take_while(is_result).count();
    let told = entries[entries.len() - count..].iter().filter_map(|entry| match entry {
        ConversationEntry::Result { tool, pieces, failed, .. } => {
            Some(render_tool_result(tool, pieces, *failed))
        }
        ConversationEntry::User { .. } | ConversationEntry::Model { .. } => None,
    });
    told.collect::<Vec<_>>().join("\n\n")
}

fn render_tool_result(tool: &str, pieces: &[ContentPiece], failed: bool) -> String {
    let name = tool_menu::tool_display_name(tool);
    // The result of a dispatch is JSON; images may follow it.
    if let Some((ContentPiece::Text(first), images)) = pieces.split_first()
        && let Ok(result) = serde_json::from_str::<Value>(first)
        && let Some(told) =
            render_dispatch_result(name, &result).or_else(|| render_peer_result(name, &result))
    {
        return std::iter::once(told)
            .chain(images.iter().map(render_content_piece))
            .collect::<Vec<_>>()
            .join("\n");
    }
    let text = pieces.iter().map(render_content_piece).collect::<Vec<_>>().join("\n");
    match (failed, text.trim()) {
        (true, "") => format!("{name} failed."),
        (true, reason) => format!("{name} failed: {reason}"),
        (false, "") => format!("{name} answered nothing."),
        (false, text) => text.to_owned(),
    }
}

fn render_content_piece(piece: &ContentPiece) -> String {
    match piece {
        ContentPiece::Text(text) => text.clone(),
        ContentPiece::Image { media_type, .. } => format!("[an image, {media_type}]"),
    }
}

/// The result of starting a workflow; none if the value does not have that form.
fn render_dispatch_result(tool: &str, value: &Value) -> Option<String> {
    let outcome = value.get("outcome")?.as_str()?;
    let parts = value.get("result")?.as_array()?;
    let name = value.pointer("/metadata/workflowName").and_then(Value::as_str).unwrap_or(tool);
    let said = parts.iter().map(render_result_part).collect::<Vec<_>>().join("\n");
    let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
    let is_question = matches!(outcome, "input-required" | "auth-required");
    // The parts contain the question itself. The message is used only if there are no parts.
    let words = match (message, said.as_str()) {
        ("", said) => said.to_owned(),
        (message, "") => message.to_owned(),
        (message, said) if is_question || said.contains(message) => said.to_owned(),
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
    for wrong in value.get("errors").and_then(Value::as_array).into_iter().flatten() {
        let place = wrong.get("path").map(value_display_text).filter(|place| !place.is_empty());
        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
        let what = wrong.get("message").map(value_display_text).unwrap_or_default();
        told.push_str(&format!("\n  {place}{what}"));
    }
    if let Some(wanted) = value.get("schema").and_then(render_expected_fields) {
        told.push('\n');
        told.push_str(&wanted);
    }
    Some(told)
}

/// The result of a peer's tool; none if the value does not have that form.
fn render_peer_result(tool: &str, value: &Value) -> Option<String> {
    let status = value.get("status")?.as_str()?;
    let artifacts = value.get("artifacts")?.as_array()?;
    let message = value.get("message")?.as_str()?.trim();
    let mut told = if message.is_empty() {
        format!("{tool}: {status}.")
    } else {
        format!("{tool}: {status}. {message}")
    };
    for artifact in artifacts {
        let name = artifact.get("name").map(value_display_text).unwrap_or_default();
        let content = artifact.get("content").or_else(|| artifact.get("filename"));
        told.push_str(&format!("\n{name}: {}", content.map(value_display_text).unwrap_or_default()));
    }
    Some(told)
}

fn render_result_part(part: &Value) -> String {
    let file = |key: &str| part.pointer(&format!("/file/{key}")).and_then(Value::as_str);
    match part.get("kind").and_then(Value::as_str) {
        Some("text") => part.get("text").map(value_display_text).unwrap_or_default(),
        Some("data") => part.get("data").map(Value::to_string).unwrap_or_default(),
        Some("file") => {
            let described = [file("name"), file("mimeType"), file("uri")];
            let described: Vec<&str> = described.into_iter().flatten().collect();
            format!("[a file: {}]", described.join(", "))
        }
        _ => part.to_string(),
    }
}

/// The questions that wait for the user, for a message that matches nothing. The message may have been
/// an answer. A message that is clearly an answer is handled earlier.
pub(super) fn render_open_questions(open: &[OpenQuestionNote]) -> String {
    let questions = open.iter().map(|OpenQuestionNote { task_id, workflow, asks, schema, .. }| {
        let wanted = schema.as_ref().and_then(render_expected_fields);
        let wanted = wanted.map(|wanted| format!("\n{wanted}")).unwrap_or_default();
        format!("Task {task_id} of {workflow}: {asks}{wanted}")
    });
    format!(
        "I cannot take this as an answer, and nothing else fits it. An answer can be written as \
         name=value; /help shows what I can run.\n{}",
        questions.collect::<Vec<_>>().join("\n")
    )
}

/// The fields that an answer must have.
fn render_expected_fields(schema: &Value) -> Option<String> {
    let fields = form_fields(schema);
    let lines = fields.iter().map(|field| {
        let presence = if field.required { "" } else { ", may be left out" };
        let about = field.description.map(|about| format!(": {about}")).unwrap_or_default();
        format!("  {} ({}{presence}){about}", field.name, field.shape.describe_type())
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| format!("It wants:\n{}", lines.join("\n")))
}
