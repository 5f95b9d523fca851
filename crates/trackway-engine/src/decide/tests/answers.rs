//! First answers: the first output of an awaited run is delivered once to the run that waits.

use insta::assert_snapshot;
use trackway_domain::Event;

use super::outcome_after;
use crate::fixture::ScriptedRun;

/// Proves D2, D3: the first output of any kind is the answer.
#[test]
fn the_first_thing_that_is_said_is_the_answer() {
    let first = |command: &str| outcome_after("submit awaited", command);
    assert_snapshot!(first("status hi"), @r#"started | status working "hi" | ! owe: tell parent what me said: Answered "hi""#);
    assert_snapshot!(first("artifact a.txt one"), @r#"started | artifact a.txt = "one" | ! owe: tell parent what me said: Answered "one""#);
    assert_snapshot!(first("first hello"), @r#"started | answered answer:#0 "hello" | ! owe: tell parent what me said: Answered "hello""#);
    assert_snapshot!(first("first"), @"started | answered answer:#0  | ! owe: tell parent what me said: Answered");
    assert_snapshot!(first("ask amount"), @r#"started | asked q1 input-required "How much?" | ! owe: tell parent what me said: InputRequired "How much?" | > asked q1"#);
    assert_snapshot!(first("ask form"), @r#"started | artifact form.json = "preview" | asked q1 input-required "How much?" | ! owe: tell parent what me said: InputRequired "preview", "How much?" | > asked q1"#);
    assert_snapshot!(first("ask signature"), @r#"started | asked q1 auth-required "Please sign" | ! owe: tell parent what me said: AuthRequired "Please sign" | > asked q1"#);
    assert_snapshot!(first("reject no"), @r#"rejected "no" | ! stop | ! owe: tell parent that me rejected "no" | ! owe: tell parent what me said: Rejected  "no""#);
    assert_snapshot!(first("return 5"), @"started | completed 5 | ! stop | ! owe: tell parent that me completed 5 | ! owe: tell parent what me said: Answered (data)");
    assert_snapshot!(first("return null"), @"started | completed null | ! stop | ! owe: tell parent that me completed | ! owe: tell parent what me said: Answered");
    assert_snapshot!(first("error oops"), @r#"started | failed "oops" | ! stop | ! owe: tell parent that me failed "oops" | ! owe: tell parent what me said: Failed  "oops""#);
    assert_snapshot!(first("cancel"), @r#"canceled | ! stop | ! owe: tell parent that me canceled | ! owe: tell parent what me said: Failed  "it was cancelled""#);
}

/// Proves D2: other recorded events are not an answer.
#[test]
fn invisible_event_is_no_answer() {
    for command in ["step pay", "retry pay", "draw 7", "sleep nap", "child echo", "park mismatch"] {
        let line = outcome_after("submit awaited", command);
        assert!(!line.contains("tell"), "{command}: {line}");
    }
}

/// Proves D3: only the first counts.
#[test]
fn an_answer_is_given_once() {
    for given in ["status hi", "artifact a.txt one", "first", "ask amount"] {
        let given = format!("submit awaited; {given}");
        for command in ["status more", "artifact b.txt two", "first late", "ask signature"] {
            let line = outcome_after(&given, command);
            assert!(!line.contains("what me said"), "{given}; {command}: {line}");
        }
        let end = "completed 5 | ! stop | ! owe: tell parent that me completed 5";
        let line = outcome_after(&given, "return 5");
        assert!(line.ends_with(end), "{given}: {line}");
    }
    // No run waits for the first answer of this one.
    assert_snapshot!(outcome_after("submit child", "status hi"), @r#"started | status working "hi""#);
}

/// Proves D3: the sender of an answer receives the next output, and nothing after it.
#[test]
fn answering_run_receives_the_next_statement() {
    let asked = "submit awaited; ask amount";
    assert_snapshot!(outcome_after(asked, "reply amount=0"), @"refused q1 #1 alone (wrong: /amount exclusiveMinimum) | > q1 #1 alone (wrong: /amount exclusiveMinimum)");
    assert_snapshot!(outcome_after(asked, "reply amount=5"), @r#"resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary"#);
    let replied = format!("{asked}; reply amount=5");
    assert_snapshot!(outcome_after(&replied, "status thanks"), @r#"status working "thanks" | ! owe: tell parent what me said to user-2: Answered "thanks""#);
    assert_snapshot!(outcome_after(&replied, "ask signature"), @r#"asked q2 auth-required "Please sign" | ! owe: tell parent what me said to user-2: AuthRequired "Please sign" | > asked q2"#);
    assert_snapshot!(outcome_after(&replied, "return null"), @"completed null | ! stop | ! owe: tell parent that me completed | ! owe: tell parent what me said to user-2: Answered");
    assert_snapshot!(outcome_after(&format!("{replied}; status thanks"), "ask signature"), @r#"asked q2 auth-required "Please sign" | > asked q2"#);
    // An answer from another sender leaves no run waiting.
    assert_snapshot!(outcome_after(&format!("{asked}; answer amount=5"), "status thanks"), @r#"status working "thanks""#);
}

/// Proves D5: the start of a dispatched child has no message.
#[test]
fn a_dispatched_child_starts_quietly() {
    assert_snapshot!(outcome_after("submit", "dispatch echo"), @"started | child-started c1 echo | ! start c1 echo of me | > child c1");
}

/// Proves D6: a repeated delivery, or one to a run that has ended, changes nothing.
#[test]
fn first_answer_is_received_once() {
    let one = "submit; dispatch echo";
    assert_snapshot!(outcome_after(one, "heard c1 start hello"), @r#"run-answered c1 Answered "hello" | ! drive"#);
    assert_snapshot!(outcome_after(&format!("{one}; ask amount"), "heard c1 start hello"), @r#"run-answered c1 Answered "hello" | ! drive"#);
    let heard = format!("{one}; heard c1 start hello");
    assert_snapshot!(outcome_after(&heard, "heard c1 start hello"), @"nothing");
    assert_snapshot!(outcome_after(&heard, "heard c1 mine next"), @r#"run-answered c1 to mine Answered "next" | ! drive"#);
    for end in ["return 5", "error oops", "cancel", "reject no"] {
        assert_eq!(outcome_after(&format!("{one}; {end}"), "heard c1 start hello"), "nothing", "{end}");
    }
}

/// Proves D3, D6: the errands of two answers may run in either order. The older answer is recorded too,
/// with the message that it answers.
#[test]
fn older_answer_is_received_after_a_newer_one() {
    let newer = "submit; dispatch echo; heard c1 mine next";
    assert_snapshot!(outcome_after(newer, "heard c1 start hello"), @r#"run-answered c1 Answered "hello" | ! drive"#);
    let both = format!("{newer}; heard c1 start hello");
    assert_snapshot!(outcome_after(&both, "heard c1 start hello"), @"nothing");
    assert_snapshot!(outcome_after(&both, "heard c1 mine next"), @"nothing");
    assert_snapshot!(outcome_after(&both, "heard c1 other last"), @r#"run-answered c1 to other Answered "last" | ! drive"#);
}

/// Proves D5: a status that refers to another run names only that run.
#[test]
fn a_reference_names_one_run() {
    let story = ScriptedRun::after_commands("submit; reference one; reference two");
    let messages = story.events().filter_map(|event| match event {
        Event::Status { message, .. } => Some(message),
        _ => None,
    });
    let messages: Vec<_> = messages.collect();
    assert_eq!(messages.len(), 2);
    for (message, text) in messages.iter().zip(["one", "two"]) {
        assert_eq!(message.references.len(), 1);
        assert_eq!(message.metadata["about"], text);
    }
}
