//! A request in the chat format.

use serde_json::{Value, json};

use super::Cap;
use crate::{
    conversation::{Call, Entry, Piece, Request, ToolSpec},
    provider::{
        prompt::prompt,
        wire::{arguments_text, object, parameters},
    },
};

/// The key for data of a call that this format must send back; other formats ignore it.
pub(super) const ECHO: &str = "openai";

pub(super) fn body(model: &str, request: &Request, cap: Cap) -> Value {
    let mut body = json!({
        "model": model,
        "messages": messages(request),
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    // Empty lists are rejected.
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(|spec| tool(spec)).collect();
    }
    if let Some(schema) = &request.output {
        // Not strict: strict mode accepts few schemas. The answer is checked here.
        let format = json!({"name": "output", "schema": schema});
        body["response_format"] = json!({"type": "json_schema", "json_schema": format});
    }
    if let Some(tokens) = request.max_tokens {
        let name = match cap {
            Cap::MaxCompletionTokens => "max_completion_tokens",
            Cap::MaxTokens => "max_tokens",
        };
        body[name] = tokens.into();
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, schema } = tool;
    let function = object([
        ("name", name.as_str().into()),
        ("description", description.as_str().into()),
        ("parameters", parameters(schema)),
    ]);
    object([("type", "function".into()), ("function", function)])
}

fn messages(request: &Request) -> Vec<Value> {
    let mut messages = Vec::new();
    let system = prompt(request);
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system}));
    }
    // Results accept only text, and must directly follow their calls. Images come after them.
    let mut shown: Vec<Value> = Vec::new();
    for entry in &request.entries {
        if !matches!(entry, Entry::Result { .. }) {
            messages.extend(images(&mut shown));
        }
        match entry {
            Entry::User { pieces } => {
                messages.push(json!({"role": "user", "content": content(pieces)}));
            }
            Entry::Model { text, calls } => messages.push(said(text, calls)),
            Entry::Result { call, tool, pieces, failed } => {
                let failure = if *failed { "The call failed: " } else { "" };
                let text = format!("{failure}{}", Piece::join_texts(pieces, "\n\n"));
                messages.push(json!({"role": "tool", "tool_call_id": call, "content": text}));
                let pictures = pieces.iter().filter(|piece| piece.is_image());
                let pictures: Vec<Value> = pictures.map(part).collect();
                if !pictures.is_empty() {
                    let title = format!("Images from the result of {tool} ({call}):");
                    shown.push(part(&Piece::Text(title)));
                    shown.extend(pictures);
                }
            }
        }
    }
    messages.extend(images(&mut shown));
    messages
}

fn images(shown: &mut Vec<Value>) -> Option<Value> {
    let shown = std::mem::take(shown);
    (!shown.is_empty()).then(|| json!({"role": "user", "content": shown}))
}

fn said(text: &str, calls: &[Call]) -> Value {
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    message
}

fn call(call: &Call) -> Value {
    let function = json!({"name": call.tool, "arguments": arguments_text(&call.arguments)});
    let mut written = json!({"id": call.id, "type": "function", "function": function});
    let echo = call.echo.as_ref().and_then(|echo| echo.get(ECHO)).and_then(Value::as_object);
    for (name, value) in echo.into_iter().flatten() {
        written[name] = value.clone();
    }
    written
}

/// Plain text if possible: small servers accept nothing else.
fn content(pieces: &[Piece]) -> Value {
    match pieces.iter().any(Piece::is_image) {
        true => pieces.iter().map(part).collect(),
        false => Piece::join_texts(pieces, "\n\n").into(),
    }
}

fn part(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    }
}
