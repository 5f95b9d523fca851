//! Every format of the table, on input that no server should send.

use serde_json::{Value, json};

use super::*;
use crate::provider::{Delta, ModelProvider};

/// Valid events of all formats.
fn events() -> Vec<Value> {
    let function = json!({"name": "t", "arguments": "{}"});
    let call = json!({"index": 0, "id": "c", "function": function, "extra_content": {"a": 1}});
    let delta = json!({"content": "x", "reasoning": "y", "tool_calls": [call]});
    let item = json!({"type": "function_call", "id": "i", "call_id": "c", "name": "t",
        "arguments": "{}", "content": [{"text": "x"}], "summary": [{"text": "x"}]});
    let usage = json!({"prompt_tokens": 1, "input_tokens": 1, "output_tokens": 2});
    let kinds = [
        "response.created",
        "response.output_item.added",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "response.output_item.done",
        "response.completed",
        "response.failed",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "message_delta",
        "message_stop",
        "error",
    ];
    let content = json!({"parts": [{"text": "x"}, {"functionCall": {"name": "t", "args": {}}}]});
    let block = json!({"type": "tool_use", "id": "c", "name": "t", "input": {}});
    let mut events: Vec<Value> = kinds
        .into_iter()
        .map(|kind| {
            json!({"type": kind, "item": item, "output_index": 0, "item_id": "i", "delta": "x",
                "index": 0, "content_block": block, "message": {"model": "m", "usage": usage},
                "response": {"model": "m", "output": [item], "usage": usage},
                "error": if kind == "error" { json!({"message": "no"}) } else { Value::Null }})
        })
        .collect();
    events.push(json!({"model": "m", "usage": usage, "object": "response", "output": [item],
        "choices": [{"delta": delta, "message": delta, "finish_reason": "stop"}],
        "candidates": [{"content": content, "finishReason": "STOP"}]}));
    events
}

/// The value with each of its inner values in turn replaced by something odd.
fn altered(value: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = [json!(null), json!(-1), json!("ü"), json!([null]), json!({"": []})].into();
    let inner = |key: Value, child: &Value| {
        altered(child).into_iter().map(move |odd| (key.clone(), odd)).collect::<Vec<_>>()
    };
    let changes: Vec<(Value, Value)> = match value {
        Value::Array(list) => list.iter().zip(0..).flat_map(|(v, at)| inner(json!(at), v)).collect(),
        Value::Object(map) => map.iter().flat_map(|(name, v)| inner(json!(name), v)).collect(),
        _ => Vec::new(),
    };
    all.extend(changes.into_iter().map(|(key, odd)| {
        let mut whole = value.clone();
        match (&mut whole, &key) {
            (Value::Array(list), Value::Number(at)) => {
                list[at.as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0)] = odd;
            }
            (Value::Object(map), Value::String(name)) => {
                map.insert(name.clone(), odd);
            }
            _ => {}
        }
        whole
    }));
    all
}

/// For any event a reader continues or reports an error, and an end is final.
#[test]
fn odd_events_are_read_or_refused() {
    let odd: Vec<Value> = events().iter().flat_map(altered).collect();
    for row in PROVIDER_KINDS {
        let format = (row.format)(row.base_url);
        for value in &odd {
            let mut reader = format.new_stream_reader();
            let mut out = Vec::new();
            let data = value.to_string();
            // Twice: a call that has already started must handle the same event again.
            for _ in 0..2 {
                let told = reader.read_stream_event("", &data, &mut out);
                if told.is_err() || out.last() == Some(&Delta::Done) {
                    break;
                }
            }
            if out.last() != Some(&Delta::Done) && reader.finish_stream(&mut out).is_ok() {
                assert_eq!(out.last(), Some(&Delta::Done), "{} on {data}", row.kind);
            }
            let _ = format.parse_error_message(value);
        }
        assert!(
            format.new_stream_reader().read_stream_event("", "{", &mut Vec::new()).is_err(),
            "{}",
            row.kind
        );
    }
}

#[test]
fn labels_begin_with_the_kind() {
    for kind in provider_kind_names() {
        let provider = open_http_provider(kind, &ModelEndpoint::new("some-model")).unwrap();
        assert_eq!(provider.model_label(), format!("{kind}/some-model"));
        assert!(provider.accepts_images());
    }
}
