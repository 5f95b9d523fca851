//! Return, error and cancel: from every open state, once, with all resources released.

use insta::assert_snapshot;
use trackway_domain::{CrossRunErrand, WorkflowRef};

use super::{COMMANDS, STATES, outcome_after, outcome_in_each_state};
use crate::{DecisionEffect, VisibleUpdate, fixture::ScriptedRun, visible_update};

/// Proves L10: an open question is withdrawn first, because an interrupted run cannot complete.
#[test]
fn a_return_completes() {
    assert_snapshot!(outcome_in_each_state("return 5"), @"
    submitted      started | completed 5 | ! stop | ! clear timers
    working        completed 5 | ! stop | ! clear timers
    input-required withdrawn q1 | completed 5 | ! stop | ! clear timers
    auth-required  withdrawn q1 | completed 5 | ! stop | ! clear timers
    ended          X the run has ended (…)
    ");
}

/// Proves L10.
#[test]
fn an_error_fails_with_its_message() {
    assert_snapshot!(outcome_in_each_state("error oops"), @r#"
    submitted      started | failed "oops" | ! stop | ! clear timers
    working        failed "oops" | ! stop | ! clear timers
    input-required withdrawn q1 | failed "oops" | ! stop | ! clear timers
    auth-required  withdrawn q1 | failed "oops" | ! stop | ! clear timers
    ended          X the run has ended (…)
    "#);
}

/// Proves L10, L12: the reply is the final state, from every open state.
#[test]
fn a_cancel_ends_at_once() {
    assert_snapshot!(outcome_in_each_state("cancel"), @"
    submitted      canceled | ! stop | ! clear timers
    working        canceled | ! stop | ! clear timers
    input-required canceled | ! stop | ! clear timers
    auth-required  canceled | ! stop | ! clear timers
    ended          X the run has ended (…)
    ");
}

/// Proves L13: after the end every command is refused or has no visible result.
#[test]
fn a_run_ends_once() {
    let ended = STATES.iter().filter(|(_, given)| ScriptedRun::after_commands(given).state().is_terminal());
    let mut tried = 0;
    for (state, given) in ended {
        for command in COMMANDS {
            let mut story = ScriptedRun::after_commands(given);
            let before = story.view().clone();
            let _ = story.try_scripted_command(command);
            assert_eq!(story.view(), &before, "{command} in {state}");
            let ends = story.events().filter(
                |event| matches!(visible_update(event), Some(VisibleUpdate::Status(status)) if status.last),
            );
            assert_eq!(ends.count(), 1, "{command} in {state}");
            tried += 1;
        }
    }
    assert_eq!(tried, 4 * COMMANDS.len());
}

/// Proves L10, L17: a parent is notified once, with everything that it needs to continue.
#[test]
fn a_childs_end_is_owed_to_its_parent() {
    assert_snapshot!(outcome_after("submit child; status on it", "return 5"), @"completed 5 | ! stop | ! owe: tell parent that me completed 5");
    assert_snapshot!(outcome_after("submit child; status on it", "error oops"), @r#"failed "oops" | ! stop | ! owe: tell parent that me failed "oops""#);
    assert_snapshot!(outcome_after("submit child; status on it", "reject no"), @r#"rejected "no" | ! stop | ! owe: tell parent that me rejected "no""#);
    assert_snapshot!(outcome_after("submit child; status on it", "cancel"), @"canceled | ! stop | ! owe: tell parent that me canceled");
    assert_snapshot!(outcome_after("submit child; cancel", "cancel"), @"X the run has ended (canceled)");
}

/// Proves T16: if something else ends a run, its exit steps become an errand; if its program ends it, the
/// program has run them.
#[test]
fn exit_steps_are_owed_where_the_program_cannot_run_them() {
    let exit = WorkflowRef { name: "sample.exit".to_owned(), version: "1".to_owned() };
    for (command, owed) in [
        ("cancel", Some("canceled")),
        ("fire deadline", Some("failed")),
        ("return 5", None),
        ("error oops", None),
        ("reject no", None),
    ] {
        for (state, given) in
            STATES.iter().filter(|(_, given)| !ScriptedRun::after_commands(given).state().is_terminal())
        {
            let mut story = ScriptedRun::after_commands(given);
            story.run.as_mut().unwrap().submission.exit = Some(exit.clone());
            let decision = story.try_scripted_command(command).unwrap();
            let ends = decision.effects.iter().find_map(|effect| match effect {
                DecisionEffect::AddErrand(CrossRunErrand::RunExit { workflow, input, .. }) => {
                    assert_eq!(*workflow, exit);
                    input["ended"].as_str()
                }
                _ => None,
            });
            assert_eq!(ends, owed, "{command} in {state}");
        }
    }
}
