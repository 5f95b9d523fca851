//! The same call again: the same bytes, and nothing advanced.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    client::{ConfirmationReply, ProtocolRevision, advance_arguments},
    mcp_workspace::{McpWorkspace, three_step_workflow},
};

fn edges(shop: &McpWorkspace, session: &str) -> usize {
    shop.run_json_command(&["sessions", "graph", session])["edges"].as_array().unwrap().len()
}

/// Proves T4: a replay gives the same bytes; also by another process, by the other revision, after the
/// process was killed, and after the run continued.
#[test]
fn a_replay_is_the_same_byte_for_byte() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let inputs = || json!({ "notesMarkdown": "a\nb", "context": { "x": 1, "y": [1.5, null] } });
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let second = agent.advance(&start, inputs());
    assert_eq!(agent.advance(&start, inputs()).text_and_json(), second.text_and_json());
    agent.kill();
    let mut agent = shop.connect();
    assert_eq!(agent.advance(&start, inputs()).text_and_json(), second.text_and_json(), "after a kill");
    let third = agent.advance(&second, json!({}));
    let end = agent.advance(&third, json!({}));
    assert!(end.is_complete());
    agent.close();
    let mut legacy = shop.connect_as(ProtocolRevision::Legacy, ConfirmationReply::Unasked);
    assert_eq!(legacy.advance(&start, inputs()).text_and_json(), second.text_and_json(), "after the end");
    assert_eq!(legacy.advance(&third, json!({})).text_and_json(), end.text_and_json(), "the last one");
    // The order of keys and the notation of a number do not matter.
    let same = json!({ "context": { "y": [1.50, null], "x": 1.0 }, "notesMarkdown": "a\nb" });
    assert_eq!(legacy.advance(&start, same).text_and_json(), second.text_and_json(), "the same inputs");
    assert_eq!(edges(&shop, "S"), 3);
}

/// Proves T4: two processes and many calls at once make one attempt, and all get the same bytes.
#[test]
fn one_attempt_at_once_from_two_processes() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let (mut one, mut two) =
        (shop.connect(), shop.connect_as(ProtocolRevision::Legacy, ConfirmationReply::Unasked));
    let mut at = one.start_run("three", json!({ "sessionId": "S" }));
    for round in 1..=3 {
        let arguments = advance_arguments(&at, json!({ "notesMarkdown": format!("round {round}") }));
        one.send("workflow_advance", &arguments);
        two.send("workflow_advance", &arguments);
        let (first, second) = (one.answer(), two.answer());
        assert_eq!(first.text_and_json(), second.text_and_json());
        let many = vec![arguments.clone(); 8];
        let all = [one.calls("workflow_advance", &many), two.calls("workflow_advance", &many)];
        let different: BTreeSet<String> = all.iter().flatten().map(|it| it.text_and_json()).collect();
        assert_eq!(different, BTreeSet::from([first.text_and_json()]));
        assert_eq!(edges(&shop, "S"), round);
        at = first;
    }
    assert!(at.is_complete());
}

/// Proves T4 for eight calls that race for the first answer within one process.
#[test]
fn one_attempt_at_once_within_a_process() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let answers = agent.calls("workflow_advance", &vec![advance_arguments(&start, json!({})); 8]);
    let different: BTreeSet<String> = answers.iter().map(|answer| answer.text_and_json()).collect();
    assert_eq!(different.len(), 1);
    assert_eq!(edges(&shop, "S"), 1);
}

/// Proves T4: an agent that advances right after a start.
#[test]
fn an_advance_right_after_a_start_works() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    for _ in 0..20 {
        let start = agent.start_run("three", json!({ "sessionId": "S" }));
        assert_eq!(agent.advance(&start, json!({})).step_id(), "second");
    }
}

/// Proves T4: a finished attempt of the old revision has the bytes of the new one.
#[test]
fn both_revisions_are_spoken() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let newest = shop.connect();
    let legacy = shop.connect_as(ProtocolRevision::Legacy, ConfirmationReply::Unasked);
    assert_eq!(newest.protocol, "2026-07-28");
    assert_eq!(legacy.protocol, "2025-11-25");
}

/// Proves T6: a look changes nothing and shows the pending step again with a fresh ack, also for an older
/// snapshot and a finished run.
#[test]
fn a_look_only_looks() {
    let shop = McpWorkspace::with_workflows(&[three_step_workflow()]);
    let mut agent = shop.connect();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let looks = [agent.look(&start.state_token()), agent.look(&start.state_token())];
    for look in &looks {
        assert_eq!(look.state_token(), start.state_token());
        assert_eq!(look.json["pending"], start.json["pending"]);
        assert_eq!(look.json["branch"]["forked"], Value::Bool(false));
    }
    let acks = BTreeSet::from([start.ack_token(), looks[0].ack_token(), looks[1].ack_token()]);
    assert_eq!(acks.len(), 3, "each ack is fresh");
    let second = agent.advance(&looks[1], json!({}));
    assert_eq!(second.json["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
    let third = agent.advance(&second, json!({}));
    let end = agent.advance(&third, json!({}));
    let look = agent.look(&end.state_token());
    assert!(look.is_complete() && look.text.to_lowercase().contains("complete"), "{look:#?}");
    assert_eq!(agent.look(&start.state_token()).step_id(), "first", "an older snapshot");
    assert_eq!(edges(&shop, "S"), 3);
}
