//! A request in the Responses format: a list of items that includes calls and results.

use serde_json::{Value, json};

use crate::{
    conversation::{Call, Entry, Piece, Request, ToolSpec},
    provider::{
        prompt::prompt,
        wire::{arguments_text, object, parameters},
    },
};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let mut body = json!({
        "model": model,
        "input": request.entries.iter().flat_map(items).collect::<Vec<_>>(),
        "stream": true,
        "store": false,
    });
    let system = prompt(request);
    if !system.is_empty() {
        body["instructions"] = system.into();
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(|spec| tool(spec)).collect();
    }
    if let Some(schema) = &request.output {
        // Not strict: strict mode accepts few schemas. The answer is checked here.
        let format =
            json!({"type": "json_schema", "name": "output", "schema": schema, "strict": false});
        body["text"] = json!({"format": format});
    }
    if let Some(tokens) = request.max_tokens {
        body["max_output_tokens"] = tokens.into();
    }
    body
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, schema } = tool;
    // The default is strict, which would reject most schemas.
    object([
        ("type", "function".into()),
        ("name", name.as_str().into()),
        ("description", description.as_str().into()),
        ("parameters", parameters(schema)),
        ("strict", false.into()),
    ])
}

fn items(entry: &Entry) -> Vec<Value> {
    match entry {
        Entry::User { pieces } => {
            let content: Vec<Value> = pieces.iter().map(part).collect();
            vec![json!({"type": "message", "role": "user", "content": content})]
        }
        Entry::Model { text, calls } => {
            let said = (!text.is_empty())
                .then(|| json!({"type": "message", "role": "assistant", "content": text}));
            said.into_iter().chain(calls.iter().map(call)).collect()
        }
        Entry::Result { call, tool: _, pieces, failed } => {
            let output = output(pieces, *failed);
            vec![json!({"type": "function_call_output", "call_id": call, "output": output})]
        }
    }
}

fn call(call: &Call) -> Value {
    json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.tool,
        "arguments": arguments_text(&call.arguments),
    })
}

/// Plain text if possible: not every server accepts lists here.
fn output(pieces: &[Piece], failed: bool) -> Value {
    let failure = failed.then(|| Piece::Text("The call failed:".to_owned()));
    let all: Vec<Piece> = failure.into_iter().chain(pieces.iter().cloned()).collect();
    match all.iter().any(Piece::is_image) {
        true => all.iter().map(part).collect(),
        false => Piece::join_texts(&all, "\n\n").into(),
    }
}

fn part(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "input_text", "text": text}),
        Piece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "input_image", "image_url": url})
        }
    }
}
