//! A conversation with everything that a format must be able to write.

use serde_json::{Value, json};
use trackway_agent::{Arguments, Call, Entry, Piece, Request, ToolSpec};

/// Only a question.
pub(crate) fn question() -> Request {
    let entries = vec![Entry::user("Where is my order?")];
    Request { system: "Be brief.".into(), entries, ..Request::default() }
}

/// Text, images, calls of every kind, results with images, tools, a schema and a limit.
pub(crate) fn everything() -> Request {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
    let arguments = Arguments::Broken { text: "{\"q\"".into(), reason: "it ends".into() };
    let broken = Call { arguments, ..Call::new("c3", "look_up", Value::Null) };
    let entries = vec![
        Entry::User { pieces: vec![text("Look at this:"), image(), text("What is it?")] },
        Entry::Model {
            text: "I look it up.".into(),
            calls: vec![
                Call::new("c1", "look_up", json!({"q": "bird ü"})),
                Call::new("c2", "camera", json!({})),
            ],
        },
        result("c1", "look_up", vec![text("{\"name\":\"wren\"}")], false),
        result("c2", "camera", vec![text("A picture:"), image()], false),
        Entry::Model { text: String::new(), calls: vec![broken] },
        result("c3", "look_up", vec![text("The arguments are not JSON: it ends")], true),
        Entry::Model { text: "A wren.".into(), calls: Vec::new() },
        Entry::User { pieces: vec![text("Say more."), text("In JSON.")] },
    ];
    Request {
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
        ..Request::default()
    }
}

/// A request after one call with this echo and its result.
pub(crate) fn after_echo(echo: Value) -> Request {
    let echoed = Call { echo: Some(echo), ..Call::new("c1", "look_up", json!({})) };
    let mut request = question();
    request.entries.push(Entry::Model { text: String::new(), calls: vec![echoed] });
    request.entries.push(result("c1", "look_up", vec![text("done")], false));
    request
}

fn result(call: &str, tool: &str, pieces: Vec<Piece>, failed: bool) -> Entry {
    Entry::Result { call: call.into(), tool: tool.into(), pieces, failed }
}

fn text(text: &str) -> Piece {
    Piece::Text(text.into())
}

fn image() -> Piece {
    Piece::Image { media_type: "image/png".into(), base64: "iVBORw0=".into() }
}
