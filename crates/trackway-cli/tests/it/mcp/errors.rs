//! Invalid calls: each gets an answer that says what to send instead.

use serde_json::{Value, json};

use super::mcp_workspace::{McpWorkspace, three_step_workflow};

/// A list in a list in a list …
fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// Proves T8: an answer to a finished run, and one to nothing, say what to do.
#[test]
fn an_advance_of_a_finished_run_says_so() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({}));
    let second = agent.advance(&start, json!({}));
    let third = agent.advance(&second, json!({}));
    let end = agent.advance(&third, json!({}));
    assert!(end.is_complete() && end.json["ackToken"].is_null());
    let arguments = json!({ "stateToken": end.state_token(), "ackToken": third.ack_token() });
    let refused = agent.call("workflow_advance", &arguments);
    assert_eq!(refused.error_code(), "ack-of-other-snapshot");
}

/// Proves T8: input that is far too large or far too deep is refused, and the server continues.
#[test]
fn huge_and_deep_input_is_refused() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let huge = "x".repeat(3 * 1024 * 1024);
    let inputs = [
        json!({ "notesMarkdown": huge }),
        json!({ "context": { "a": huge } }),
        json!({ "output": { "a": huge } }),
    ];
    for input in inputs {
        let refused = agent.advance(&start, input);
        assert_eq!(refused.error_code(), "too-large");
        assert!(refused.text.len() < 10_000, "it is not sent back whole");
    }
    for levels in [60, 100, 120] {
        let refused = agent.advance(&start, json!({ "context": { "a": deep(levels) } }));
        assert!(refused.is_error || refused.json["blocked"].is_null(), "{refused:#?}");
    }
    let refused = agent.start_run("three", json!({ "a": huge }));
    assert_eq!(refused.error_code(), "too-large");
    let odd = json!({ "\u{0}": "\u{7f}\u{202e}", "": { "": [] }, "__proto__": 1, "a.b": 2 });
    let second = agent.advance(&start, json!({ "context": odd }));
    assert_eq!(second.step_id(), "second");
    for id in ["", "\n", &"s".repeat(5000)] {
        let answer = agent.start_run("three", json!({ "sessionId": id }));
        assert!(answer.is_error || !answer.session_id().trim().is_empty(), "{answer:#?}");
    }
    let answer = agent.inspect(&"w".repeat(100_000));
    assert_eq!(answer.error_code(), "unknown-workflow");
    assert!(answer.text.len() < 10_000, "it is not sent back whole");
}
