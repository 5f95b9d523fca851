//! Notes of steps without an outcome: recorded once, released when the run ends, never after the outcome.

use insta::assert_snapshot;
use serde_json::{Value, json};
use trackway_domain::{
    CallChain, CrossRunErrand, Event, Op, RunCommand, STEP_NOTE_BYTES_MAX, STEP_NOTES_MAX,
};

use super::{outcome_after, outcome_in_each_state};
use crate::{DecisionEffect, ForkOptions, fixture::ScriptedRun, fork_run, is_visible};

/// Proves L9, L13: a note is recorded while a question is open too, and never after the end.
#[test]
fn a_note_is_recorded() {
    assert_snapshot!(outcome_in_each_state("note pay t-1"), @r#"
    submitted      started | step-noted step:pay#0 "t-1"
    working        step-noted step:pay#0 "t-1"
    input-required step-noted step:pay#0 "t-1"
    auth-required  step-noted step:pay#0 "t-1"
    ended          X the run has ended (…)
    "#);
    assert_snapshot!(outcome_after("submit; note pay t-1", "note pay t-1"), @"nothing");
    assert_snapshot!(outcome_after("submit; note pay t-1", "note pay t-2"), @r#"step-noted step:pay#0 "t-2""#);
    assert_snapshot!(outcome_after("submit; note pay t-1", "note pay null"), @"step-noted step:pay#0 null");
    assert_snapshot!(outcome_after("submit", "note pay null"), @"nothing");
}

/// Proves L10: whatever ends the run, what an unfinished step began elsewhere is owed a release.
#[test]
fn an_end_owes_the_release_of_every_open_note() {
    let noted = "submit deadline; note pay t-1; note ship t-2";
    assert_snapshot!(outcome_after(noted, "cancel"), @r#"canceled | ! stop | ! clear timers | ! owe: release step:pay#0 "t-1" | ! owe: release step:ship#0 "t-2""#);
    assert_snapshot!(outcome_after(noted, "return 5"), @r#"completed 5 | ! stop | ! clear timers | ! owe: release step:pay#0 "t-1" | ! owe: release step:ship#0 "t-2""#);
    assert_snapshot!(outcome_after(noted, "error oops"), @r#"failed "oops" | ! stop | ! clear timers | ! owe: release step:pay#0 "t-1" | ! owe: release step:ship#0 "t-2""#);
    assert_snapshot!(outcome_after(noted, "reject no"), @r#"rejected "no" | ! stop | ! clear timers | ! owe: release step:pay#0 "t-1" | ! owe: release step:ship#0 "t-2""#);
    assert_snapshot!(outcome_after(noted, "fire deadline"), @r#"failed "the run's deadline has passed" | ! stop | ! clear timers | ! owe: release step:pay#0 "t-1" | ! owe: release step:ship#0 "t-2""#);
}

/// Proves L10: a step that gives up what it began elsewhere owes its release at once, and once; the step itself
/// goes on to its outcome.
#[test]
fn a_step_gives_up_what_it_began() {
    assert_snapshot!(outcome_after("submit; note pay t-1", "release pay gone"), @r#"step-noted step:pay#0 "gone" | ! owe: release step:pay#0 "gone""#);
    assert_snapshot!(outcome_after("submit", "release pay gone"), @r#"started | step-noted step:pay#0 "gone" | ! owe: release step:pay#0 "gone""#);
    assert_snapshot!(outcome_after("submit; release pay gone", "release pay gone"), @"nothing");
    assert_snapshot!(outcome_after("submit; note pay t-1", "release pay null"), @"step-noted step:pay#0 null");
    assert_snapshot!(outcome_after("submit; release pay gone; step pay", "cancel"), @"canceled | ! stop");
    assert_snapshot!(outcome_after("submit; cancel", "release pay gone"), @"X the run has ended (canceled)");
}

/// Proves L10: a step that has its outcome, or has removed its note, owes nothing; the newest note counts,
/// also after a failed attempt.
#[test]
fn only_the_newest_note_of_an_unfinished_step_is_released() {
    assert_snapshot!(outcome_after("submit; note pay t-1; step pay", "cancel"), @"canceled | ! stop");
    assert_snapshot!(outcome_after("submit; note pay t-1; note pay null", "cancel"), @"canceled | ! stop");
    assert_snapshot!(outcome_after("submit; note pay t-1; note pay t-2; retry pay", "cancel"), @r#"canceled | ! stop | ! clear timers | ! owe: release step:pay#0 "t-2""#);
    assert_snapshot!(outcome_after("submit; note pay t-1; cancel", "cancel"), @"X the run has ended (canceled)");
}

/// Proves T16: what an imported run left elsewhere belongs to the store that it came from.
#[test]
fn an_import_that_nobody_adopted_releases_nothing() {
    let mut story = ScriptedRun::after_commands("submit; note pay t-1");
    story.run.as_mut().unwrap().imported = true;
    assert_snapshot!(story.command_summary("cancel"), @"canceled | ! stop");
}

#[test]
fn a_note_too_large_and_one_too_many_are_refused() {
    let mut story = ScriptedRun::after_commands("submit; status on it");
    let note = |key: &str, note: Value| RunCommand::NoteStep { op: op(key), note };
    let large = Value::from("x".repeat(STEP_NOTE_BYTES_MAX));
    let refused = story.apply_command(note("pay", large)).unwrap_err().to_string();
    assert_snapshot!(refused, @"the note has 16386 bytes; the limit is 16384");
    for number in 0..STEP_NOTES_MAX {
        story.apply_command(note(&number.to_string(), json!(number))).unwrap();
    }
    let refused = story.apply_command(note("pay", json!(1))).unwrap_err().to_string();
    assert_snapshot!(refused, @"256 steps of this run have a note and no outcome; no more can be recorded");
    // A step that has a note can replace it, and one that ends makes room.
    story.apply_command(note("0", json!("newer"))).unwrap();
    story.try_scripted_command("step 1").unwrap();
    story.apply_command(note("pay", json!(1))).unwrap();
    assert_eq!(story.run.as_ref().unwrap().step_notes.len(), STEP_NOTES_MAX);
}

/// Proves T16: a fork does not share what the original's step began elsewhere.
#[test]
fn a_fork_drops_the_notes_of_unfinished_steps() {
    let story = ScriptedRun::after_commands("submit; note pay t-1; step pay; note ship t-2; status on it");
    let log: Vec<&Event> = story.events().collect();
    let (id, now) = (trackway_domain::RunId::new(uuid::Uuid::from_u128(77)), story.log[0].1);
    let forked = fork_run(&log, ForkOptions { id, at: None, session: None, now }).unwrap();
    assert_eq!(forked.copied, log.len());
    assert_eq!(forked.events[forked.copied..], [Event::StepNoted { op: op("ship"), note: Value::Null }]);
    assert!(forked.run.step_notes.is_empty());
    // A copy of a run that has ended has nothing to drop.
    let mut story = story;
    story.try_scripted_command("cancel").unwrap();
    let log: Vec<&Event> = story.events().collect();
    let session = trackway_domain::SessionId::new("other").ok();
    let copy = fork_run(&log, ForkOptions { id, at: None, session, now }).unwrap();
    assert_eq!(copy.events.len(), copy.copied);
}

/// Nobody sees a note.
#[test]
fn a_note_is_not_visible() {
    assert!(!is_visible(&Event::StepNoted { op: op("pay"), note: json!(1) }));
    let with = ScriptedRun::after_commands("submit; status on it; note pay t-1");
    let without = ScriptedRun::after_commands("submit; status on it");
    assert_eq!(with.view().generation, without.view().generation);
    assert_eq!(with.view().status_time(), without.view().status_time());
}

/// A child, and the exit steps of a run, are in the call chain of the run.
#[test]
fn what_a_run_starts_is_in_its_call_chain() {
    let chain = CallChain::default().extend("http://orders.example/");
    let mut story = ScriptedRun::after_commands("submit; status on it");
    let submission = &mut story.run.as_mut().unwrap().submission;
    submission.call_chain = chain.clone();
    submission.exit = Some(submission.workflow.clone());
    let started = story.try_scripted_command("child echo").unwrap();
    let exited = story.try_scripted_command("cancel").unwrap();
    let inherited: Vec<&CallChain> = started
        .effects
        .iter()
        .chain(&exited.effects)
        .filter_map(|effect| match effect {
            DecisionEffect::StartChild(child) => Some(&child.call_chain),
            DecisionEffect::AddErrand(CrossRunErrand::RunExit { call_chain, .. }) => Some(call_chain),
            _ => None,
        })
        .collect();
    assert_eq!(inherited, [&chain, &chain]);
}

fn op(key: &str) -> Op {
    format!("step:{key}#0").parse().unwrap()
}
