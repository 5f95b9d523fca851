//! `Started`: once, before the first operation of a program, and never if the program did nothing.

use insta::assert_snapshot;
use trackway_domain::Event;

use super::{COMMANDS, STATES, outcome_after, outcome_in_each_state};
use crate::fixture::ScriptedRun;

/// Everything that a program can do first.
const FIRST: [&str; 14] = [
    "status hi",
    "artifact a.txt one",
    "append a.txt two",
    "ask amount",
    "ask form",
    "ask signature",
    "step pay",
    "note pay t-1",
    "retry pay",
    "draw 7",
    "sleep nap",
    "child echo",
    "return 5",
    "error oops",
];

fn started_events(story: &ScriptedRun) -> Vec<usize> {
    let at = story.events().enumerate();
    at.filter(|(_, event)| matches!(event, Event::Started)).map(|(index, _)| index).collect()
}

/// Proves L12, L13: a run is submitted once, and its deadline is a timer from then on.
#[test]
fn a_run_is_submitted_once() {
    assert_snapshot!(ScriptedRun::default().command_summary("submit"), @"submitted demo | ! drive");
    assert_snapshot!(ScriptedRun::default().command_summary("submit deadline"), @"submitted demo | ! drive | ! set deadline at 60000");
    assert_snapshot!(outcome_in_each_state("submit"), @"
    submitted      X the run exists already
    working        X the run exists already
    input-required X the run exists already
    auth-required  X the run exists already
    ended          X the run exists already
    ");
}

/// Proves L12: a run that does not exist accepts only its submission.
#[test]
fn nothing_happens_to_a_run_that_does_not_exist() {
    for command in COMMANDS.iter().filter(|command| **command != "submit") {
        let mut story = ScriptedRun::default();
        assert_eq!(story.command_summary(command), "X the run does not exist yet");
        assert!(story.log.is_empty());
    }
}

/// Proves L9, L13: `Started` is second in the log, before any first operation, and never repeated.
#[test]
fn a_start_comes_once_and_before_the_first_thing() {
    for first in FIRST {
        let mut story = ScriptedRun::after_commands(&format!("submit; {first}"));
        assert_eq!(started_events(&story), [1], "by {first}");
        for second in FIRST {
            let before = started_events(&story).len();
            let _ = story.try_scripted_command(second);
            assert_eq!(started_events(&story).len(), before, "{second} after {first}");
        }
    }
}

/// Proves L7, L9: a command that does not come from the program never leads to `working`.
#[test]
fn a_run_whose_program_did_nothing_never_started() {
    for command in COMMANDS.iter().filter(|command| !FIRST.contains(command)) {
        let mut story = ScriptedRun::after_commands("submit deadline");
        let _ = story.try_scripted_command(command);
        assert_eq!(started_events(&story), [0; 0], "by {command}");
    }
    assert_snapshot!(outcome_after("submit; say hello; park mismatch; unpark", "reject no"), @r#"rejected "no" | ! stop"#);
}

/// Proves L13: in no state does any command start a run again.
#[test]
fn nothing_starts_twice() {
    for (state, given) in STATES.iter().filter(|(state, _)| *state != "submitted") {
        for command in COMMANDS {
            let mut story = ScriptedRun::after_commands(given);
            let before = started_events(&story);
            let _ = story.try_scripted_command(command);
            assert_eq!(started_events(&story), before, "{command} in {state}");
        }
    }
}
