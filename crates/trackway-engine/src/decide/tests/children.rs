//! Children: started with a fixed id, reported once, cancelled with a parent that did not complete.

use insta::assert_snapshot;
use serde_json::json;
use trackway_domain::Event;

use super::{outcome_after, outcome_in_each_state};
use crate::fixture::ScriptedRun;

/// Proves L17: the parent's update refers only to this child.
#[test]
fn a_child_is_recorded_before_it_is_started() {
    assert_snapshot!(outcome_in_each_state("child echo"), @r#"
    submitted      started | child-started c1 echo, working "Started echo as c1" about c1 | ! start c1 echo of me | > child c1
    working        child-started c1 echo, working "Started echo as c1" about c1 | ! start c1 echo of me | > child c1
    input-required child-started c1 echo, input-required "Started echo as c1" about c1 | ! start c1 echo of me | > child c1
    auth-required  child-started c1 echo, auth-required "Started echo as c1" about c1 | ! start c1 echo of me | > child c1
    ended          X the run has ended (…)
    "#);
    let story = ScriptedRun::after_commands("submit; child echo; child review");
    let messages: Vec<_> = story
        .events()
        .filter_map(|event| match event {
            Event::ChildStarted { child, message, .. } => Some((*child, message.as_ref()?)),
            _ => None,
        })
        .collect();
    let names = ["echo", "review"];
    assert_eq!(messages.len(), names.len());
    for ((child, message), name) in messages.into_iter().zip(names) {
        assert_eq!(message.references, [child.to_string()]);
        let about = &message.metadata["referencedWorkflow"];
        assert_eq!(about, &json!({"workflowName": name, "description": format!("what {name} does")}));
    }
}

/// Proves L17: a child that the run does not wait for changes nothing.
#[test]
fn an_unknown_child_changes_nothing() {
    assert_snapshot!(outcome_in_each_state("child-ended c1 completed"), @"
    submitted      nothing
    working        nothing
    input-required nothing
    auth-required  nothing
    ended          nothing
    ");
}

/// Proves L17: a repeated delivery, or one to an ended parent, changes nothing.
#[test]
fn a_childs_end_drives_its_parent_once() {
    let one = "submit; child echo";
    assert_snapshot!(outcome_after(one, "child-ended c1 completed"), @"child-ended c1 completed | ! drive");
    assert_snapshot!(outcome_after(one, "child-ended c1 failed"), @"child-ended c1 failed | ! drive");
    assert_snapshot!(outcome_after("submit; child echo; ask amount", "child-ended c1 rejected"), @"child-ended c1 rejected | ! drive");
    let ended = "submit; child echo; child-ended c1 completed";
    assert_snapshot!(outcome_after(ended, "child-ended c1 completed"), @"nothing");
    assert_snapshot!(outcome_after("submit; child echo; cancel", "child-ended c1 canceled"), @"nothing");
}

/// Proves L17: every early end of a parent ends the children that are still open.
#[test]
fn a_parents_early_end_cancels_its_open_children() {
    let three = "submit deadline; child echo; child review; child echo; child-ended c2 completed";
    assert_snapshot!(outcome_after(three, "cancel"), @"canceled | ! stop | ! clear timers | ! owe: cancel c1 | ! owe: cancel c3");
    assert_snapshot!(outcome_after(three, "error oops"), @r#"failed "oops" | ! stop | ! clear timers | ! owe: cancel c1 | ! owe: cancel c3"#);
    assert_snapshot!(outcome_after(three, "reject no"), @r#"rejected "no" | ! stop | ! clear timers | ! owe: cancel c1 | ! owe: cancel c3"#);
    assert_snapshot!(outcome_after(three, "fire deadline"), @r#"failed "the run's deadline has passed" | ! stop | ! clear timers | ! owe: cancel c1 | ! owe: cancel c3"#);
    let asked = format!("{three}; ask amount");
    assert_snapshot!(outcome_after(&asked, "cancel"), @"canceled | ! stop | ! clear timers | ! owe: cancel c1 | ! owe: cancel c3");
}

/// Proves D2, L17: a dispatch continues if the run fails later; cancelling the run cancels it too.
#[test]
fn what_was_dispatched_outlives_a_parent_that_fails() {
    let both = "submit deadline; dispatch echo; child review";
    for end in ["error oops", "reject no", "fire deadline"] {
        let line = outcome_after(both, end);
        assert!(line.contains("cancel c2") && !line.contains("cancel c1"), "{end}: {line}");
    }
    let line = outcome_after(both, "cancel");
    assert!(line.contains("cancel c1") && line.contains("cancel c2"), "{line}");
}

/// Proves L17: the children of a completed parent continue.
#[test]
fn a_completed_parent_leaves_its_children() {
    assert_snapshot!(outcome_after("submit; child echo; child review", "return 5"), @"completed 5 | ! stop");
}
