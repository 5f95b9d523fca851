//! What each of the four yields does in each state.

use insta::assert_snapshot;

use super::{outcome_after, outcome_in_each_state};
use crate::fixture::ScriptedRun;

/// Proves L3, L7, L13: a status-update keeps the current state, and nothing is published after the
/// end.
#[test]
fn a_status_update_keeps_the_state() {
    assert_snapshot!(outcome_in_each_state("status hi"), @r#"
    submitted      started | status working "hi"
    working        status working "hi"
    input-required status input-required "hi"
    auth-required  status auth-required "hi"
    ended          X the run has ended (…)
    "#);
}

/// Proves L4.
#[test]
fn an_artifact_is_published_as_it_is_yielded() {
    assert_snapshot!(outcome_in_each_state("artifact a.txt one"), @r#"
    submitted      started | artifact a.txt = "one"
    working        artifact a.txt = "one"
    input-required artifact a.txt = "one"
    auth-required  artifact a.txt = "one"
    ended          X the run has ended (…)
    "#);
    assert_snapshot!(outcome_in_each_state("append a.txt two"), @r#"
    submitted      started | artifact a.txt += "two"
    working        artifact a.txt += "two"
    input-required artifact a.txt += "two"
    auth-required  artifact a.txt += "two"
    ended          X the run has ended (…)
    "#);
}

/// Proves L6, L12: a question moves to its reason's state; a second one while it is open is
/// illegal.
#[test]
fn a_question_interrupts() {
    assert_snapshot!(outcome_in_each_state("ask amount"), @r#"
    submitted      started | asked q1 input-required "How much?" | > asked q1
    working        asked q1 input-required "How much?" | > asked q1
    input-required X a run that is input-required cannot become input-required (event: asked)
    auth-required  X a run that is auth-required cannot become input-required (event: asked)
    ended          X the run has ended (…)
    "#);
    assert_snapshot!(outcome_in_each_state("ask signature"), @r#"
    submitted      started | asked q1 auth-required "Please sign" | > asked q1
    working        asked q1 auth-required "Please sign" | > asked q1
    input-required X a run that is input-required cannot become auth-required (event: asked)
    auth-required  X a run that is auth-required cannot become auth-required (event: asked)
    ended          X the run has ended (…)
    "#);
}

/// Proves L5: the artifact comes first, and a refused question leaves no artifact.
#[test]
fn a_question_with_an_artifact_shows_it_first() {
    assert_snapshot!(outcome_in_each_state("ask form"), @r#"
    submitted      started | artifact form.json = "preview" | asked q1 input-required "How much?" | > asked q1
    working        artifact form.json = "preview" | asked q1 input-required "How much?" | > asked q1
    input-required X a run that is input-required cannot become input-required (event: asked)
    auth-required  X a run that is auth-required cannot become input-required (event: asked)
    ended          X the run has ended (…)
    "#);
}

/// Proves L7: from `submitted` without `working`, from every other open state at once.
#[test]
fn a_reject_ends_the_run() {
    assert_snapshot!(outcome_in_each_state("reject no"), @r#"
    submitted      rejected "no" | ! stop | ! clear timers
    working        rejected "no" | ! stop | ! clear timers
    input-required rejected "no" | ! stop | ! clear timers
    auth-required  rejected "no" | ! stop | ! clear timers
    ended          X the run has ended (…)
    "#);
}

/// Proves L15, L4: each artifact as it comes, then the question alone.
#[test]
fn several_artifacts_then_a_question() {
    let given = "submit; artifact risk.json r; artifact opportunity.json o; \
                 artifact recommendation.json c; ask amount";
    let story = ScriptedRun::after_commands(given);
    assert_snapshot!(story.render_log(), @r#"
    submitted demo
    started
    artifact risk.json = "r"
    artifact opportunity.json = "o"
    artifact recommendation.json = "c"
    asked q1 input-required "How much?"
    "#);
    let ids: Vec<_> = story.view().artifacts.iter().map(|a| a.id.as_str()).collect();
    assert_eq!(ids, ["risk.json", "opportunity.json", "recommendation.json"]);
}

/// Proves L9: a program that stops waiting continues, once; a later withdrawal, or one of another
/// question, changes nothing.
#[test]
fn a_question_is_withdrawn_once() {
    assert_snapshot!(outcome_in_each_state("withdraw q1"), @"
    submitted      nothing
    working        nothing
    input-required withdrawn q1 | ! drive
    auth-required  withdrawn q1 | ! drive
    ended          nothing
    ");
    assert_snapshot!(outcome_after("submit; ask amount; answer amount=5", "withdraw q1"), @"nothing");
    assert_snapshot!(outcome_after("submit; ask amount; withdraw q1", "withdraw q1"), @"nothing");
    let two = "submit; ask amount; answer amount=5; ask signature";
    assert_snapshot!(outcome_after(two, "withdraw q1"), @"nothing");
    assert_snapshot!(outcome_after(two, "withdraw q2"), @"withdrawn q2 | ! drive");
}
