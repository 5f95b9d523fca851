//! Budgets: checked before every model call, reported in a sentence.

use std::time::Duration;

use super::*;

/// Drives turns of one call each until one of the budgets ends it; the sentence and the calls made.
fn until_stopped(budgets: Budgets, change: impl Fn(&mut Recorded, u32)) -> (String, u32) {
    let mut turn = began(budgets);
    loop {
        match turn.next() {
            Next::Ask => {
                let mut recorded = answer("", vec![call("a", "echo")]);
                recorded.ended_at = Timestamp(i64::from(turn.used().calls + 1) * 1_000);
                change(&mut recorded, turn.used().calls);
                turn.heard(&recorded).unwrap();
            }
            Next::Call(_) => turn.returned("a", CallRecord::json(&json!(1))).unwrap(),
            Next::Limit(limit) => return (limit.to_string(), turn.used().calls),
            next => panic!("{next:?}"),
        }
    }
}

#[test]
fn a_budget_ends_a_turn_with_a_sentence() {
    let none = Budgets { calls: 100, ..Budgets::default() };
    let table = [
        (Budgets { calls: 3, ..none.clone() }, "make 3 model calls and has made them.", 3),
        (Budgets { calls: 1, ..none.clone() }, "make 1 model call and has made it.", 1),
        (Budgets { calls: 0, ..none.clone() }, "make 0 model calls and has made them.", 0),
        (Budgets { tokens: Some(330), ..none.clone() }, "use 330 tokens and has used 330.", 3),
        (Budgets { tokens: Some(331), ..none.clone() }, "use 331 tokens and has used 440.", 4),
        (Budgets { seconds: Some(2), ..none.clone() }, "take 2 seconds and has taken 2.", 2),
        (Budgets { cost: Some(0.5), ..none }, "cost 0.5 and has cost 0.5000.", 2),
    ];
    for (budgets, sentence, calls) in table {
        let told = until_stopped(budgets, |recorded, _| recorded.cost = Some(0.25));
        assert_eq!(told, (format!("I stopped: this turn may {sentence}"), calls));
    }
}

/// A server that counts no tokens cannot bypass a token budget. A model with an unknown or invalid
/// price costs nothing.
#[test]
fn a_server_that_does_not_count_is_counted_for() {
    let budgets = Budgets { calls: 100, tokens: Some(60), cost: Some(0.1), ..Budgets::default() };
    let (told, calls) = until_stopped(budgets, |recorded, _| {
        recorded.answer.usage = None;
        recorded.cost = Some(f64::NAN);
    });
    assert!(told.starts_with("I stopped: this turn may use 60 tokens"), "{told}");
    assert!((1..10).contains(&calls), "{calls}");
}

/// The calls of the last answer are still made: the budget ends the turn before the next model call.
#[test]
fn what_was_called_for_is_still_done() {
    let mut turn = began(Budgets { calls: 1, ..Budgets::default() });
    turn.heard(&answer("", vec![call("a", "echo")])).unwrap();
    assert_eq!(waiting(&turn), ["a"]);
    turn.returned("a", CallRecord::json(&json!(1))).unwrap();
    assert_eq!(turn.next(), Next::Limit(Limit::Calls { max: 1 }));
    assert_eq!(turn.heard(&answer("More.", Vec::new())), Ok(()), "an answer in flight is not lost");
}

/// Seconds of tools count; seconds of waiting for people do not.
#[test]
fn waiting_for_people_is_not_counted() {
    let mut turn = began(Budgets { seconds: Some(60), ..Budgets::default() });
    turn.heard(&answer("", vec![call("a", "echo"), call("b", "echo")])).unwrap();
    let record = CallRecord::json(&json!(1)).at(Timestamp(3_630_000));
    turn.returned("a", CallRecord { waits: vec![wait(10, 3_610)], ..record }).unwrap();
    turn.returned("b", CallRecord::json(&json!(1))).unwrap();
    assert_eq!(turn.used().time(), Duration::from_secs(30));
    assert_eq!(turn.next(), Next::Ask);
    turn.heard(&answer("", vec![call("a", "echo")])).unwrap();
    turn.returned("a", CallRecord::json(&json!(1)).at(Timestamp(3_660_000))).unwrap();
    assert_eq!(turn.next(), Next::Limit(Limit::Seconds { max: 60, used: 60 }));
}

fn wait(from: i64, to: i64) -> Wait {
    Wait { from: Timestamp(from * 1_000), to: Timestamp(to * 1_000) }
}

/// The order in which they are reported does not matter.
#[test]
fn waits_beside_each_other_count_once() {
    for waits in [
        vec![wait(10, 310), wait(10, 370)],
        vec![wait(70, 370), wait(10, 310)],
        vec![wait(10, 370), wait(20, 30), wait(370, 370)],
        vec![wait(10, 130), wait(200, 440)],
    ] {
        let mut turn = began(Budgets::default());
        turn.heard(&answer("", vec![call("a", "echo"), call("b", "echo")])).unwrap();
        let mut waits = waits.into_iter();
        let first = CallRecord { waits: waits.next().into_iter().collect(), ..ended_at(400) };
        turn.returned("a", first).unwrap();
        turn.waited(waits);
        turn.returned("b", ended_at(460)).unwrap();
        assert_eq!(turn.used().time(), Duration::from_secs(100));
    }
}

fn ended_at(seconds: i64) -> CallRecord {
    CallRecord::json(&json!(1)).at(Timestamp(seconds * 1_000))
}

/// A summary takes time like a model call, even if it fails.
#[test]
fn the_time_of_a_summary_counts() {
    let mut turn = began(Budgets { seconds: Some(60), ..Budgets::default() });
    let compacted = Compacted { ended_at: Some(Timestamp(60_000)), ..Compacted::default() };
    turn.compact(&compacted).unwrap();
    assert_eq!(turn.next(), Next::Limit(Limit::Seconds { max: 60, used: 60 }));
}

#[test]
fn what_was_used_adds_up() {
    let mut turn = began(Budgets::default());
    let mut recorded = answer("", vec![call("a", "echo")]);
    recorded.cost = Some(0.25);
    turn.heard(&recorded).unwrap();
    turn.returned("a", CallRecord::json(&json!(1))).unwrap();
    recorded.answer.calls.clear();
    turn.heard(&recorded).unwrap();
    let usage = Usage { input_tokens: 200, output_tokens: 20, ..Usage::default() };
    assert_eq!(turn.used().usage, Some(usage));
    assert_eq!(turn.used().cost, Some(0.5));
    assert_eq!(turn.used().tokens, 220);
}
