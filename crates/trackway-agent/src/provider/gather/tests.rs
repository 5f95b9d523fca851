//! What pieces add up to.

use serde_json::json;

use super::*;

fn gathered(deltas: &[Delta]) -> Answer {
    let mut gather = Gather::new();
    deltas.iter().for_each(|delta| gather.push(delta));
    gather.finish()
}

fn call(slot: usize, id: Option<&str>, tool: &str) -> Delta {
    Delta::Call { slot, id: id.map(str::to_owned), tool: tool.to_owned() }
}

fn arguments(slot: usize, text: &str) -> Delta {
    Delta::Arguments { slot, text: text.to_owned() }
}

#[test]
fn text_reasoning_usage_and_the_model_are_kept() {
    let usage = Usage { input_tokens: 3, output_tokens: 4, ..Usage::default() };
    let answer = gathered(&[
        Delta::Start { model: Some("m".into()) },
        Delta::Reasoning("so ".into()),
        Delta::Text("Hel".into()),
        Delta::Reasoning("then".into()),
        Delta::Text("lo".into()),
        Delta::End(Finish::Length),
        Delta::Usage(usage),
        Delta::Done,
    ]);
    let expected = Answer {
        text: "Hello".into(),
        reasoning: "so then".into(),
        calls: Vec::new(),
        finish: Finish::Length,
        usage: Some(usage),
        model: Some("m".into()),
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
        Delta::End(Finish::Stop),
    ]);
    assert_eq!(answer.finish, Finish::Calls);
    assert_eq!(answer.calls[0].arguments, Arguments::Json(json!({"x": 1})));
    let Arguments::Broken { text, reason } = &answer.calls[1].arguments else {
        panic!("{answer:?}");
    };
    assert_eq!(text, "{\"y\"");
    assert!(reason.contains("EOF"), "{reason}");
    assert_eq!(answer.calls[2].arguments, Arguments::Json(json!({})));
    assert_eq!(answer.calls[2].echo, Some(json!("again")));
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
    assert_eq!(gathered(&[Delta::End(Finish::Calls)]).finish, Finish::Stop);
    assert_eq!(gathered(&[]).finish, Finish::Stop);
}
