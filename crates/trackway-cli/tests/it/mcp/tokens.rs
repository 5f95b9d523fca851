//! Tokens while `trackway keys rotate` changes the keys that sign them.

use serde_json::json;

use super::{
    answer::Answer,
    client::Mcp,
    shop::{Shop, three},
};

/// Sends two tokens, which must be refused with this code for this parameter.
fn refused(agent: &mut Mcp, state: &str, ack: &str, code: &str, parameter: &str) -> Answer {
    let answer = agent.call("workflow_advance", &json!({ "stateToken": state, "ackToken": ack }));
    assert_eq!(answer.error(), code, "{answer:#?}");
    let message = answer.json["error"]["message"].as_str().unwrap();
    assert!(message.contains(parameter), "it names the parameter: {answer:#?}");
    answer
}

/// Proves T2: keys rotate without breaking live tokens, also in a server that is running.
#[test]
fn tokens_outlive_a_rotation_of_keys() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({}));
    let second = agent.advance(&start, json!({ "notesMarkdown": "one" }));
    shop.cli(&["keys", "rotate"]).expect(0);
    let again = agent.advance(&start, json!({ "notesMarkdown": "one" }));
    assert_eq!(again.bytes(), second.bytes(), "a replay is the same after a rotation");
    let third = agent.advance(&second, json!({}));
    assert_eq!(third.step(), "third");
    let mut other = shop.agent();
    assert_eq!(other.advance(&start, json!({ "notesMarkdown": "one" })).bytes(), second.bytes());
    assert_eq!(other.look(&third.state()).step(), "third");
    let fresh = other.start_run("three", json!({}));
    assert_eq!(agent.advance(&fresh, json!({})).step(), "second", "made with the newer key");
}

/// Proves T2: a token of a retired key says so.
#[test]
fn a_token_of_a_retired_key_is_expired() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({}));
    shop.cli(&["keys", "rotate"]).expect(0);
    shop.cli(&["keys", "rotate", "--retire-older-than", "0s"]).expect(0);
    refused(&mut agent, &start.state(), &start.ack(), "token-expired", "stateToken");
    let own = agent.start_run("three", json!({}));
    refused(&mut agent, &own.state(), &start.ack(), "token-expired", "ackToken");
}
