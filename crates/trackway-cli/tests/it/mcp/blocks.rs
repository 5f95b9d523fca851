//! Answers that do not advance: they say what is needed, can be replayed, and tell how to fix the answer.

use serde_json::{Value, json};

use super::{
    mcp_workspace::{McpWorkspace, prompt_step, workflow_definition},
    obedient_agent::apply_needs,
};

/// A step that requires a review, and one after it.
fn review() -> Value {
    let mut first = prompt_step("triage");
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
    workflow_definition("review", json!([first, prompt_step("after")]))
}

/// Proves T13: a missing output is a block and not an error. It names the field, the schema and what was
/// sent, and the example at the pointer fixes it.
#[test]
fn a_missing_output_is_mended_by_the_example() {
    let shop = McpWorkspace::with_workflows(&[review()]);
    let mut agent = shop.connect();
    let start = agent.start_run("review", json!({ "sessionId": "S" }));
    let output = &start.json["pending"]["output"];
    assert_eq!(output["required"], true);
    assert_eq!(output["example"], json!({ "review": { "title": "A title", "risk": "M" } }));
    assert!(output["schema"].is_object());
    let mut arguments = json!({ "stateToken": start.state_token(), "ackToken": start.ack_token() });
    let blocked = agent.call("workflow_advance", &arguments);
    assert_eq!(blocked.blocked_code(), "output-missing");
    assert!(!blocked.is_error);
    assert_eq!(blocked.state_token(), start.state_token());
    assert_ne!(blocked.ack_token(), start.ack_token(), "a fresh ack");
    apply_needs(&mut arguments, &blocked);
    arguments["ackToken"] = blocked.ack_token().into();
    let after = agent.call("workflow_advance", &arguments);
    assert_eq!(after.step_id(), "after");
    assert_eq!(after.json["branch"]["forked"], false, "a block is no fork");
    let shown = shop.run_json_command(&["sessions", "show", "S"]);
    assert_eq!(shown["runs"][0]["branches"], 1);
}

/// Proves T4 for blocks: the same call gets the same block, byte for byte, also after a restart; its fresh
/// ack continues.
#[test]
fn a_block_replays() {
    let shop = McpWorkspace::with_workflows(&[review()]);
    let mut agent = shop.connect();
    let start = agent.start_run("review", json!({ "sessionId": "S" }));
    let wrong = || json!({ "output": { "review": { "title": "T", "risk": "L" } } });
    let blocked = agent.advance(&start, wrong());
    assert_eq!(agent.advance(&start, wrong()).text_and_json(), blocked.text_and_json());
    agent.kill();
    let mut agent = shop.connect();
    assert_eq!(agent.advance(&start, wrong()).text_and_json(), blocked.text_and_json());
    assert!(blocked.text.contains("FRESH") || blocked.text.contains("fresh"), "{blocked:#?}");
    let good = json!({ "output": { "review": { "title": "Title", "risk": "L" } } });
    assert_eq!(agent.advance(&blocked, good).step_id(), "after");
    let graph = shop.run_json_command(&["sessions", "graph", "S"]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2, "{graph}");
}

/// Proves T9: criteria on notes block with a need on the notes, and corrected notes advance.
#[test]
fn criteria_on_notes_block() {
    let mut first = prompt_step("first");
    first["validationCriteria"] = json!([{ "type": "contains", "value": "DONE", "message": "Say DONE." }]);
    let shop = McpWorkspace::with_workflows(&[workflow_definition(
        "criteria",
        json!([first, prompt_step("second")]),
    )]);
    let mut agent = shop.connect();
    let start = agent.start_run("criteria", json!({}));
    let blocked = agent.advance(&start, json!({ "notesMarkdown": "almost" }));
    assert_eq!(blocked.blocked_code(), "notes-invalid");
    assert_eq!(blocked.need_at("/notesMarkdown")["got"], "almost");
    assert!(blocked.text.contains("Say DONE."), "{blocked:#?}");
    let second = agent.advance(&blocked, json!({ "notesMarkdown": "It is DONE." }));
    assert_eq!(second.step_id(), "second");
}
