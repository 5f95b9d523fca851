//! Answers that do not advance: they say what is needed, replay, and are mended by what they say.

use serde_json::{Value, json};

use super::{
    scripted::mend,
    shop::{Shop, step, workflow},
};

/// A step that wants a review, and one after it.
fn review() -> Value {
    let mut first = step("triage");
    first["outputContract"] = json!({
        "schema": {
            "type": "object",
            "required": ["review"],
            "properties": { "review": {
                "type": "object",
                "required": ["title", "risk"],
                "properties": {
                    "title": { "type": "string", "minLength": 3 },
                    "risk": { "enum": ["L", "M", "H"] },
                },
            } },
        },
        "example": { "review": { "title": "A title", "risk": "M" } },
    });
    workflow("review", json!([first, step("after")]))
}

/// Proves T13: a missing output is a block and no error; it names the
/// field, the schema and what was sent, and putting the example at the pointer mends it.
#[test]
fn a_missing_output_is_mended_by_the_example() {
    let shop = Shop::with(&[review()]);
    let mut agent = shop.agent();
    let start = agent.start_run("review", json!({ "sessionId": "S" }));
    let output = &start.json["pending"]["output"];
    assert_eq!(output["required"], true);
    assert_eq!(output["example"], json!({ "review": { "title": "A title", "risk": "M" } }));
    assert!(output["schema"].is_object());
    let mut arguments = json!({ "stateToken": start.state(), "ackToken": start.ack() });
    let blocked = agent.call("workflow_advance", &arguments);
    assert_eq!(blocked.blocked(), "output-missing");
    assert!(!blocked.is_error);
    assert_eq!(blocked.state(), start.state());
    assert_ne!(blocked.ack(), start.ack(), "a fresh ack");
    mend(&mut arguments, &blocked);
    arguments["ackToken"] = blocked.ack().into();
    let after = agent.call("workflow_advance", &arguments);
    assert_eq!(after.step(), "after");
    assert_eq!(after.json["branch"]["forked"], false, "a block is no fork");
    let shown = shop.json(&["sessions", "show", "S"]);
    assert_eq!(shown["runs"][0]["branches"], 1);
}

/// Proves T4 for blocks: the same call gets the same block, byte for byte,
/// also after a restart; the fresh ack of it goes on.
#[test]
fn a_block_replays() {
    let shop = Shop::with(&[review()]);
    let mut agent = shop.agent();
    let start = agent.start_run("review", json!({ "sessionId": "S" }));
    let wrong = || json!({ "output": { "review": { "title": "T", "risk": "L" } } });
    let blocked = agent.advance(&start, wrong());
    assert_eq!(agent.advance(&start, wrong()).bytes(), blocked.bytes());
    agent.kill();
    let mut agent = shop.agent();
    assert_eq!(agent.advance(&start, wrong()).bytes(), blocked.bytes());
    assert!(blocked.text.contains("FRESH") || blocked.text.contains("fresh"), "{blocked:#?}");
    let good = json!({ "output": { "review": { "title": "Title", "risk": "L" } } });
    assert_eq!(agent.advance(&blocked, good).step(), "after");
    let graph = shop.json(&["sessions", "graph", "S"]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2, "{graph}");
}

/// Proves T9: criteria on notes block with a need on the notes, and mended notes go on.
#[test]
fn criteria_on_notes_block() {
    let mut first = step("first");
    first["validationCriteria"] =
        json!([{ "type": "contains", "value": "DONE", "message": "Say DONE." }]);
    let shop = Shop::with(&[workflow("criteria", json!([first, step("second")]))]);
    let mut agent = shop.agent();
    let start = agent.start_run("criteria", json!({}));
    let blocked = agent.advance(&start, json!({ "notesMarkdown": "almost" }));
    assert_eq!(blocked.blocked(), "notes-invalid");
    assert_eq!(blocked.need("/notesMarkdown")["got"], "almost");
    assert!(blocked.text.contains("Say DONE."), "{blocked:#?}");
    let second = agent.advance(&blocked, json!({ "notesMarkdown": "It is DONE." }));
    assert_eq!(second.step(), "second");
}
