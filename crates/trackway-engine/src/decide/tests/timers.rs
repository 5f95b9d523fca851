//! Sleeps, pauses before a next attempt, and the deadline.

use insta::assert_snapshot;

use super::{outcome_after, outcome_in_each_state};

/// Proves L9: a sleep starts a run like any other operation.
#[test]
fn a_sleep_sets_a_timer() {
    assert_snapshot!(outcome_in_each_state("sleep nap"), @"
    submitted      started | slept sleep:nap#0 | ! set sleep:nap#0 at 60000
    working        slept sleep:nap#0 | ! set sleep:nap#0 at 60000
    input-required slept sleep:nap#0 | ! set sleep:nap#0 at 60000
    auth-required  slept sleep:nap#0 | ! set sleep:nap#0 at 60000
    ended          X the run has ended (…)
    ");
}

/// Proves L13: firing a timer that is not set only clears it.
#[test]
fn unknown_timer_is_only_cleared() {
    assert_snapshot!(outcome_in_each_state("fire sleep:nap#0"), @"
    submitted      ! clear sleep:nap#0
    working        ! clear sleep:nap#0
    input-required ! clear sleep:nap#0
    auth-required  ! clear sleep:nap#0
    ended          ! clear sleep:nap#0
    ");
}

/// Proves L13: a timer fires once, for a sleep and for a step's next attempt.
#[test]
fn a_timer_fires_once() {
    let wake = "fire sleep:nap#0";
    assert_snapshot!(outcome_after("submit; sleep nap", wake), @"woke sleep:nap#0 | ! clear sleep:nap#0 | ! drive");
    assert_snapshot!(outcome_after("submit; sleep nap; fire sleep:nap#0", wake), @"! clear sleep:nap#0");
    assert_snapshot!(outcome_after("submit; sleep nap", "fire sleep:rest#0"), @"! clear sleep:rest#0");
    assert_snapshot!(outcome_after("submit; retry pay", "fire step:pay#0"), @"woke step:pay#0 | ! clear step:pay#0 | ! drive");
    assert_snapshot!(outcome_after("submit; retry pay; fire step:pay#0", "fire step:pay#0"), @"! clear step:pay#0");
    assert_snapshot!(outcome_after("submit; retry pay; fire step:pay#0; retry pay", "fire step:pay#0"), @"woke step:pay#0 | ! clear step:pay#0 | ! drive");
}

/// Proves L13: a timer also fires while a question is open, but not after the end.
#[test]
fn a_timer_fires_beside_a_question_but_not_after_the_end() {
    assert_snapshot!(outcome_after("submit; sleep nap; ask amount", "fire sleep:nap#0"), @"woke sleep:nap#0 | ! clear sleep:nap#0 | ! drive");
    assert_snapshot!(outcome_after("submit; sleep nap; cancel", "fire sleep:nap#0"), @"! clear sleep:nap#0");
}

/// Proves L10, L12: an interrupted run withdraws its question and fails; a run that never started
/// does not become `working`.
#[test]
fn a_deadline_fails_the_run() {
    assert_snapshot!(outcome_in_each_state("fire deadline"), @r#"
    submitted      failed "the run's deadline has passed" | ! stop | ! clear timers
    working        failed "the run's deadline has passed" | ! stop | ! clear timers
    input-required withdrawn q1 | failed "the run's deadline has passed" | ! stop | ! clear timers
    auth-required  withdrawn q1 | failed "the run's deadline has passed" | ! stop | ! clear timers
    ended          ! clear deadline
    "#);
    assert_snapshot!(outcome_after("submit", "fire deadline"), @"! clear deadline");
}
