//! Children that wait for a person, imported runs, and the final text of a run.

use insta::assert_snapshot;
use trackway_domain::{Event, StateName};

use super::outcome_after;
use crate::{fixture::ScriptedRun, visible_update};

/// Proves L17: a child that asks notifies its parent, and notifies it again when it continues.
#[test]
fn a_child_that_waits_tells_its_parent() {
    assert_snapshot!(outcome_after("submit child", "ask amount"), @r#"started | asked q1 input-required "How much?" | ! owe: tell parent that me waits: "How much?" | > asked q1"#);
    let asked = "submit child; ask amount";
    for (end, waits) in [
        ("answer amount=5", false),
        ("withdraw q1", false),
        ("cancel", false),
        ("reject no", false),
        ("return 1", false),
        ("answer amount=0", true),
        ("status hi", true),
    ] {
        let line = outcome_after(asked, end);
        assert_eq!(line.matches("me goes on").count(), usize::from(!waits), "{end}: {line}");
    }
    // A dispatch delivers its question with its first answer, and the turn reports it.
    assert!(!outcome_after("submit awaited", "ask amount").contains("waits"));
    assert!(!outcome_after("submit", "ask amount").contains("waits"));
}

/// Proves L17: a notification that is out of order, repeated, or after the end changes nothing.
#[test]
fn a_parent_hears_of_a_waiting_child_once() {
    let one = "submit; child echo";
    assert_snapshot!(outcome_after(one, "waits c1 3 hm"), @r#"child-waits c1 working "hm""#);
    let waits = format!("{one}; waits c1 3 hm");
    assert_snapshot!(outcome_after(&waits, "waits c1 3 hm"), @"nothing");
    assert_snapshot!(outcome_after(&waits, "goes-on c1 4"), @"child-resumed c1");
    assert_snapshot!(outcome_after(&format!("{waits}; goes-on c1 4"), "waits c1 3 hm"), @"nothing");
    assert_snapshot!(outcome_after(one, "goes-on c1 4"), @"nothing");
    assert_snapshot!(outcome_after(&format!("{one}; child-ended c1 completed"), "waits c1 3 hm"), @"nothing");
    assert_snapshot!(outcome_after(&format!("{waits}; cancel"), "goes-on c1 4"), @"nothing");
    // A run in the middle forwards the notification.
    let middle = outcome_after("submit child; child echo", "waits c1 3 hm");
    assert!(middle.contains(r#"owe: tell parent that c1 waits: "hm""#), "{middle}");
}

/// Proves L14, L17: the parent names the child for as long as it waits, and its own question comes first.
#[test]
fn a_parent_shows_the_child_that_waits() {
    let mut story =
        ScriptedRun::after_commands("submit; child echo; child echo; waits c1 3 one; waits c2 3 two");
    let shown = |story: &ScriptedRun| story.view().status_message().map(|it| it.references.clone());
    let children: Vec<_> = story.children().iter().map(ToString::to_string).collect();
    assert_eq!(shown(&story), Some(vec![children[1].clone()]));
    assert_eq!(story.view().waiting_descendant_runs().count(), 2);
    story.try_scripted_command("goes-on c2 4").unwrap();
    assert_eq!(shown(&story), Some(vec![children[0].clone()]), "the other one still waits");
    story.try_scripted_command("child-ended c1 completed").unwrap();
    assert_eq!((shown(&story), story.view().waiting_descendant_runs().count()), (None, 0));
    assert_eq!(story.view().state, StateName::Working);
    let mut asks = ScriptedRun::after_commands("submit; child echo; ask amount");
    asks.try_scripted_command("waits c1 3 one").unwrap();
    assert!(asks.view().status_message().unwrap().metadata.contains_key("questionId"));
}

/// Proves L14: an answer is not accepted before the program has processed the whole log.
#[test]
fn an_answer_waits_for_a_program_that_has_not_seen_everything() {
    let asked = "submit; sleep nap; ask amount; fire sleep:nap#0";
    assert_snapshot!(outcome_after(asked, "answer too-early amount=5"), @"X the program has not processed the whole log yet");
    assert_snapshot!(outcome_after(asked, "answer amount=5"), @r#"resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary"#);
    let withdrawn = format!("{asked}; withdraw q1");
    assert_snapshot!(outcome_after(&withdrawn, "answer too-early amount=5"), @"late-answer q1 #1 alone | > q1 #1 alone");
}

/// Proves L10: a text that a run returns is the message of its end, unless an artifact already has
/// content.
#[test]
fn a_returned_text_is_the_message_of_the_end() {
    assert_snapshot!(outcome_after("submit", "return hello"), @r#"started | completed "hello" says it | ! stop"#);
    assert_snapshot!(outcome_after("submit; artifact a one", "return hello"), @r#"completed "hello" | ! stop"#);
    assert_snapshot!(outcome_after("submit", "return 5"), @"started | completed 5 | ! stop");
    let story = ScriptedRun::after_commands("submit; return hello");
    assert_eq!(story.view().status_message().unwrap().parts[0].as_text(), Some("hello"));
}

/// Nothing happens to an imported run until a caller adopts it.
#[test]
fn an_imported_run_waits_to_be_adopted() {
    let imported = |given: &str| {
        let mut story = ScriptedRun::after_commands(given);
        story.run.as_mut().unwrap().apply_event(&Event::Imported).unwrap();
        story
    };
    assert!(visible_update(&Event::Imported).is_none());
    let mut story = imported("submit; sleep nap; ask amount");
    assert_snapshot!(story.command_summary("answer amount=5"), @"X the run was imported and is not adopted yet");
    assert_snapshot!(story.command_summary("adopt"), @"adopted | ! set sleep:nap#0 at 60000 | ! drive");
    assert_snapshot!(story.command_summary("adopt"), @"nothing");
    assert_snapshot!(story.command_summary("answer amount=5"), @r#"resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary"#);
    assert_snapshot!(imported("submit; ask amount").command_summary("cancel"), @"canceled | ! stop");
    assert_snapshot!(outcome_after("submit; return 1", "adopt"), @"X the run has ended (completed)");
    // An agent can continue a guided run that is complete.
    assert_snapshot!(imported("submit; return 1").command_summary("adopt"), @"adopted | ! drive");
}
