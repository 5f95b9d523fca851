//! Steps, their failed attempts, and recorded values.

use insta::assert_snapshot;

use super::outcome_in_each_state;

/// Proves L9, L13: a step is recorded while a question is open too, and never after the end.
#[test]
fn a_step_is_recorded() {
    assert_snapshot!(outcome_in_each_state("step pay"), @r#"
    submitted      started | step-done step:pay#0 "done"
    working        step-done step:pay#0 "done"
    input-required step-done step:pay#0 "done"
    auth-required  step-done step:pay#0 "done"
    ended          X the run has ended (…)
    "#);
}

/// Proves L9, L13: the pause before the next attempt is a timer.
#[test]
fn a_failed_attempt_sets_a_timer() {
    assert_snapshot!(outcome_in_each_state("retry pay"), @"
    submitted      started | step-attempt-failed step:pay#0 attempt 1 | ! set step:pay#0 at 60000
    working        step-attempt-failed step:pay#0 attempt 1 | ! set step:pay#0 at 60000
    input-required step-attempt-failed step:pay#0 attempt 1 | ! set step:pay#0 at 60000
    auth-required  step-attempt-failed step:pay#0 attempt 1 | ! set step:pay#0 at 60000
    ended          X the run has ended (…)
    ");
}

/// Proves L9, L13.
#[test]
fn a_drawn_value_is_recorded() {
    assert_snapshot!(outcome_in_each_state("draw 7"), @"
    submitted      started | value-recorded random:#0 7
    working        value-recorded random:#0 7
    input-required value-recorded random:#0 7
    auth-required  value-recorded random:#0 7
    ended          X the run has ended (…)
    ");
}
