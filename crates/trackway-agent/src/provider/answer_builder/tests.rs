//! The answers that pieces combine into.

use serde_json::json;

use super::*;
use crate::{CompactedHistory, samples::model};

fn gathered(deltas: &[Delta]) -> ModelAnswer {
    let mut gather = ModelAnswerBuilder::new();
    deltas.iter().for_each(|delta| gather.push_delta(delta));
    gather.build_answer()
}

fn call(slot: usize, id: Option<&str>, tool: &str) -> Delta {
    Delta::Call { slot, id: id.map(str::to_owned), tool: tool.to_owned() }
}

fn arguments(slot: usize, text: &str) -> Delta {
    Delta::Arguments { slot, text: text.to_owned() }
}

#[test]
fn text_reasoning_usage_and_the_model_are_kept() {
    let usage = TokenUsage { input_tokens: 3, output_tokens: 4, ..TokenUsage::default() };
    let answer = gathered(&[
        Delta::Start { model: Some("m".into()) },
        Delta::Reasoning("so ".into()),
        Delta::Text("Hel".into()),
        Delta::Reasoning("then".into()),
        Delta::Text("lo".into()),
        Delta::End(FinishReason::Length),
        Delta::Usage(usage),
        Delta::Done,
    ]);
    let expected = ModelAnswer {
        text: "Hello".into(),
        reasoning: "so then".into(),
        finish: FinishReason::Length,
        usage: Some(usage),
        model: Some("m".into()),
        ..ModelAnswer::default()
    };
    assert_eq!(answer, expected);
}

/// Proves D7: interleaved pieces, empty arguments, and arguments that are not JSON.
#[test]
fn arguments_are_read_once_at_the_end() {
    let answer = gathered(&[
        call(0, Some("a"), "one"),
        call(1, Some("b"), "two"),
        arguments(0, "{\"x\":"),
        call(2, Some("c"), "three"),
        arguments(1, "{\"y\""),
        arguments(0, "1}"),
        arguments(2, "  "),
        Delta::Echo { slot: 2, value: json!("again") },
        Delta::End(FinishReason::Stop),
    ]);
    assert_eq!(answer.finish, FinishReason::Calls);
    assert_eq!(answer.calls[0].arguments, ToolArguments::Json(json!({"x": 1})));
    let ToolArguments::Broken { text, reason } = &answer.calls[1].arguments else {
        panic!("{answer:?}");
    };
    assert_eq!(text, "{\"y\"");
    assert!(reason.contains("EOF"), "{reason}");
    assert_eq!(answer.calls[2].arguments, ToolArguments::Json(json!({})));
    assert_eq!(answer.calls[2].echo, Some(json!("again")));
}

/// A tool's name without arguments is not a call if the answer was cut off there.
#[test]
fn a_call_that_was_cut_off_before_its_arguments_is_not_made() {
    let empty = ToolArguments::Json(json!({}));
    let table = [(FinishReason::Stop, false), (FinishReason::Length, true), (FinishReason::Filtered, true)];
    for (finish, is_cut) in table {
        let answer = gathered(&[call(0, None, "one"), call(1, None, "two"), Delta::End(finish)]);
        assert_eq!(answer.calls[0].arguments, empty, "{finish:?}");
        let last = &answer.calls[1].arguments;
        assert_eq!(*last != empty, is_cut, "{finish:?}");
        if let ToolArguments::Broken { reason, .. } = last {
            assert_eq!(reason, "the answer was cut off before them");
        }
    }
    // A complete call is kept, however the answer ended.
    let answer = gathered(&[call(0, None, "one"), arguments(0, "{}"), Delta::End(FinishReason::Length)]);
    assert_eq!(answer.calls[0].arguments, empty);
}

/// A model's answer must not end its turn: deeper arguments could not be recorded.
#[test]
fn arguments_that_are_nested_too_deeply_are_told() {
    let nested = |levels: usize| (1..levels).fold(json!(1), |inner, _| json!([inner]));
    let deep = nested(ARGUMENTS_DEPTH_MAX + 1);
    let answer = gathered(&[
        call(0, None, "one"),
        arguments(0, &nested(ARGUMENTS_DEPTH_MAX).to_string()),
        call(1, None, "two"),
        arguments(1, &deep.to_string()),
        Delta::Echo { slot: 1, value: deep },
    ]);
    assert_eq!(answer.calls[0].arguments, ToolArguments::Json(nested(ARGUMENTS_DEPTH_MAX)));
    let ToolArguments::Broken { reason, .. } = &answer.calls[1].arguments else {
        panic!("{answer:?}");
    };
    assert_eq!(reason, "they are nested deeper than 90 levels");
    assert_eq!(answer.calls[1].echo, None);
    // With everything that is recorded around it.
    let kept = vec![model("", answer.calls)];
    let compacted = CompactedHistory { kept, ..CompactedHistory::default() };
    assert!(!trackway_domain::is_json_too_deep(&compacted.to_value().unwrap()));
}

#[test]
fn every_call_has_an_id_of_its_own() {
    let answer = gathered(&[
        call(0, None, "one"),
        call(1, Some("x"), "two"),
        call(2, Some("x"), "three"),
        call(3, Some("call_0"), "four"),
        call(4, Some(""), "five"),
    ]);
    let ids: Vec<&str> = answer.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "x", "call_2", "call_0", "call_4"]);
}

#[test]
fn calls_without_any_call_are_a_stop() {
    assert_eq!(gathered(&[Delta::End(FinishReason::Calls)]).finish, FinishReason::Stop);
    assert_eq!(gathered(&[]).finish, FinishReason::Stop);
}
