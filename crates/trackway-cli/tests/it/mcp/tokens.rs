//! Tokens that are not what they should be: each fault has a code, names its parameter, and changes nothing.

use serde_json::{Value, json};

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

/// The token with one character changed, `back` characters before its end.
fn changed(token: &str, back: usize) -> String {
    let place = token.len() - 1 - back;
    let other = if &token[place..=place] == "7" { "8" } else { "7" };
    format!("{}{other}{}", &token[..place], &token[place + 1..])
}

/// The shape of a session, to see that nothing changed.
fn graph(shop: &Shop, session: &str) -> Value {
    shop.json(&["sessions", "graph", session])
}

/// Proves T2: what is no token at all is told apart, in either parameter, and changes nothing.
#[test]
fn a_malformed_token_is_told_apart() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let before = graph(&shop, "S");
    let (state, ack) = (start.state(), start.ack());
    for text in ["hello", "", "st.v1.", "st.v9.abc", "\u{1F600}", "st.v1.ab cd", "null", "{}"] {
        refused(&mut agent, text, &ack, "token-malformed", "stateToken");
        refused(&mut agent, &state, text, "token-malformed", "ackToken");
    }
    // A token with text glued to it, and half a token.
    let glued = format!("{state}, please");
    refused(&mut agent, &glued, &ack, "token-malformed", "stateToken");
    refused(&mut agent, &state[..state.len() / 2], &ack, "token-malformed", "stateToken");
    refused(&mut agent, &state, &ack[..ack.len() / 2], "token-malformed", "ackToken");
    assert_eq!(graph(&shop, "S"), before);
}

/// Proves T2: a changed token is told apart, in either parameter, and changes nothing.
#[test]
fn a_changed_token_is_told_apart() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let before = graph(&shop, "S");
    let (state, ack) = (start.state(), start.ack());
    assert!(state.len() <= 45 && ack.len() <= 41, "{state} {ack}");
    for back in [2, 10, 20, 25, 30, 33] {
        refused(&mut agent, &changed(&state, back), &ack, "token-changed", "stateToken");
        refused(&mut agent, &state, &changed(&ack, back), "token-changed", "ackToken");
    }
    // Wherever it is changed, it is refused as something, by a look too.
    for back in 0..state.len() {
        let look = agent.look(&changed(&state, back));
        assert!(look.error().starts_with("token-"), "{look:#?}");
    }
    assert_eq!(graph(&shop, "S"), before);
}

/// Proves T2: another folder's token is told apart, in either parameter.
#[test]
fn a_foreign_token_is_told_apart() {
    let shop = Shop::with(&[three()]);
    let neighbour = shop.neighbour();
    let start = shop.agent().start_run("three", json!({}));
    let mut agent = neighbour.agent();
    let own = agent.start_run("three", json!({}));
    refused(&mut agent, &start.state(), &start.ack(), "token-foreign", "stateToken");
    refused(&mut agent, &own.state(), &start.ack(), "token-foreign", "ackToken");
}

/// Proves T2 for mixed up tokens: the error says which is which.
#[test]
fn swapped_tokens_are_told_apart() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({}));
    let (state, ack) = (start.state(), start.ack());
    let both = refused(&mut agent, &ack, &state, "token-swapped", "stateToken");
    assert!(both.text.contains("ackToken"), "{both:#?}");
    refused(&mut agent, &ack, &ack, "token-swapped", "stateToken");
    refused(&mut agent, &state, &state, "token-swapped", "ackToken");
    let checkpoint = agent.checkpoint(&ack, "notes");
    assert_eq!(checkpoint.error(), "token-swapped");
}

/// Proves T5: an ack of another run and one of another snapshot are refused, with codes of their own.
#[test]
fn an_ack_belongs_to_its_run_and_its_snapshot() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let one = agent.start_run("three", json!({ "sessionId": "S" }));
    let two = agent.start_run("three", json!({ "sessionId": "S" }));
    let next = agent.advance(&one, json!({}));
    let before = graph(&shop, "S");
    refused(&mut agent, &one.state(), &two.ack(), "ack-of-other-run", "ackToken");
    refused(&mut agent, &one.state(), &next.ack(), "ack-of-other-snapshot", "ackToken");
    refused(&mut agent, &next.state(), &one.ack(), "ack-of-other-snapshot", "ackToken");
    assert_eq!(graph(&shop, "S"), before);
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

/// Proves T2: what a chat puts around a token does no harm.
#[test]
fn quotes_and_spaces_around_a_token_do_no_harm() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({}));
    for (before, after) in [("`", "`"), (" ", "\n"), ("\"", "\"")] {
        let state = format!("{before}{}{after}", start.state());
        let ack = format!("{before}{}{after}", start.ack());
        let arguments = json!({ "stateToken": state, "ackToken": ack });
        assert_eq!(agent.call("workflow_advance", &arguments).step(), "second");
    }
}
