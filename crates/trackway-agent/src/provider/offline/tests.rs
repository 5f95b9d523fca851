//! How the rules handle user messages, as tables.

mod anything;
mod forms;
mod telling;
mod words;

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer_by_rules;
use crate::{
    conversation::{ConversationEntry, FinishReason, ModelRequest, ToolArguments, ToolSpec},
    samples::{model, user},
};

/// The tools of a fresh machine, and some with fields of every kind.
fn tools() -> Vec<Arc<ToolSpec>> {
    let tool = |name: &str, description: &str, schema: Value| {
        let (name, description) = (name.to_owned(), description.to_owned());
        Arc::new(ToolSpec { name, description, schema })
    };
    vec![
        tool("time", "Tells the time.", json!({ "type": "object", "properties": {} })),
        tool(
            "dispatch_workflow_echo",
            "Says back the text it is given, as the artifact echo.txt.",
            json!({
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "What to say back." },
                    "chunks": { "type": ["integer", "null"], "minimum": 1, "maximum": 1000 },
                },
                "required": ["text"],
                "additionalProperties": false,
            }),
        ),
        tool(
            "dispatch_workflow_invest",
            "Finds an opportunity, asks how much to invest and for a signature, and hands out a receipt.",
            json!({
                "type": "object",
                "properties": {
                    "walletAddress": { "type": "string", "description": "The wallet to invest from." },
                    "chainId": { "type": ["integer", "null"] },
                },
                "required": ["walletAddress"],
                "additionalProperties": false,
            }),
        ),
        tool(
            "dispatch_workflow_paint_wall",
            "Paints a wall.",
            json!({
                "type": "object",
                "properties": {
                    "colour": { "$ref": "#/$defs/Colour" },
                    "coats": { "type": "integer", "description": "How many times over." },
                    "glossy": { "type": "boolean" },
                    "rooms": { "type": "array", "items": { "type": "string" } },
                    "size": { "type": "object" },
                    "price": { "type": "number" },
                },
                "required": ["colour", "coats"],
                "$defs": { "Colour": { "oneOf": [{ "const": "red" }, { "const": "sky blue" }] } },
            }),
        ),
        tool(
            "files__read",
            "Reads a file.",
            json!({
                "type": "object",
                "properties": { "path": { "type": "string" } },
                "required": ["path"],
            }),
        ),
    ]
}

fn request(entries: Vec<ConversationEntry>) -> ModelRequest {
    ModelRequest { entries, tools: tools(), ..ModelRequest::default() }
}

/// The action for a message.
fn answer_to_message(message: &str) -> String {
    render_answer(&request(vec![user(message)]))
}

/// `tool {arguments}`, or the text.
fn render_answer(request: &ModelRequest) -> String {
    let answer = answer_by_rules(request);
    assert_eq!(answer.usage, None, "rules use no tokens");
    match answer.calls.as_slice() {
        [] => {
            assert_eq!(answer.finish, FinishReason::Stop);
            answer.text
        }
        [call] => {
            assert_eq!(answer.finish, FinishReason::Calls);
            let ToolArguments::Json(arguments) = &call.arguments else { panic!("broken arguments") };
            format!("{} {arguments}", call.tool)
        }
        several => panic!("the rules make one call at a time: {several:?}"),
    }
}

fn check(table: &[(&str, &str)]) {
    for (said, expected) in table {
        assert_eq!(answer_to_message(said), *expected, "for {said:?}");
    }
}
