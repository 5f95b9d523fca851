//! Tokens while `trackway keys rotate` changes the keys that sign them.

use serde_json::json;

use super::{
    answer::ToolAnswer,
    client::McpTestClient,
    mcp_workspace::{McpWorkspace, three_step_workflow},
};

/// Sends two tokens, which must be refused with this code for this parameter.
fn refused(agent: &mut McpTestClient, state: &str, ack: &str, code: &str, parameter: &str) -> ToolAnswer {
    let answer = agent.call("workflow_advance", &json!({ "stateToken": state, "ackToken": ack }));
    assert_eq!(answer.error_code(), code, "{answer:#?}");
    let message = answer.json["error"]["message"].as_str().unwrap();
    assert!(message.contains(parameter), "it names the parameter: {answer:#?}");
    answer
}

/// Proves T2: keys rotate without breaking live tokens, also in a server that is running.
#[test]
fn tokens_outlive_a_rotation_of_keys() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({}));
    let second = agent.advance(&start, json!({ "notesMarkdown": "one" }));
    shop.run_command(&["keys", "rotate"]).expect(0);
    let again = agent.advance(&start, json!({ "notesMarkdown": "one" }));
    assert_eq!(again.text_and_json(), second.text_and_json(), "a replay is the same after a rotation");
    let third = agent.advance(&second, json!({}));
    assert_eq!(third.step_id(), "third");
    let mut other = shop.connect();
    assert_eq!(
        other.advance(&start, json!({ "notesMarkdown": "one" })).text_and_json(),
        second.text_and_json()
    );
    assert_eq!(other.look(&third.state_token()).step_id(), "third");
    let fresh = other.start_run("three", json!({}));
    assert_eq!(agent.advance(&fresh, json!({})).step_id(), "second", "made with the newer key");
}

/// Proves T2: a token of a retired key says so.
#[test]
fn a_token_of_a_retired_key_is_expired() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({}));
    shop.run_command(&["keys", "rotate"]).expect(0);
    shop.run_command(&["keys", "rotate", "--retire-older-than", "0s"]).expect(0);
    refused(&mut agent, &start.state_token(), &start.ack_token(), "token-expired", "stateToken");
    let own = agent.start_run("three", json!({}));
    refused(&mut agent, &own.state_token(), &start.ack_token(), "token-expired", "ackToken");
}
