//! Turns driven by hand: the next action after each input.

mod limits;
mod output;
mod requests;
mod results;

use serde_json::{Value, json};
use trackway_domain::Timestamp;

use super::*;
use crate::{
    Arguments, Call,
    samples::{agent, recorded, result, text, user},
};

fn began(budgets: Budgets) -> Turn {
    let spec = AgentSpec { budgets, ..agent() };
    Turn::begin(&spec, Vec::new(), vec![text("Hello")], Timestamp(0))
}

fn call(id: &str, tool: &str) -> Call {
    Call::new(id, tool, json!({"for": id}))
}

/// An answer of a model that took a second.
fn answer(text: &str, calls: Vec<Call>) -> Recorded {
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::Calls };
    let usage = Some(Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() });
    let answer = Answer { text: text.into(), calls, finish, usage, ..Answer::default() };
    Recorded { ended_at: Timestamp(1_000), ..recorded(answer) }
}

fn ended(text: &str, finish: Finish) -> Recorded {
    let mut recorded = answer(text, Vec::new());
    recorded.answer.finish = finish;
    recorded
}

/// Ids of the calls that wait.
fn waiting(turn: &Turn) -> Vec<String> {
    match turn.next() {
        Next::Call(waiting) => waiting.into_iter().map(|waiting| waiting.call.id).collect(),
        _ => Vec::new(),
    }
}

fn done(text: &str, ending: Ending) -> Next {
    Next::Done(Done { text: text.into(), output: None, ending })
}

#[test]
fn an_answer_without_calls_ends_the_turn() {
    let mut turn = began(Budgets::default());
    assert_eq!(turn.next(), Next::Ask);
    assert_eq!(turn.used().calls, 0);
    turn.heard(&answer("Hi.", Vec::new())).unwrap();
    assert_eq!(turn.next(), done("Hi.", Ending::Said));
    assert_eq!(turn.heard(&answer("Again.", Vec::new())), Err(TurnError::NotAsked));
    assert_eq!(turn.next(), done("Hi.", Ending::Said));
    assert_eq!(turn.used().label.as_deref(), Some("scripted/test"));
}

/// Calls are made whatever finish reason the model gives.
#[test]
fn a_turn_ends_with_a_sentence_where_the_answer_is_not_whole() {
    let table = [
        ("So far", Finish::Length, done("So far", Ending::Length), true),
        ("", Finish::Length, done("", Ending::Length), true),
        ("", Finish::Filtered, done("", Ending::Filtered), true),
        ("", Finish::Stop, done("", Ending::Silent), true),
        ("", Finish::Calls, done("", Ending::Silent), true),
        ("All", Finish::Calls, done("All", Ending::Said), false),
    ];
    for (said, finish, end, has_sentence) in table {
        let mut turn = began(Budgets::default());
        turn.heard(&ended(said, finish)).unwrap();
        assert_eq!(turn.next(), end, "{said:?} {finish:?}");
        let Next::Done(Done { ending, .. }) = end else { panic!("{end:?}") };
        assert_eq!(ending.sentence().is_some(), has_sentence);
    }

    let mut turn = began(Budgets::default());
    let mut cut = answer("", vec![call("a", "echo")]);
    cut.answer.finish = Finish::Length;
    turn.heard(&cut).unwrap();
    assert_eq!(waiting(&turn), ["a"]);
}

/// An empty answer after some text is a normal end, and no empty entry is kept: providers reject those.
#[test]
fn silence_after_words_is_an_end() {
    let mut turn = began(Budgets::default());
    turn.heard(&answer("I look.", vec![call("a", "echo")])).unwrap();
    turn.returned("a", CallRecord::json(&json!(1))).unwrap();
    turn.heard(&ended("", Finish::Stop)).unwrap();
    assert_eq!(turn.next(), done("I look.", Ending::Said));
    assert_eq!(turn.said(), ["I look."]);
    assert_eq!(turn.entries().len(), 3);
}

#[test]
fn nothing_that_comes_at_the_wrong_moment_changes_a_turn() {
    let mut turn = began(Budgets::default());
    assert_eq!(turn.judge(&[]), Err(TurnError::NothingToJudge));
    let error = turn.returned("x", CallRecord::json(&json!(1))).unwrap_err();
    assert_eq!(error.to_string(), r#"no call "x" waits for a result (waiting: none)"#);
    assert_eq!(turn.next(), Next::Ask);
    turn.heard(&answer("", vec![call("a", "echo")])).unwrap();
    assert_eq!(turn.heard(&answer("", Vec::new())), Err(TurnError::NotAsked));
    assert_eq!(turn.compact(&Compacted::default()), Err(TurnError::NotAsked));
    assert_eq!(waiting(&turn), ["a"]);
}

/// The value of a text that a model gave.
fn json_text(value: &Value) -> Recorded {
    answer(&value.to_string(), Vec::new())
}
