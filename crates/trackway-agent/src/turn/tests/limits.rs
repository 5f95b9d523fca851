//! Budgets: checked before every model call, reported in a sentence.

use std::time::Duration;

use super::*;

/// Drives turns of one call each until one of the budgets ends it; the sentence and the calls made.
fn until_stopped(budgets: TurnBudgets, change: impl Fn(&mut RecordedModelCall, u32)) -> (String, u32) {
    let mut turn = began(budgets);
    loop {
        match turn.next_action() {
            NextTurnAction::Ask => {
                let mut recorded = answer("", vec![call("a", "echo")]);
                recorded.ended_at = Timestamp(i64::from(turn.turn_usage().calls + 1) * 1_000);
                change(&mut recorded, turn.turn_usage().calls);
                turn.apply_model_answer(&recorded).unwrap();
            }
            NextTurnAction::Call(_) => {
                turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(1))).unwrap()
            }
            NextTurnAction::Limit(limit) => return (limit.to_string(), turn.turn_usage().calls),
            next => panic!("{next:?}"),
        }
    }
}

#[test]
fn a_budget_ends_a_turn_with_a_sentence() {
    let none = TurnBudgets { calls: 100, ..TurnBudgets::default() };
    let table = [
        (TurnBudgets { calls: 3, ..none.clone() }, "make 3 model calls and has made them.", 3),
        (TurnBudgets { calls: 1, ..none.clone() }, "make 1 model call and has made it.", 1),
        (TurnBudgets { calls: 0, ..none.clone() }, "make 0 model calls and has made them.", 0),
        (TurnBudgets { tokens: Some(330), ..none.clone() }, "use 330 tokens and has used 330.", 3),
        (TurnBudgets { tokens: Some(331), ..none.clone() }, "use 331 tokens and has used 440.", 4),
        (TurnBudgets { seconds: Some(2), ..none.clone() }, "take 2 seconds and has taken 2.", 2),
        (TurnBudgets { cost: Some(0.5), ..none }, "cost 0.5 and has cost 0.5000.", 2),
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
    let budgets = TurnBudgets { calls: 100, tokens: Some(60), cost: Some(0.1), ..TurnBudgets::default() };
    let (told, calls) = until_stopped(budgets, |recorded, _| {
        recorded.answer.usage = None;
        recorded.cost = Some(f64::NAN);
    });
    assert!(told.starts_with("I stopped: this turn may use 60 tokens"), "{told}");
    assert!((1..10).contains(&calls), "{calls}");
}

/// The calls of the last answer are still made: the budget ends the turn before the next model call.
#[test]
fn calls_of_the_last_answer_are_still_made() {
    let mut turn = began(TurnBudgets { calls: 1, ..TurnBudgets::default() });
    turn.apply_model_answer(&answer("", vec![call("a", "echo")])).unwrap();
    assert_eq!(waiting(&turn), ["a"]);
    turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    assert_eq!(turn.next_action(), NextTurnAction::Limit(TurnLimit::Calls { max: 1 }));
    assert_eq!(
        turn.apply_model_answer(&answer("More.", Vec::new())),
        Ok(()),
        "an answer in flight is not lost"
    );
}

/// Seconds of tools count; seconds of waiting for people do not.
#[test]
fn waiting_for_people_is_not_counted() {
    let mut turn = began(TurnBudgets { seconds: Some(60), ..TurnBudgets::default() });
    turn.apply_model_answer(&answer("", vec![call("a", "echo"), call("b", "echo")])).unwrap();
    let record = ToolCallRecord::record_from_json(&json!(1)).with_end_time(Timestamp(3_630_000));
    turn.apply_call_result("a", ToolCallRecord { waits: vec![wait(10, 3_610)], ..record }).unwrap();
    turn.apply_call_result("b", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    assert_eq!(turn.turn_usage().active_turn_time(), Duration::from_secs(30));
    assert_eq!(turn.next_action(), NextTurnAction::Ask);
    turn.apply_model_answer(&answer("", vec![call("a", "echo")])).unwrap();
    turn.apply_call_result(
        "a",
        ToolCallRecord::record_from_json(&json!(1)).with_end_time(Timestamp(3_660_000)),
    )
    .unwrap();
    assert_eq!(turn.next_action(), NextTurnAction::Limit(TurnLimit::Seconds { max: 60, used: 60 }));
}

fn wait(from: i64, to: i64) -> UserWaitPeriod {
    UserWaitPeriod { from: Timestamp(from * 1_000), to: Timestamp(to * 1_000) }
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
        let mut turn = began(TurnBudgets::default());
        turn.apply_model_answer(&answer("", vec![call("a", "echo"), call("b", "echo")])).unwrap();
        let mut waits = waits.into_iter();
        let first = ToolCallRecord { waits: waits.next().into_iter().collect(), ..ended_at(400) };
        turn.apply_call_result("a", first).unwrap();
        turn.add_user_waits(waits);
        turn.apply_call_result("b", ended_at(460)).unwrap();
        assert_eq!(turn.turn_usage().active_turn_time(), Duration::from_secs(100));
    }
}

fn ended_at(seconds: i64) -> ToolCallRecord {
    ToolCallRecord::record_from_json(&json!(1)).with_end_time(Timestamp(seconds * 1_000))
}

/// A summary takes time like a model call, even if it fails.
#[test]
fn the_time_of_a_summary_counts() {
    let mut turn = began(TurnBudgets { seconds: Some(60), ..TurnBudgets::default() });
    let compacted = CompactedHistory { ended_at: Some(Timestamp(60_000)), ..CompactedHistory::default() };
    turn.apply_compaction(&compacted).unwrap();
    assert_eq!(turn.next_action(), NextTurnAction::Limit(TurnLimit::Seconds { max: 60, used: 60 }));
}

#[test]
fn usage_of_all_answers_adds_up() {
    let mut turn = began(TurnBudgets::default());
    let mut recorded = answer("", vec![call("a", "echo")]);
    recorded.cost = Some(0.25);
    turn.apply_model_answer(&recorded).unwrap();
    turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    recorded.answer.calls.clear();
    turn.apply_model_answer(&recorded).unwrap();
    let usage = TokenUsage { input_tokens: 200, output_tokens: 20, ..TokenUsage::default() };
    assert_eq!(turn.turn_usage().usage, Some(usage));
    assert_eq!(turn.turn_usage().cost, Some(0.5));
    assert_eq!(turn.turn_usage().tokens, 220);
}
