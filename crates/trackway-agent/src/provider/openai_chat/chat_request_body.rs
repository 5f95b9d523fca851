//! A request in the chat format.

use serde_json::{Value, json};

use super::MaxTokensField;
use crate::{
    conversation::{ContentPiece, ConversationEntry, ModelRequest, ToolSpec, ToolUse},
    provider::{
        format_helpers::{arguments_as_text, json_object, tool_parameters_schema},
        system_prompt::render_system_prompt,
    },
};

/// The key for data of a call that this format must send back; other formats ignore it.
pub(super) const ECHO: &str = "openai";

pub(super) fn build_chat_body(
    model: &str,
    request: &ModelRequest,
    max_tokens_field: MaxTokensField,
) -> Value {
    let mut body = json!({
        "model": model,
        "messages": request_to_messages(request),
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    // Empty lists are rejected.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(|spec| tool_definition(spec)).collect();
    }
    if let Some(schema) = &request.output {
        // Not strict: strict mode accepts few schemas. The answer is checked here.
        let format = json!({"name": "output", "schema": schema});
        body["response_format"] = json!({"type": "json_schema", "json_schema": format});
    }
    if let Some(tokens) = request.max_tokens {
        let name = match max_tokens_field {
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
            MaxTokensField::MaxTokens => "max_tokens",
        };
        body[name] = tokens.into();
    }
    body
}

fn tool_definition(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, schema } = tool;
    let function = json_object([
        ("name", name.as_str().into()),
        ("description", description.as_str().into()),
        ("parameters", tool_parameters_schema(schema)),
    ]);
    json_object([("type", "function".into()), ("function", function)])
}

fn request_to_messages(request: &ModelRequest) -> Vec<Value> {
    let mut messages = Vec::new();
    let system = render_system_prompt(request);
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system}));
    }
    // Results accept only text, and must directly follow their calls. Images come after them.
    let mut shown: Vec<Value> = Vec::new();
    for entry in &request.entries {
        if !matches!(entry, ConversationEntry::Result { .. }) {
            messages.extend(take_image_message(&mut shown));
        }
        match entry {
            ConversationEntry::User { pieces } => {
                messages.push(json!({"role": "user", "content": message_content(pieces)}));
            }
            ConversationEntry::Model { text, calls } => messages.push(assistant_message(text, calls)),
            ConversationEntry::Result { call, tool, pieces, failed } => {
                let failure = if *failed { "The call failed: " } else { "" };
                let text = format!("{failure}{}", ContentPiece::join_texts(pieces, "\n\n"));
                messages.push(json!({"role": "tool", "tool_call_id": call, "content": text}));
                let pictures = pieces.iter().filter(|piece| piece.is_image());
                let pictures: Vec<Value> = pictures.map(content_part).collect();
                if !pictures.is_empty() {
                    let title = format!("Images from the result of {tool} ({call}):");
                    shown.push(content_part(&ContentPiece::Text(title)));
                    shown.extend(pictures);
                }
            }
        }
    }
    messages.extend(take_image_message(&mut shown));
    messages
}

fn take_image_message(images: &mut Vec<Value>) -> Option<Value> {
    let images = std::mem::take(images);
    (!images.is_empty()).then(|| json!({"role": "user", "content": images}))
}

fn assistant_message(text: &str, calls: &[ToolUse]) -> Value {
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(tool_call_json).collect();
    }
    message
}

fn tool_call_json(call: &ToolUse) -> Value {
    let function = json!({"name": call.tool, "arguments": arguments_as_text(&call.arguments)});
    let mut written = json!({"id": call.id, "type": "function", "function": function});
    let echo = call.echo.as_ref().and_then(|echo| echo.get(ECHO)).and_then(Value::as_object);
    for (name, value) in echo.into_iter().flatten() {
        written[name] = value.clone();
    }
    written
}

/// Plain text if possible: small servers accept nothing else.
fn message_content(pieces: &[ContentPiece]) -> Value {
    match pieces.iter().any(ContentPiece::is_image) {
        true => pieces.iter().map(content_part).collect(),
        false => ContentPiece::join_texts(pieces, "\n\n").into(),
    }
}

fn content_part(piece: &ContentPiece) -> Value {
    match piece {
        ContentPiece::Text(text) => json!({"type": "text", "text": text}),
        ContentPiece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    }
}
