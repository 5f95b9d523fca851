//! Parking and unparking: the state stays, and a repetition records nothing.

use insta::assert_snapshot;

use super::{outcome_after, outcome_in_each_state};

/// Proves L12: the run keeps its state and says why it waits.
#[test]
fn a_run_is_parked_in_the_state_it_has() {
    assert_snapshot!(outcome_in_each_state("park mismatch"), @r#"
    submitted      parked submitted "mismatch"
    working        parked working "mismatch"
    input-required parked input-required "mismatch"
    auth-required  parked auth-required "mismatch"
    ended          X the run has ended (…)
    "#);
}

/// Proves L12: a run that is not parked has nothing to unpark.
#[test]
fn only_a_parked_run_is_unparked() {
    assert_snapshot!(outcome_in_each_state("unpark"), @"
    submitted      nothing
    working        nothing
    input-required nothing
    auth-required  nothing
    ended          nothing
    ");
}

/// Proves L13: each start of the server tries again without growing the log.
#[test]
fn parking_is_idempotent() {
    let parked = "submit; status on it; park mismatch";
    assert_snapshot!(outcome_after(parked, "park mismatch"), @"nothing");
    assert_snapshot!(outcome_after(parked, "park another"), @r#"parked working "another""#);
    assert_snapshot!(outcome_after(parked, "unpark"), @"unparked");
    assert_snapshot!(outcome_after("submit; park mismatch; unpark", "unpark"), @"nothing");
    assert_snapshot!(outcome_after("submit; park mismatch; unpark", "park mismatch"), @r#"parked submitted "mismatch""#);
}

/// Proves L10, L14: a parked run can be answered and cancelled.
#[test]
fn parked_run_still_takes_messages() {
    assert_snapshot!(outcome_after("submit; ask amount; park mismatch", "answer amount=5"), @r#"resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary"#);
    assert_snapshot!(outcome_after("submit; ask amount; park mismatch", "answer amount=0"), @"refused q1 #1 alone (wrong: /amount exclusiveMinimum) | > q1 #1 alone (wrong: /amount exclusiveMinimum)");
    assert_snapshot!(outcome_after("submit; status on it; park mismatch", "cancel"), @"canceled | ! stop");
    assert_snapshot!(outcome_after("submit; park mismatch; cancel", "unpark"), @"nothing");
}

/// Proves L14: an answer that the program could not read does not block the run for ever.
#[test]
fn an_answer_that_could_not_be_read_is_replaced() {
    let parked = "submit; ask amount; answer amount=5; unreadable q1";
    assert_snapshot!(outcome_after(parked, "answer amount=7"), @r#"resumed q1 #2 concurrent {"amount":7} instead | ! drive | > q1 #2 concurrent primary"#);
    assert_snapshot!(outcome_after(parked, "answer q1 amount=7"), @r#"resumed q1 #2 concurrent {"amount":7} instead | ! drive | > q1 #2 concurrent primary"#);
    assert_snapshot!(outcome_after(parked, "answer amount=0"), @"late-answer q1 #2 concurrent (wrong: /amount exclusiveMinimum) | > q1 #2 concurrent (wrong: /amount exclusiveMinimum)");
    let gone_on = "submit; ask amount; answer amount=5; ask signature; answer signature=me; unreadable q1";
    assert_snapshot!(outcome_after(gone_on, "answer q1 amount=7"), @"late-answer q1 #2 concurrent | > q1 #2 concurrent");
    let other = "submit; ask amount; answer amount=5; park mismatch";
    assert_snapshot!(outcome_after(other, "answer amount=7"), @"late-answer q1 #2 concurrent | > q1 #2 concurrent");
}
