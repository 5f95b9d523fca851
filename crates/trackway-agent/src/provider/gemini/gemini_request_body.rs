//! A request in the form of Gemini's contents.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ECHO;
use crate::{
    conversation::{ContentPiece, ConversationEntry, ModelRequest, ToolSpec, ToolUse},
    provider::{
        format_helpers::{AlternatingRoleMessages, arguments_as_object, json_object, tool_parameters_schema},
        system_prompt::render_system_prompt,
    },
};

pub(super) fn build_gemini_body(request: &ModelRequest) -> Value {
    let mut body = Map::new();
    let mut settings = Map::new();
    let mut system = render_system_prompt(request);
    match &request.output {
        // Most models reject an answer schema together with tools; then the prompt describes it.
        Some(schema) if !request.tools.is_empty() => system.push_str(&format!(
            "\n\nWhen no tool is left to call, answer with nothing but one JSON value, without a code \
             fence. It has this schema: {schema}"
        )),
        Some(schema) => {
            settings.insert("responseMimeType".to_owned(), json!("application/json"));
            settings.insert("responseJsonSchema".to_owned(), schema.clone());
        }
        None => {}
    }
    if let Some(most) = request.max_tokens {
        settings.insert("maxOutputTokens".to_owned(), json!(most));
    }
    if !system.trim().is_empty() {
        let part = json!({ "text": system });
        body.insert("systemInstruction".to_owned(), json!({ "parts": [part] }));
    }
    body.insert("contents".to_owned(), Value::Array(entries_to_contents(&request.entries)));
    if !request.tools.is_empty() {
        let declared = request.tools.iter().map(|spec| function_declaration(spec)).collect();
        let declared = json_object([("functionDeclarations", declared)]);
        body.insert("tools".to_owned(), Value::Array(vec![declared]));
    }
    if !settings.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(settings));
    }
    Value::Object(body)
}

/// Contents of alternating roles. Results belong to the user role. All results of one answer are in one
/// content, in the order of its calls: if calls have no ids, results are matched by this order and by
/// name.
fn entries_to_contents(entries: &[ConversationEntry]) -> Vec<Value> {
    let mut contents = AlternatingRoleMessages::default();
    let mut calls: &[ToolUse] = &[];
    let mut entries = entries.iter().peekable();
    while let Some(entry) = entries.next() {
        match entry {
            ConversationEntry::User { pieces } => {
                contents.push_role_message("user", pieces.iter().filter_map(content_piece_to_part).collect());
            }
            ConversationEntry::Model { text, calls: made } => {
                calls = made;
                contents.push_role_message("model", model_answer_parts(text, made));
            }
            ConversationEntry::Result { .. } => {
                let mut told = vec![entry];
                let is_result =
                    |entry: &&ConversationEntry| matches!(entry, ConversationEntry::Result { .. });
                while let Some(next) = entries.next_if(is_result) {
                    told.push(next);
                }
                contents.push_role_message("user", function_response_parts(&told, calls));
            }
        }
    }
    contents.into_json_messages("parts", |text| json!({ "text": text }))
}

fn model_answer_parts(text: &str, calls: &[ToolUse]) -> Vec<Value> {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({ "text": text }));
    }
    parts.extend(calls.iter().map(|call| {
        let args = arguments_as_object(&call.arguments);
        let mut part = json!({ "functionCall": { "name": call.tool, "args": args } });
        if let Some(id) = echoed_call_field(call, "id") {
            part["functionCall"]["id"] = id.clone();
        }
        if let Some(signature) = echoed_call_field(call, "thoughtSignature") {
            part["thoughtSignature"] = signature.clone();
        }
        part
    }));
    parts
}

fn echoed_call_field<'a>(call: &'a ToolUse, key: &str) -> Option<&'a Value> {
    call.echo.as_ref()?.get(ECHO)?.get(key)
}

/// Answers first, in the order of the calls; then the images that belong to them.
fn function_response_parts(entries: &[&ConversationEntry], calls: &[ToolUse]) -> Vec<Value> {
    let places: BTreeMap<&str, usize> =
        calls.iter().enumerate().map(|(place, call)| (call.id.as_str(), place)).collect();
    let mut ordered: Vec<&ConversationEntry> = entries.to_vec();
    ordered.sort_by_key(|entry| match entry {
        ConversationEntry::Result { call, .. } => places.get(call.as_str()).copied().unwrap_or(usize::MAX),
        ConversationEntry::User { .. } | ConversationEntry::Model { .. } => usize::MAX,
    });
    let mut parts = Vec::new();
    let mut images = Vec::new();
    for entry in ordered {
        let ConversationEntry::Result { call, tool, pieces, failed } = entry else { continue };
        let text = ContentPiece::join_texts(pieces, "\n");
        // Text that is already JSON is not wrapped in a string again.
        let value = serde_json::from_str(&text).ok().filter(|it: &Value| it.is_object() || it.is_array());
        let key = if *failed { "error" } else { "output" };
        let response = json!({ key: value.unwrap_or(Value::String(text)) });
        let mut part = json!({ "functionResponse": { "name": tool, "response": response } });
        let made = calls.iter().find(|made| made.id == *call);
        if let Some(id) = made.and_then(|made| echoed_call_field(made, "id")) {
            part["functionResponse"]["id"] = id.clone();
        }
        parts.push(part);
        images.extend(pieces.iter().filter(|piece| piece.is_image()).filter_map(self::content_piece_to_part));
    }
    parts.extend(images);
    parts
}

fn content_piece_to_part(piece: &ContentPiece) -> Option<Value> {
    match piece {
        ContentPiece::Text(text) => (!text.is_empty()).then(|| json!({ "text": text })),
        ContentPiece::Image { media_type, base64 } => {
            Some(json!({ "inlineData": { "mimeType": media_type, "data": base64 } }))
        }
    }
}

fn function_declaration(tool: &ToolSpec) -> Value {
    json_object([
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_str().into()),
        ("parametersJsonSchema", tool_parameters_schema(&tool.schema)),
    ])
}
