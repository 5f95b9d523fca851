//! A rewound chat: other inputs on an answered snapshot make a branch, and nothing is lost.

use serde_json::{Value, json};

use super::mcp_workspace::{McpWorkspace, three_step_workflow};

fn session(shop: &McpWorkspace) -> Value {
    shop.run_json_command(&["sessions", "show", "S"])
}

/// Proves T6: other notes on a used pair make a new branch, in data and text; both branches continue, and
/// nothing is overwritten.
#[test]
fn other_notes_make_a_branch() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    assert_eq!(start.json["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
    let one = agent.advance(&start, json!({ "notesMarkdown": "one" }));
    let two = agent.advance(&start, json!({ "notesMarkdown": "two" }));
    let three = agent.advance(&start, json!({ "context": { "other": true } }));
    assert_eq!(one.json["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
    assert_eq!(two.json["branch"], json!({ "forked": true, "index": 1, "siblings": 2 }));
    assert_eq!(three.json["branch"], json!({ "forked": true, "index": 2, "siblings": 3 }));
    for forked in [&two, &three] {
        assert!(forked.text.to_lowercase().contains("branch"), "{forked:#?}");
    }
    assert!(!one.text.to_lowercase().contains("branch"), "{one:#?}");
    // Each replay gives its own answer.
    assert_eq!(agent.advance(&start, json!({ "notesMarkdown": "one" })).text_and_json(), one.text_and_json());
    assert_eq!(agent.advance(&start, json!({ "notesMarkdown": "two" })).text_and_json(), two.text_and_json());
    // All branches continue independently.
    for branch in [&one, &two, &three] {
        let third = agent.advance(branch, json!({}));
        assert!(agent.advance(&third, json!({})).is_complete());
    }
    let told = session(&shop);
    assert_eq!(told["runs"][0]["branches"], 3, "{told}");
    let notes = told["documents"].to_string();
    assert!(notes.contains("one") && notes.contains("two"), "{told}");
    let graph = shop.run_json_command(&["sessions", "graph", "S"]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 10, "{graph}");
    assert_eq!(graph["edges"].as_array().unwrap().len(), 9, "{graph}");
}

/// Proves T6: a finished run can be rewound; the session shows the state of the newest branch.
#[test]
fn a_finished_run_can_be_rewound() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let second = agent.advance(&start, json!({}));
    let third = agent.advance(&second, json!({}));
    let end = agent.advance(&third, json!({}));
    assert!(end.is_complete());
    assert_eq!(session(&shop)["runs"][0]["status"], "complete");
    let other = agent.advance(&second, json!({ "notesMarkdown": "on second thoughts" }));
    assert_eq!(other.step_id(), "third");
    assert_eq!(other.json["branch"]["forked"], true);
    assert!(agent.look(&end.state_token()).is_complete(), "the old branch is as it was");
    assert!(agent.advance(&other, json!({})).is_complete());
    assert_eq!(session(&shop)["runs"][0]["status"], "complete");
}

/// Proves T10: context is merged per snapshot, so a branch does not see the context of its sibling.
#[test]
fn branches_do_not_share_their_context() {
    let mut definition = three_step_workflow();
    definition["steps"][2]["prompt"] = json!("The color is {{color}}.");
    let shop = McpWorkspace::with_workflows(&[definition]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "color": "none" }));
    let red = agent.advance(&start, json!({ "context": { "color": "red" } }));
    let blue = agent.advance(&start, json!({ "context": { "color": "blue" } }));
    let plain = agent.advance(&start, json!({}));
    for (branch, color) in [(red, "red"), (blue, "blue"), (plain, "none")] {
        assert_eq!(agent.advance(&branch, json!({})).prompt(), format!("The color is {color}."));
    }
}
