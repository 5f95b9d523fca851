//! Conversations that every format must be able to write, and a reader for streams in tests.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Delta, ModelError, format::Format};
use crate::{
    conversation::{Arguments, Call, Entry, Piece, Request, ToolSpec},
    samples::{call, text},
};

/// A conversation with every kind of entry: several calls, one broken, one failed, an image.
pub(super) fn everything(echo: Value) -> Request {
    let result = |call: &str, tool: &str, pieces: Vec<Piece>, failed: bool| {
        let (call, tool) = (call.to_owned(), tool.to_owned());
        Entry::Result { call, tool, pieces, failed }
    };
    let image = Piece::Image { media_type: "image/png".to_owned(), base64: "iVBORw==".to_owned() };
    let broken =
        Arguments::Broken { text: "{\"path\":".to_owned(), reason: "it ends too early".to_owned() };
    let entries = vec![
        Entry::User { pieces: vec![text("What is on this picture?"), image.clone()] },
        Entry::Model {
            text: "I shall look.".to_owned(),
            calls: vec![
                Call {
                    echo: Some(echo),
                    ..Call::new("call.1", "look", json!({ "at": "picture" }))
                },
                Call { arguments: broken, ..call("call.2", "read") },
                call("call.3", "look"),
            ],
        },
        // In order of arrival, which is not the order of the calls.
        result("call.3", "look", vec![text("a dog")], false),
        result("call.1", "look", vec![text(r#"{"seen":"a cat"}"#), image], false),
        result("call.2", "read", vec![text("the arguments are not JSON")], true),
        Entry::Model { text: String::new(), calls: Vec::new() },
        Entry::User { pieces: vec![text("And?"), text("")] },
    ];
    Request { entries, tools: tools(), ..hello() }
}

/// The shortest conversation.
pub(super) fn hello() -> Request {
    let system = "You are brief.".to_owned();
    Request { system, entries: vec![Entry::user("Hello")], ..Request::default() }
}

/// A tool with a schema, and one that takes anything.
pub(super) fn tools() -> Vec<Arc<ToolSpec>> {
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
pub(super) fn read(
    format: &dyn Format,
    events: &[(&str, Value)],
) -> (Vec<Delta>, Option<ModelError>) {
    let mut reader = format.reader();
    let mut out = Vec::new();
    for (kind, data) in events {
        if let Err(error) = reader.event(kind, &data.to_string(), &mut out) {
            return (out, Some(error));
        }
        if out.last() == Some(&Delta::Done) {
            return (out, None);
        }
    }
    let error = reader.end(&mut out).err();
    (out, error)
}

/// The same, a line for each.
pub(super) fn shown(format: &dyn Format, events: &[(&str, Value)]) -> String {
    let (deltas, error) = read(format, events);
    let lines = deltas.iter().map(|delta| format!("{delta:?}"));
    let error = error.map(|error| format!("{error:?}"));
    lines.chain(error).collect::<Vec<_>>().join("\n")
}
