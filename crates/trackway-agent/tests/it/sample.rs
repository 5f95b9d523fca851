//! A conversation with everything that a format must be able to write.

use serde_json::{Value, json};
use trackway_agent::{ContentPiece, ConversationEntry, ModelRequest, ToolArguments, ToolSpec, ToolUse};

/// Only a question.
pub(crate) fn minimal_request() -> ModelRequest {
    let entries = vec![ConversationEntry::user_text_entry("Where is my order?")];
    ModelRequest { system: "Be brief.".into(), entries, ..ModelRequest::default() }
}

/// Text, images, calls of every kind, results with images, tools, a schema and a limit.
pub(crate) fn full_request() -> ModelRequest {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let arguments = ToolArguments::Broken { text: "{\"q\"".into(), reason: "it ends".into() };
    let broken = ToolUse { arguments, ..ToolUse::new("c3", "look_up", Value::Null) };
    let entries = vec![
        ConversationEntry::User { pieces: vec![text("Look at this:"), image(), text("What is it?")] },
        ConversationEntry::Model {
            text: "I look it up.".into(),
            calls: vec![
                ToolUse::new("c1", "look_up", json!({"q": "bird ü"})),
                ToolUse::new("c2", "camera", json!({})),
            ],
        },
        result("c1", "look_up", vec![text("{\"name\":\"wren\"}")], false),
        result("c2", "camera", vec![text("A picture:"), image()], false),
        ConversationEntry::Model { text: String::new(), calls: vec![broken] },
        result("c3", "look_up", vec![text("The arguments are not JSON: it ends")], true),
        ConversationEntry::Model { text: "A wren.".into(), calls: Vec::new() },
        ConversationEntry::User { pieces: vec![text("Say more."), text("In JSON.")] },
    ];
    ModelRequest {
        system: "You know birds.".into(),
        entries,
        tools: vec![
            ToolSpec { name: "look_up".into(), description: "Finds birds.".into(), schema }.into(),
            ToolSpec {
                name: "camera".into(),
                description: "Takes a picture.".into(),
                schema: json!({"type": "object"}),
            }
            .into(),
        ],
        output: Some(json!({"type": "object", "properties": {"bird": {"type": "string"}}})),
        max_tokens: Some(500),
        ..ModelRequest::default()
    }
}

/// A request after one call with this echo and its result.
pub(crate) fn request_with_echo(echo: Value) -> ModelRequest {
    let echoed = ToolUse { echo: Some(echo), ..ToolUse::new("c1", "look_up", json!({})) };
    let mut request = minimal_request();
    request.entries.push(ConversationEntry::Model { text: String::new(), calls: vec![echoed] });
    request.entries.push(result("c1", "look_up", vec![text("done")], false));
    request
}

fn result(call: &str, tool: &str, pieces: Vec<ContentPiece>, failed: bool) -> ConversationEntry {
    ConversationEntry::Result { call: call.into(), tool: tool.into(), pieces, failed }
}

fn text(text: &str) -> ContentPiece {
    ContentPiece::Text(text.into())
}

fn image() -> ContentPiece {
    ContentPiece::Image { media_type: "image/png".into(), base64: "iVBORw0=".into() }
}
