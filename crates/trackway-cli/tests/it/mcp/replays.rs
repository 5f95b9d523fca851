//! The same call again: the same bytes, and nothing advanced.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    client::{Era, Person, advance},
    shop::{Shop, three},
};

fn edges(shop: &Shop, session: &str) -> usize {
    shop.json(&["sessions", "graph", session])["edges"].as_array().unwrap().len()
}

/// Proves T4: a replay gives the same bytes; also by another process, by the other revision, after the
/// process was killed, and after the run went on.
#[test]
fn a_replay_is_the_same_byte_for_byte() {
    let shop = Shop::with(&[three()]);
    let inputs = || json!({ "notesMarkdown": "a\nb", "context": { "x": 1, "y": [1.5, null] } });
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let second = agent.advance(&start, inputs());
    assert_eq!(agent.advance(&start, inputs()).bytes(), second.bytes());
    agent.kill();
    let mut agent = shop.agent();
    assert_eq!(agent.advance(&start, inputs()).bytes(), second.bytes(), "after a kill");
    let third = agent.advance(&second, json!({}));
    let end = agent.advance(&third, json!({}));
    assert!(end.is_complete());
    agent.close();
    let mut legacy = shop.agent_as(Era::Legacy, Person::Unasked);
    assert_eq!(legacy.advance(&start, inputs()).bytes(), second.bytes(), "after the end");
    assert_eq!(legacy.advance(&third, json!({})).bytes(), end.bytes(), "the last one");
    // The order of keys and the way of writing a number do not matter.
    let same = json!({ "context": { "y": [1.50, null], "x": 1.0 }, "notesMarkdown": "a\nb" });
    assert_eq!(legacy.advance(&start, same).bytes(), second.bytes(), "the same inputs");
    assert_eq!(edges(&shop, "S"), 3);
}

/// Proves T4: two processes and many calls at once make one attempt, and all get the same bytes.
#[test]
fn one_attempt_at_once_from_two_processes() {
    let shop = Shop::with(&[three()]);
    let (mut one, mut two) = (shop.agent(), shop.agent_as(Era::Legacy, Person::Unasked));
    let mut at = one.start_run("three", json!({ "sessionId": "S" }));
    for round in 1..=3 {
        let arguments = advance(&at, json!({ "notesMarkdown": format!("round {round}") }));
        one.send("workflow_advance", &arguments);
        two.send("workflow_advance", &arguments);
        let (first, second) = (one.answer(), two.answer());
        assert_eq!(first.bytes(), second.bytes());
        let many = vec![arguments.clone(); 8];
        let all = [one.calls("workflow_advance", &many), two.calls("workflow_advance", &many)];
        let different: BTreeSet<String> = all.iter().flatten().map(|it| it.bytes()).collect();
        assert_eq!(different, BTreeSet::from([first.bytes()]));
        assert_eq!(edges(&shop, "S"), round);
        at = first;
    }
    assert!(at.is_complete());
}

/// Proves T4 for eight calls that race for the first answer within one process.
#[test]
fn one_attempt_at_once_within_a_process() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let answers = agent.calls("workflow_advance", &vec![advance(&start, json!({})); 8]);
    let different: BTreeSet<String> = answers.iter().map(|answer| answer.bytes()).collect();
    assert_eq!(different.len(), 1);
    assert_eq!(edges(&shop, "S"), 1);
}

/// Proves T4: an agent that advances right after a start.
#[test]
fn an_advance_right_after_a_start_works() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    for _ in 0..20 {
        let start = agent.start_run("three", json!({ "sessionId": "S" }));
        assert_eq!(agent.advance(&start, json!({})).step(), "second");
    }
}

/// Proves T4: a finished attempt of the old revision has the bytes of the new one.
#[test]
fn both_revisions_are_spoken() {
    let shop = Shop::with(&[three()]);
    let newest = shop.agent();
    let legacy = shop.agent_as(Era::Legacy, Person::Unasked);
    assert_eq!(newest.protocol, "2026-07-28");
    assert_eq!(legacy.protocol, "2025-11-25");
}

/// Proves T6: a look changes nothing, shows the pending step again with a fresh ack, also of an older
/// snapshot and of a finished run.
#[test]
fn a_look_only_looks() {
    let shop = Shop::with(&[three()]);
    let mut agent = shop.agent();
    let start = agent.start_run("three", json!({ "sessionId": "S" }));
    let looks = [agent.look(&start.state()), agent.look(&start.state())];
    for look in &looks {
        assert_eq!(look.state(), start.state());
        assert_eq!(look.json["pending"], start.json["pending"]);
        assert_eq!(look.json["branch"]["forked"], Value::Bool(false));
    }
    let acks = BTreeSet::from([start.ack(), looks[0].ack(), looks[1].ack()]);
    assert_eq!(acks.len(), 3, "each ack is fresh");
    let second = agent.advance(&looks[1], json!({}));
    assert_eq!(second.json["branch"], json!({ "forked": false, "index": 0, "siblings": 1 }));
    let third = agent.advance(&second, json!({}));
    let end = agent.advance(&third, json!({}));
    let look = agent.look(&end.state());
    assert!(look.is_complete() && look.text.to_lowercase().contains("complete"), "{look:#?}");
    assert_eq!(agent.look(&start.state()).step(), "first", "an older snapshot");
    assert_eq!(edges(&shop, "S"), 3);
}
