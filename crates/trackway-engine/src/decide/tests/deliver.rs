//! A caller's message: which question it goes to, and which schema checks it.

use insta::assert_snapshot;

use super::{outcome_after, outcome_in_each_state};

/// Proves L14, L9: the open question's schema decides; a valid answer resumes and drives.
#[test]
fn an_answer_goes_to_the_open_question() {
    assert_snapshot!(outcome_in_each_state("answer amount=5"), @r#"
    submitted      noted (data) | > noted
    working        noted (data) | > noted
    input-required resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary
    auth-required  refused q1 #1 alone (wrong: /signature required) | > q1 #1 alone (wrong: /signature required)
    ended          X the run has ended (…)
    "#);
    assert_snapshot!(outcome_in_each_state("answer signature=me"), @r#"
    submitted      noted (data) | > noted
    working        noted (data) | > noted
    input-required refused q1 #1 alone (wrong: /amount required) | > q1 #1 alone (wrong: /amount required)
    auth-required  resumed q1 #1 alone {"signature":"me"} | ! drive | > q1 #1 alone primary
    ended          X the run has ended (…)
    "#);
}

/// Proves L14, L13: a message that answers nothing joins the history; an ended run accepts none.
#[test]
fn a_message_that_answers_nothing_is_noted() {
    assert_snapshot!(outcome_in_each_state("say hello"), @r#"
    submitted      noted "hello" | > noted
    working        noted "hello" | > noted
    input-required refused q1 #1 alone (wrong:  type) | > q1 #1 alone (wrong:  type)
    auth-required  resumed q1 #1 alone {"signature":"hello"} | ! drive | > q1 #1 alone primary
    ended          X the run has ended (…)
    "#);
}

/// Proves L14: every problem is reported, the run keeps its state, and a later valid answer works.
#[test]
fn an_invalid_answer_is_refused_and_a_valid_one_still_resumes() {
    let asked = "submit; ask amount";
    assert_snapshot!(outcome_after(asked, "answer amount=0"), @"refused q1 #1 alone (wrong: /amount exclusiveMinimum) | > q1 #1 alone (wrong: /amount exclusiveMinimum)");
    assert_snapshot!(outcome_after(asked, "answer amount=many"), @"refused q1 #1 alone (wrong: /amount type) | > q1 #1 alone (wrong: /amount type)");
    assert_snapshot!(outcome_after(asked, "answer sum=5"), @"refused q1 #1 alone (wrong: /amount required) | > q1 #1 alone (wrong: /amount required)");
    assert_snapshot!(outcome_after("submit; ask amount; answer amount=0; answer sum=5", "answer amount=5"), @r#"resumed q1 #3 alone {"amount":5} | ! drive | > q1 #3 alone primary"#);
}

/// Proves L14: text can answer a schema that requires one string, and no other schema.
#[test]
fn a_text_answers_a_question_for_one_value() {
    assert_snapshot!(outcome_after("submit; ask signature", "say 0xabc"), @r#"resumed q1 #1 alone {"signature":"0xabc"} | ! drive | > q1 #1 alone primary"#);
    assert_snapshot!(outcome_after("submit; ask amount", "say 5"), @r#"resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary"#);
    assert_snapshot!(outcome_after("submit; ask amount", "say five"), @"refused q1 #1 alone (wrong:  type) | > q1 #1 alone (wrong:  type)");
}

/// Proves L16: an answer that names its question is checked against it as long as the question is
/// known.
#[test]
fn an_answer_can_name_its_question() {
    assert_snapshot!(outcome_after("submit; ask amount", "answer q1 amount=5"), @r#"resumed q1 #1 alone {"amount":5} | ! drive | > q1 #1 alone primary"#);
    assert_snapshot!(outcome_after("submit; ask amount", "answer q2 amount=5"), @"X this run never asked question qst_ffffffffffffffffffffffffffffffff");
    assert_snapshot!(outcome_after("submit", "answer q1 amount=5"), @"X this run never asked question qst_ffffffffffffffffffffffffffffffff");
    assert_snapshot!(outcome_after("submit; return 1", "answer q1 amount=5"), @"X this run never asked question qst_ffffffffffffffffffffffffffffffff");
}

/// Proves L16, L14: an answer to an earlier question is never checked against the next one's
/// schema.
#[test]
fn an_answer_is_never_judged_by_the_next_question() {
    let second = "submit; ask amount; answer amount=5; ask signature";
    assert_snapshot!(outcome_after(second, "answer q1 amount=7"), @"late-answer q1 #2 concurrent | > q1 #2 concurrent");
    assert_snapshot!(outcome_after(second, "answer q1 signature=me"), @"late-answer q1 #2 concurrent (wrong: /amount required) | > q1 #2 concurrent (wrong: /amount required)");
    assert_snapshot!(outcome_after(second, "answer q2 signature=me"), @r#"resumed q2 #1 alone {"signature":"me"} | ! drive | > q2 #1 alone primary"#);
    assert_snapshot!(outcome_after(second, "answer signature=me"), @r#"resumed q2 #1 alone {"signature":"me"} | ! drive | > q2 #1 alone primary"#);
    assert_snapshot!(outcome_after(second, "answer amount=7"), @"refused q2 #1 alone (wrong: /signature required) | > q2 #1 alone (wrong: /signature required)");
}
