//! Concurrent requests to one question, and late ones.

use insta::assert_snapshot;
use trackway_domain::Event;

use super::outcome_after;
use crate::fixture::ScriptedRun;

/// Proves L16: a request is alone unless another was being processed or had been accepted before.
#[test]
fn requests_are_ordered_and_the_first_valid_one_resumes() {
    let mut story = ScriptedRun::after_commands("submit; ask amount");
    let answers = [
        story.command_summary("answer amount=0"),
        story.command_summary("answer amount=1"),
        story.command_summary("answer amount=2"),
        story.command_summary("answer q1 amount=-1"),
    ];
    assert_snapshot!(answers.join("\n"), @r#"
    refused q1 #1 alone (wrong: /amount exclusiveMinimum) | > q1 #1 alone (wrong: /amount exclusiveMinimum)
    resumed q1 #2 alone {"amount":1} | ! drive | > q1 #2 alone primary
    late-answer q1 #3 concurrent | > q1 #3 concurrent
    late-answer q1 #4 concurrent (wrong: /amount exclusiveMinimum) | > q1 #4 concurrent (wrong: /amount exclusiveMinimum)
    "#);
}

/// Proves L16: the first request is concurrent too if others are being processed.
#[test]
fn a_first_request_among_others_is_concurrent() {
    assert_snapshot!(outcome_after("submit; ask amount", "answer among-others amount=5"), @r#"resumed q1 #1 concurrent {"amount":5} | ! drive | > q1 #1 concurrent primary"#);
    assert_snapshot!(outcome_after("submit; ask amount", "answer among-others amount=0"), @"refused q1 #1 concurrent (wrong: /amount exclusiveMinimum) | > q1 #1 concurrent (wrong: /amount exclusiveMinimum)");
}

/// Proves L16: each question counts its own requests.
#[test]
fn orders_are_counted_per_question() {
    let story = ScriptedRun::after_commands(
        "submit; ask amount; answer amount=0; answer amount=1; answer amount=2; ask signature; \
         answer q1 amount=3; answer amount=4; answer signature=me; answer q1 amount=5",
    );
    assert_snapshot!(story.render_log(), @r#"
    submitted demo
    started
    asked q1 input-required "How much?"
    refused q1 #1 alone (wrong: /amount exclusiveMinimum)
    resumed q1 #2 alone {"amount":1}
    late-answer q1 #3 concurrent
    asked q2 auth-required "Please sign"
    late-answer q1 #4 concurrent
    refused q2 #1 alone (wrong: /signature required)
    resumed q2 #2 alone {"signature":"me"}
    late-answer q1 #5 concurrent
    "#);
}

/// Proves L16: while the run continues, unnamed requests are late for the question answered last.
#[test]
fn a_request_while_working_after_an_answer_is_late() {
    let working = "submit; ask amount; answer amount=5";
    assert_snapshot!(outcome_after(working, "answer amount=6"), @"late-answer q1 #2 concurrent | > q1 #2 concurrent");
    assert_snapshot!(outcome_after(working, "answer amount=0"), @"late-answer q1 #2 concurrent (wrong: /amount exclusiveMinimum) | > q1 #2 concurrent (wrong: /amount exclusiveMinimum)");
    assert_snapshot!(outcome_after(working, "answer q1 amount=6"), @"late-answer q1 #2 concurrent | > q1 #2 concurrent");
    assert_snapshot!(outcome_after(working, "say hello"), @"late-answer q1 #2 concurrent (wrong:  type) | > q1 #2 concurrent (wrong:  type)");
}

/// Proves L16, L13: after the end only requests that name an answered question get their order.
#[test]
fn a_request_after_the_end() {
    for end in ["return 1", "error oops", "cancel", "reject no"] {
        let ended = format!("submit; ask amount; answer amount=5; {end}");
        let late = "late-answer q1 #2 concurrent | > q1 #2 concurrent";
        assert_eq!(outcome_after(&ended, "answer q1 amount=6"), late, "after {end}");
        let refused = outcome_after(&ended, "answer amount=6");
        assert!(refused.starts_with("X the run has ended"), "{refused}");
    }
}

/// Proves L16, L13: a question without an answer ends with its run, in any final state.
#[test]
fn a_request_to_a_question_that_went_unanswered() {
    for end in ["return 1", "error oops", "cancel", "reject no", "fire deadline"] {
        let ended = format!("submit deadline; ask amount; {end}");
        for request in ["answer q1 amount=6", "answer amount=6"] {
            let refused = outcome_after(&ended, request);
            assert!(refused.starts_with("X the run has ended"), "{end}: {refused}");
        }
    }
}

/// Proves L16: an answer to a withdrawn question is reported as late, with or without the question's name.
#[test]
fn a_request_after_a_withdrawal() {
    let withdrawn = "submit; ask amount; withdraw q1";
    assert_snapshot!(outcome_after(withdrawn, "answer q1 amount=6"), @"late-answer q1 #1 alone | > q1 #1 alone");
    assert_snapshot!(outcome_after(withdrawn, "answer amount=6"), @"late-answer q1 #1 alone | > q1 #1 alone");
    let earlier = "submit; ask amount; answer amount=5; ask signature; withdraw q2";
    assert_snapshot!(outcome_after(earlier, "answer signature=me"), @"late-answer q2 #1 alone | > q2 #1 alone");
}

/// Proves L13, L16: one of many requests resumes, and each has its own order.
#[test]
fn sixty_four_requests_at_one_question() {
    let mut story = ScriptedRun::after_commands("submit; ask amount");
    for _ in 0..64 {
        story.try_scripted_command("answer q1 among-others amount=5").unwrap();
    }
    let mut orders = Vec::new();
    let mut resumed = 0;
    for event in story.events() {
        match event {
            Event::Resumed { request, .. } => {
                resumed += 1;
                orders.push((request.order, request.concurrent));
            }
            Event::LateAnswer(late) => orders.push((late.request.order, late.request.concurrent)),
            _ => {}
        }
    }
    assert_eq!(resumed, 1);
    let expected: Vec<_> = (1..=64).map(|order| (order, true)).collect();
    assert_eq!(orders, expected);
}
