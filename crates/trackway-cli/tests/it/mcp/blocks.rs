//! Answers that do not advance: they say what is needed, replay, and are mended by what they say.

use serde_json::{Value, json};

use super::{
    scripted::{mend, put},
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

/// Proves T13: each wrong field is named by its pointer, with what was sent.
#[test]
fn each_wrong_field_is_named() {
    let shop = Shop::with(&[review()]);
    let mut agent = shop.agent();
    let start = agent.start_run("review", json!({}));
    let mut arguments = json!({
        "stateToken": start.state(), "ackToken": start.ack(),
        "output": { "review": { "title": 7, "risk": "X" } },
    });
    let blocked = agent.call("workflow_advance", &arguments);
    assert_eq!(blocked.blocked(), "output-invalid");
    assert_eq!(blocked.need("/output/review/title")["got"], 7);
    assert_eq!(blocked.need("/output/review/risk")["got"], "X");
    mend(&mut arguments, &blocked);
    arguments["ackToken"] = blocked.ack().into();
    assert_eq!(agent.call("workflow_advance", &arguments).step(), "after");
    // Missing fields are named by the place where they would be.
    let lacking = json!({ "output": { "review": { "risk": "L" } } });
    let blocked = agent.advance(&start, lacking.clone());
    assert_eq!(blocked.needs().len(), 1, "{blocked:#?}");
    let mut mended = lacking;
    put(
        &mut mended,
        "/output/review/title",
        blocked.need("/output/review/title")["example"].clone(),
    );
    assert_eq!(agent.advance(&blocked, mended).step(), "after");
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

/// Proves T8: the old ack mends a block as well, with inputs that are right; it is no fork.
#[test]
fn a_block_is_no_fork() {
    let shop = Shop::with(&[review()]);
    let mut agent = shop.agent();
    let start = agent.start_run("review", json!({}));
    agent.advance(&start, json!({}));
    let good = json!({ "output": { "review": { "title": "Title", "risk": "L" } } });
    let after = agent.advance(&start, good);
    assert_eq!(after.json["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
}

/// Proves T13: a registered contract is an artifact of its kind; the needs lead to it.
#[test]
fn registered_contracts_are_mended_too() {
    let names = [
        "loop_control",
        "review_verdict",
        "coding_handoff",
        "discovery_handoff",
        "shaping_handoff",
        "differentiation_handoff",
        "gate_verdict",
        "coordinator_signal",
        "something_new",
    ];
    let steps = names.map(|name| {
        let mut step = step(name);
        step["outputContract"] = json!({ "contractRef": format!("wr.contracts.{name}") });
        step
    });
    let shop = Shop::with(&[workflow("contracts", json!(steps))]);
    let mut agent = shop.agent();
    let mut at = agent.start_run("contracts", json!({}));
    for name in names {
        assert_eq!(at.step(), name);
        let mut arguments = json!({ "stateToken": at.state(), "ackToken": at.ack() });
        let mut answer = agent.call("workflow_advance", &arguments);
        assert!(!answer.json["blocked"].is_null(), "{answer:#?}");
        for _ in 0..3 {
            mend(&mut arguments, &answer);
            arguments["ackToken"] = answer.ack().into();
            let next = agent.call("workflow_advance", &arguments);
            answer = next;
            if answer.json["blocked"].is_null() {
                break;
            }
        }
        assert!(answer.json["blocked"].is_null(), "{name}: {answer:#?}");
        at = answer;
    }
    assert!(at.is_complete());
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
