//! Records can be read back, including those of earlier versions.

use serde_json::json;

use super::*;
use crate::{Finish, Usage, samples::call};

#[test]
fn keys_name_the_place_of_a_call_whatever_the_tool_is_called() {
    for tool in ["echo", "files__read file", "1.2 x", ""] {
        let place = Place { model_call: 3, index: 12 };
        assert_eq!(Place::of_key(&place.key(tool)), Some(place));
    }
    for key in ["model", "call", "call 1 x", "call a.b x", "call 1.0", "calls 1.0 x"] {
        assert_eq!(Place::of_key(key), None, "{key:?}");
    }
    assert_eq!(Place { model_call: 0, index: 1 }.key("echo"), "call 0.1 echo");
}

/// The forms of records are kept: a log of an earlier version must still be understood.
#[test]
fn records_keep_their_form() {
    let recorded = Recorded {
        answer: Answer {
            text: "Hello".into(),
            calls: vec![Call::new("c1", "echo", json!({"text": "x"}))],
            finish: Finish::Calls,
            usage: Some(Usage { input_tokens: 10, output_tokens: 2, ..Usage::default() }),
            model: Some("small-1".into()),
            ..Answer::default()
        },
        label: "openai/small".into(),
        cost: Some(0.25),
        ended_at: Timestamp(1_000),
    };
    let written = json!({
        "answer": {
            "text": "Hello",
            "calls": [{"id": "c1", "tool": "echo", "arguments": {"json": {"text": "x"}}}],
            "finish": "calls",
            "usage": {"input_tokens": 10, "output_tokens": 2},
            "model": "small-1",
        },
        "label": "openai/small",
        "cost": 0.25,
        "ended_at": 1000,
    });
    assert_eq!(recorded.to_value(), Ok(written.clone()));
    assert_eq!(Recorded::from_value(&written), Ok(recorded));

    let record = CallRecord::failed("no").at(Timestamp(7));
    let written = json!({"pieces": [{"text": "no"}], "failed": true, "ended_at": 7});
    assert_eq!(record.to_value(), Ok(written.clone()));
    assert_eq!(CallRecord::from_value(&written), Ok(record));

    let kept = vec![Entry::User { pieces: vec![Piece::Text("hi".into())] }];
    let compacted = Compacted { summary: "s".into(), kept, ..Compacted::default() };
    let written = json!({"summary": "s", "kept": [{"user": {"pieces": [{"text": "hi"}]}}]});
    assert_eq!(compacted.to_value(), Ok(written.clone()));
    assert_eq!(Compacted::from_value(&written), Ok(compacted));

    let error = Recorded::from_value(&json!("x")).unwrap_err();
    assert!(error.to_string().starts_with("the record of a model call cannot be read"), "{error}");
}

/// A server's failure message may be very long, and it is part of every later model call.
#[test]
fn a_failure_is_within_the_bounds_of_results() {
    let record = CallRecord::failed("x".repeat(pieces::PART_BYTES_MAX * 2));
    let [Piece::Text(told)] = record.pieces.as_slice() else { panic!("{record:?}") };
    assert!(told.len() < pieces::PART_BYTES_MAX + 100);
    assert!(told.ends_with(" bytes are shown)"), "{}", &told[told.len() - 80..]);
}

#[test]
fn two_calls_never_share_an_id() {
    let calls = ["a", "a_2", "a", "a"].map(|id| call(id, "t")).to_vec();
    let answer = Answer { calls, finish: Finish::Calls, ..Answer::default() };
    let ids: Vec<_> = calls_of(&answer).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["a", "a_2", "a_3", "a_4"]);
}
