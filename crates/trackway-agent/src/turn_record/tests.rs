//! Records can be read back, including those of earlier versions.

use serde_json::json;

use super::*;
use crate::{FinishReason, TokenUsage, samples::call};

#[test]
fn keys_name_the_place_of_a_call_whatever_the_tool_is_called() {
    for tool in ["echo", "files__read file", "1.2 x", ""] {
        let place = ToolCallPosition { model_call: 3, index: 12 };
        assert_eq!(ToolCallPosition::position_from_step_key(&place.to_step_key(tool)), Some(place));
    }
    for key in ["model", "call", "call 1 x", "call a.b x", "call 1.0", "calls 1.0 x"] {
        assert_eq!(ToolCallPosition::position_from_step_key(key), None, "{key:?}");
    }
    assert_eq!(ToolCallPosition { model_call: 0, index: 1 }.to_step_key("echo"), "call 0.1 echo");
}

/// The forms of records are kept: a log of an earlier version must still be understood.
#[test]
fn records_keep_their_form() {
    let recorded = RecordedModelCall {
        answer: ModelAnswer {
            text: "Hello".into(),
            calls: vec![ToolUse::new("c1", "echo", json!({"text": "x"}))],
            finish: FinishReason::Calls,
            usage: Some(TokenUsage { input_tokens: 10, output_tokens: 2, ..TokenUsage::default() }),
            model: Some("small-1".into()),
            ..ModelAnswer::default()
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
    assert_eq!(RecordedModelCall::from_value(&written), Ok(recorded));

    let record = ToolCallRecord::failed_call_with_reason("no").with_end_time(Timestamp(7));
    let written = json!({"pieces": [{"text": "no"}], "failed": true, "ended_at": 7});
    assert_eq!(record.to_value(), Ok(written.clone()));
    assert_eq!(ToolCallRecord::from_value(&written), Ok(record));

    let kept = vec![ConversationEntry::User { pieces: vec![ContentPiece::Text("hi".into())] }];
    let compacted = CompactedHistory { summary: "s".into(), kept, ..CompactedHistory::default() };
    let written = json!({"summary": "s", "kept": [{"user": {"pieces": [{"text": "hi"}]}}]});
    assert_eq!(compacted.to_value(), Ok(written.clone()));
    assert_eq!(CompactedHistory::from_value(&written), Ok(compacted));

    let error = RecordedModelCall::from_value(&json!("x")).unwrap_err();
    assert!(error.to_string().starts_with("the record of a model call cannot be read"), "{error}");
}

/// A server's failure message may be very long, and it is part of every later model call.
#[test]
fn a_failure_is_within_the_bounds_of_results() {
    let record = ToolCallRecord::failed_call_with_reason("x".repeat(content_pieces::PART_BYTES_MAX * 2));
    let [ContentPiece::Text(told)] = record.pieces.as_slice() else { panic!("{record:?}") };
    assert!(told.len() < content_pieces::PART_BYTES_MAX + 100);
    assert!(told.ends_with(" bytes are shown)"), "{}", &told[told.len() - 80..]);
}

#[test]
fn two_calls_never_share_an_id() {
    let calls = ["a", "a_2", "a", "a"].map(|id| call(id, "t")).to_vec();
    let answer = ModelAnswer { calls, finish: FinishReason::Calls, ..ModelAnswer::default() };
    let ids: Vec<_> = calls_with_unique_ids(&answer).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["a", "a_2", "a_3", "a_4"]);
}
