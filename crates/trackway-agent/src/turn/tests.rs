//! Turns driven by hand: the next action after each input.

mod limits;
mod output;
mod requests;
mod results;

use serde_json::{Value, json};
use trackway_domain::Timestamp;

use super::*;
use crate::{
    ToolArguments, ToolUse,
    samples::{agent, recorded_call, result, text, user},
};

fn began(budgets: TurnBudgets) -> AgentTurn {
    let spec = AgentSpec { budgets, ..agent() };
    AgentTurn::begin_turn(&spec, Vec::new(), vec![text("Hello")], Timestamp(0))
}

fn call(id: &str, tool: &str) -> ToolUse {
    ToolUse::new(id, tool, json!({"for": id}))
}

/// An answer of a model that took a second.
fn answer(text: &str, calls: Vec<ToolUse>) -> RecordedModelCall {
    let finish = if calls.is_empty() { FinishReason::Stop } else { FinishReason::Calls };
    let usage = Some(TokenUsage { input_tokens: 100, output_tokens: 10, ..TokenUsage::default() });
    let answer = ModelAnswer { text: text.into(), calls, finish, usage, ..ModelAnswer::default() };
    RecordedModelCall { ended_at: Timestamp(1_000), ..recorded_call(answer) }
}

fn ended(text: &str, finish: FinishReason) -> RecordedModelCall {
    let mut recorded = answer(text, Vec::new());
    recorded.answer.finish = finish;
    recorded
}

/// Ids of the calls that wait.
fn waiting(turn: &AgentTurn) -> Vec<String> {
    match turn.next_action() {
        NextTurnAction::Call(waiting) => waiting.into_iter().map(|waiting| waiting.call.id).collect(),
        _ => Vec::new(),
    }
}

fn done(text: &str, ending: TurnEnding) -> NextTurnAction {
    NextTurnAction::Done(TurnOutcome { text: text.into(), output: None, ending })
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut turn = began(TurnBudgets::default());
    assert_eq!(turn.next_action(), NextTurnAction::Ask);
    assert_eq!(turn.turn_usage().calls, 0);
    turn.apply_model_answer(&answer("Hi.", Vec::new())).unwrap();
    assert_eq!(turn.next_action(), done("Hi.", TurnEnding::Said));
    assert_eq!(turn.apply_model_answer(&answer("Again.", Vec::new())), Err(TurnError::NotAsked));
    assert_eq!(turn.next_action(), done("Hi.", TurnEnding::Said));
    assert_eq!(turn.turn_usage().label.as_deref(), Some("scripted/test"));
}

/// Calls are made whatever finish reason the model gives.
#[test]
fn a_turn_ends_with_a_sentence_where_the_answer_is_not_whole() {
    let table = [
        ("So far", FinishReason::Length, done("So far", TurnEnding::Length), true),
        ("", FinishReason::Length, done("", TurnEnding::Length), true),
        ("", FinishReason::Filtered, done("", TurnEnding::Filtered), true),
        ("", FinishReason::Stop, done("", TurnEnding::Silent), true),
        ("", FinishReason::Calls, done("", TurnEnding::Silent), true),
        ("All", FinishReason::Calls, done("All", TurnEnding::Said), false),
    ];
    for (said, finish, end, has_sentence) in table {
        let mut turn = began(TurnBudgets::default());
        turn.apply_model_answer(&ended(said, finish)).unwrap();
        assert_eq!(turn.next_action(), end, "{said:?} {finish:?}");
        let NextTurnAction::Done(TurnOutcome { ending, .. }) = end else { panic!("{end:?}") };
        assert_eq!(ending.ending_note_for_user().is_some(), has_sentence);
    }

    let mut turn = began(TurnBudgets::default());
    let mut cut = answer("", vec![call("a", "echo")]);
    cut.answer.finish = FinishReason::Length;
    turn.apply_model_answer(&cut).unwrap();
    assert_eq!(waiting(&turn), ["a"]);
}

/// An empty answer after some text is a normal end, and no empty entry is kept: providers reject those.
#[test]
fn silence_after_words_is_an_end() {
    let mut turn = began(TurnBudgets::default());
    turn.apply_model_answer(&answer("I look.", vec![call("a", "echo")])).unwrap();
    turn.apply_call_result("a", ToolCallRecord::record_from_json(&json!(1))).unwrap();
    turn.apply_model_answer(&ended("", FinishReason::Stop)).unwrap();
    assert_eq!(turn.next_action(), done("I look.", TurnEnding::Said));
    assert_eq!(turn.answer_texts(), ["I look."]);
    assert_eq!(turn.conversation_entries().len(), 3);
}

#[test]
fn nothing_that_comes_at_the_wrong_moment_changes_a_turn() {
    let mut turn = began(TurnBudgets::default());
    assert_eq!(turn.apply_output_validation(&[]), Err(TurnError::NothingToJudge));
    let error = turn.apply_call_result("x", ToolCallRecord::record_from_json(&json!(1))).unwrap_err();
    assert_eq!(error.to_string(), r#"no call "x" waits for a result (waiting: none)"#);
    assert_eq!(turn.next_action(), NextTurnAction::Ask);
    turn.apply_model_answer(&answer("", vec![call("a", "echo")])).unwrap();
    assert_eq!(turn.apply_model_answer(&answer("", Vec::new())), Err(TurnError::NotAsked));
    assert_eq!(turn.apply_compaction(&CompactedHistory::default()), Err(TurnError::NotAsked));
    assert_eq!(waiting(&turn), ["a"]);
}

/// The value of a text that a model gave.
fn json_text(value: &Value) -> RecordedModelCall {
    answer(&value.to_string(), Vec::new())
}
