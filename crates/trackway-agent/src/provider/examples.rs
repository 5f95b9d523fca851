//! Conversations that every format must be able to write, and a reader for streams in tests.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Delta, ModelError, provider_format::ProviderFormat};
use crate::{
    conversation::{ContentPiece, ConversationEntry, ModelRequest, ToolArguments, ToolSpec, ToolUse},
    samples::{call, text},
};

/// A conversation with every kind of entry: several calls, one broken, one failed, an image.
pub(super) fn full_request(echo: Value) -> ModelRequest {
    let result = |call: &str, tool: &str, pieces: Vec<ContentPiece>, failed: bool| {
        let (call, tool) = (call.to_owned(), tool.to_owned());
        ConversationEntry::Result { call, tool, pieces, failed }
    };
    let image = ContentPiece::Image { media_type: "image/png".to_owned(), base64: "iVBORw==".to_owned() };
    let broken =
        ToolArguments::Broken { text: "{\"path\":".to_owned(), reason: "it ends too early".to_owned() };
    let entries = vec![
        ConversationEntry::User { pieces: vec![text("What is on this picture?"), image.clone()] },
        ConversationEntry::Model {
            text: "I shall look.".to_owned(),
            calls: vec![
                ToolUse { echo: Some(echo), ..ToolUse::new("call.1", "look", json!({ "at": "picture" })) },
                ToolUse { arguments: broken, ..call("call.2", "read") },
                call("call.3", "look"),
            ],
        },
        // In order of arrival, which is not the order of the calls.
        result("call.3", "look", vec![text("a dog")], false),
        result("call.1", "look", vec![text(r#"{"seen":"a cat"}"#), image], false),
        result("call.2", "read", vec![text("the arguments are not JSON")], true),
        ConversationEntry::Model { text: String::new(), calls: Vec::new() },
        ConversationEntry::User { pieces: vec![text("And?"), text("")] },
    ];
    ModelRequest { entries, tools: example_tools(), ..minimal_request() }
}

/// The shortest conversation.
pub(super) fn minimal_request() -> ModelRequest {
    let system = "You are brief.".to_owned();
    ModelRequest {
        system,
        entries: vec![ConversationEntry::user_text_entry("Hello")],
        ..ModelRequest::default()
    }
}

/// A tool with a schema, and one that takes anything.
pub(super) fn example_tools() -> Vec<Arc<ToolSpec>> {
    let schema = json!({
        "type": "object",
        "properties": { "at": { "type": "string", "enum": ["picture", "sky"] } },
        "required": ["at"],
    });
    let tool = |name: &str, description: &str, schema: Value| {
        let (name, description) = (name.to_owned(), description.to_owned());
        Arc::new(ToolSpec { name, description, schema })
    };
    vec![tool("look", "Looks.", schema), tool("read", "Reads.", json!({}))]
}

/// The output of a reader for these events, including the end of the stream unless it is done before.
pub(super) fn read_deltas(
    format: &dyn ProviderFormat,
    events: &[(&str, Value)],
) -> (Vec<Delta>, Option<ModelError>) {
    let mut reader = format.new_stream_reader();
    let mut out = Vec::new();
    for (kind, data) in events {
        if let Err(error) = reader.read_stream_event(kind, &data.to_string(), &mut out) {
            return (out, Some(error));
        }
        if out.last() == Some(&Delta::Done) {
            return (out, None);
        }
    }
    let error = reader.finish_stream(&mut out).err();
    (out, error)
}

/// The same, a line for each.
pub(super) fn render_deltas(format: &dyn ProviderFormat, events: &[(&str, Value)]) -> String {
    let (deltas, error) = read_deltas(format, events);
    let lines = deltas.iter().map(|delta| format!("{delta:?}"));
    let error = error.map(|error| format!("{error:?}"));
    lines.chain(error).collect::<Vec<_>>().join("\n")
}
