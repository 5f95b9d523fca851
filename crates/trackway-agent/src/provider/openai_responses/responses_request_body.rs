//! A request in the Responses format: a list of items that includes calls and results.

use serde_json::{Value, json};

use crate::{
    conversation::{ContentPiece, ConversationEntry, ModelRequest, ToolSpec, ToolUse},
    provider::{
        format_helpers::{arguments_as_text, json_object, tool_parameters_schema},
        system_prompt::render_system_prompt,
    },
};

pub(super) fn build_responses_body(model: &str, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": model,
        "input": request.entries.iter().flat_map(entry_to_input_items).collect::<Vec<_>>(),
        "stream": true,
        "store": false,
    });
    let system = render_system_prompt(request);
    if !system.is_empty() {
        body["instructions"] = system.into();
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(|spec| tool_definition(spec)).collect();
    }
    if let Some(schema) = &request.output {
        // Not strict: strict mode accepts few schemas. The answer is checked here.
        let format = json!({"type": "json_schema", "name": "output", "schema": schema, "strict": false});
        body["text"] = json!({"format": format});
    }
    if let Some(tokens) = request.max_tokens {
        body["max_output_tokens"] = tokens.into();
    }
    body
}

fn tool_definition(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, schema } = tool;
    // The default is strict, which would reject most schemas.
    json_object([
        ("type", "function".into()),
        ("name", name.as_str().into()),
        ("description", description.as_str().into()),
        ("parameters", tool_parameters_schema(schema)),
        ("strict", false.into()),
    ])
}

fn entry_to_input_items(entry: &ConversationEntry) -> Vec<Value> {
    match entry {
        ConversationEntry::User { pieces } => {
            let content: Vec<Value> = pieces.iter().map(content_part).collect();
            vec![json!({"type": "message", "role": "user", "content": content})]
        }
        ConversationEntry::Model { text, calls } => {
            let said =
                (!text.is_empty()).then(|| json!({"type": "message", "role": "assistant", "content": text}));
            said.into_iter().chain(calls.iter().map(function_call_item)).collect()
        }
        ConversationEntry::Result { call, tool: _, pieces, failed } => {
            let output = function_output_value(pieces, *failed);
            vec![json!({"type": "function_call_output", "call_id": call, "output": output})]
        }
    }
}

fn function_call_item(call: &ToolUse) -> Value {
    json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.tool,
        "arguments": arguments_as_text(&call.arguments),
    })
}

/// Plain text if possible: not every server accepts lists here.
fn function_output_value(pieces: &[ContentPiece], failed: bool) -> Value {
    let failure = failed.then(|| ContentPiece::Text("The call failed:".to_owned()));
    let all: Vec<ContentPiece> = failure.into_iter().chain(pieces.iter().cloned()).collect();
    match all.iter().any(ContentPiece::is_image) {
        true => all.iter().map(content_part).collect(),
        false => ContentPiece::join_texts(&all, "\n\n").into(),
    }
}

fn content_part(piece: &ContentPiece) -> Value {
    match piece {
        ContentPiece::Text(text) => json!({"type": "input_text", "text": text}),
        ContentPiece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "input_image", "image_url": url})
        }
    }
}
