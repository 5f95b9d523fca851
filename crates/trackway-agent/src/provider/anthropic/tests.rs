//! Requests as they are written, and streams of every form as they are read.

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use super::{AnthropicFormat, ECHO, messages_request_body, strict_schema};
use crate::{
    conversation::{ContentPiece, ConversationEntry, FinishReason, ModelRequest, TokenUsage, ToolSpec},
    provider::{
        Delta, ModelError,
        examples::{full_request, minimal_request, read_deltas, render_deltas},
        provider_format::ProviderFormat as _,
    },
};

fn format() -> AnthropicFormat {
    AnthropicFormat::format_for_base_url(super::BASE_URL)
}

#[test]
fn requests_are_written_as_messages() {
    assert_json_snapshot!(
        "hello",
        messages_request_body::build_messages_body("claude-x", &minimal_request())
    );
    let thought = json!({ "type": "thinking", "thinking": "Hm.", "signature": "c2ln" });
    let request = full_request(json!({ ECHO: [thought] }));
    assert_json_snapshot!("everything", messages_request_body::build_messages_body("claude-x", &request));
    let other = messages_request_body::build_messages_body(
        "claude-x",
        &full_request(json!({ "gemini": { "id": "1" } })),
    );
    assert!(!other.to_string().contains("gemini"), "what another provider wants is not sent here");
    assert_eq!(format().request_path("claude-x"), "/v1/messages");
    assert_eq!(
        AnthropicFormat::format_for_base_url("http://127.0.0.1/v1/").request_path("claude-x"),
        "/messages"
    );
    assert_eq!(format().authorization_header("k"), ("x-api-key", "k".to_owned()));
}

#[test]
fn a_message_without_content_is_not_empty() {
    let entries = vec![ConversationEntry::User { pieces: vec![ContentPiece::Text(" ".to_owned())] }];
    let request = ModelRequest { system: String::new(), entries, max_tokens: Some(7), ..minimal_request() };
    let body = messages_request_body::build_messages_body("claude-x", &request);
    assert_eq!(body["messages"][0]["content"][0]["text"], "(no content)");
    assert_eq!(body["max_tokens"], 7);
    assert_eq!(body.get("system"), None);
}

/// Ids that another provider used twice, in two answers, become distinct.
#[test]
fn ids_are_sent_once() {
    let mut request = full_request(json!({}));
    request.entries.extend(request.entries.clone());
    let body = messages_request_body::build_messages_body("claude-x", &request);
    let blocks = body["messages"].as_array().into_iter().flatten();
    let blocks = blocks.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let (mut used, mut told) = (Vec::new(), Vec::new());
    for block in blocks {
        used.extend(block["id"].as_str());
        told.extend(block["tool_use_id"].as_str());
    }
    assert_eq!(used, ["call_1", "call_2", "call_3", "call_1_2", "call_2_2", "call_3_2"]);
    assert_eq!(told, ["call_3", "call_1", "call_2", "call_3_2", "call_1_2", "call_2_2"]);
}

/// The format rejects alternatives at the root of a tool's schema; the model still sees them.
#[test]
fn a_tool_with_alternatives_keeps_them_in_words() {
    let schema = json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    let tool = ToolSpec { name: "t".to_owned(), description: "Does.".to_owned(), schema };
    let body = messages_request_body::build_messages_body(
        "claude-x",
        &ModelRequest { tools: vec![tool.into()], ..minimal_request() },
    );
    assert_eq!(body["tools"][0]["input_schema"], json!({ "type": "object", "properties": {} }));
    let description = body["tools"][0]["description"].as_str().expect("a description");
    assert!(description.starts_with("Does.\n") && description.contains(r#""required":["b"]"#));
}

#[test]
fn answers_of_a_form_are_bound_to_it_where_the_format_can() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "score": { "type": "integer", "description": "How good.", "minimum": 1, "maximum": 5 },
            "when": { "type": "string", "format": "date" },
            "code": { "type": "string", "pattern": "^[a-z]+$", "format": "regex" },
            "kind": { "oneOf": [{ "const": "a" }, { "const": "b" }] },
            "items": { "type": "array", "items": { "$ref": "#/$defs/Item" }, "minItems": 3 },
        },
        "required": ["score"],
        "$defs": { "Item": { "type": "object", "properties": { "id": { "type": "string" } } } },
    });
    let request = ModelRequest { output: Some(schema), ..minimal_request() };
    assert_json_snapshot!(
        "bound",
        messages_request_body::build_messages_body("claude-x", &request)["output_config"]
    );

    let in_words = [
        json!({}),
        json!({ "type": "string" }),
        json!({ "type": "object", "properties": { "any": {} } }),
        json!({ "type": "object", "properties": { "map": { "type": "object" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "https://example.org/a" } } }),
        json!({ "type": "object", "properties": { "a": { "$ref": "#" } } }),
        json!({
            "type": "object",
            "properties": { "a": { "$ref": "#/$defs/a" } },
            "$defs": {
                "a": { "type": "object", "properties": { "b": { "$ref": "#/$defs/b" } } },
                "b": { "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } } },
            },
        }),
    ];
    for schema in in_words {
        assert_eq!(strict_schema::to_strict_schema(&schema), None, "{schema}");
        let body = messages_request_body::build_messages_body(
            "claude-x",
            &ModelRequest { output: Some(schema.clone()), ..minimal_request() },
        );
        assert_eq!(body.get("output_config"), None);
        let system = body["system"][0]["text"].as_str().expect("a system prompt");
        assert!(system.ends_with(&schema.to_string()), "{system}");
    }
}

fn event(data: Value) -> (&'static str, Value) {
    ("", data)
}

fn start() -> (&'static str, Value) {
    event(json!({ "type": "message_start", "message": {
        "model": "claude-x-1",
        "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100,
            "output_tokens": 1,
        },
    } }))
}

fn block(index: u64, block: Value) -> (&'static str, Value) {
    let mut begun = json!({ "type": "content_block_start", "index": index });
    begun["content_block"] = block;
    event(begun)
}

fn tool_use(index: u64, id: &str, name: &str) -> (&'static str, Value) {
    block(index, json!({ "type": "tool_use", "id": id, "name": name, "input": {} }))
}

fn piece(index: u64, kind: &str, key: &str, text: &str) -> (&'static str, Value) {
    let delta = json!({ "type": kind, key: text });
    event(json!({ "type": "content_block_delta", "index": index, "delta": delta }))
}

fn input(index: u64, text: &str) -> (&'static str, Value) {
    piece(index, "input_json_delta", "partial_json", text)
}

fn stop(index: u64) -> (&'static str, Value) {
    event(json!({ "type": "content_block_stop", "index": index }))
}

fn end(reason: &str) -> [(&'static str, Value); 2] {
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    [
        event(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 42 } })),
        event(json!({ "type": "message_stop" })),
    ]
}

fn stream(middle: &[(&'static str, Value)], reason: &str) -> Vec<(&'static str, Value)> {
    let mut events = vec![start()];
    events.extend_from_slice(middle);
    events.extend(end(reason));
    events
}

/// Text, thoughts and calls. Pings and unrequested kinds of blocks are ignored.
#[test]
fn a_stream_is_read() {
    let events = stream(
        &[
            event(json!({ "type": "ping" })),
            block(0, json!({ "type": "thinking", "thinking": "" })),
            piece(0, "thinking_delta", "thinking", "Hm"),
            piece(0, "thinking_delta", "thinking", "m."),
            piece(0, "signature_delta", "signature", "c2ln"),
            stop(0),
            block(1, json!({ "type": "redacted_thinking", "data": "b3Bh" })),
            stop(1),
            block(2, json!({ "type": "text", "text": "" })),
            piece(2, "text_delta", "text", "I shall "),
            piece(2, "text_delta", "text", "look."),
            stop(2),
            block(3, json!({ "type": "server_tool_use", "id": "s", "name": "web_search" })),
            input(3, "{\"q\":1}"),
            stop(3),
            event(json!({ "type": "something_new" })),
            tool_use(4, "toolu_1", "look"),
            input(4, ""),
            input(4, "{\"at\":"),
            input(4, "\"sky\"}"),
            stop(4),
        ],
        "tool_use",
    );
    assert_snapshot!("stream", render_deltas(&format(), &events));
}

/// A call to an overloaded server is retried; an invalid request is not.
#[test]
fn an_error_in_the_stream_is_an_error() {
    let table = [
        ("overloaded_error", true),
        ("api_error", true),
        ("rate_limit_error", true),
        ("invalid_request_error", false),
        ("permission_error", false),
    ];
    for (kind, retryable) in table {
        let error = json!({ "type": "error", "error": { "type": kind, "message": "Oh." } });
        assert_eq!(format().parse_error_message(&error), Some(format!("Oh. ({kind})")));
        let (_, error) = read_deltas(&format(), &[start(), ("error", error)]);
        let reason = format!("Oh. ({kind})");
        assert_eq!(error, Some(ModelError::Failed { reason, retryable }));
    }
    let mut reader = format().new_stream_reader();
    let error = reader.read_stream_event("message_start", "{not json", &mut Vec::new());
    assert!(matches!(error, Err(ModelError::Unreadable { .. })), "{error:?}");
    let (_, error) = read_deltas(&format(), &[start(), input(0, "{}")]);
    assert!(matches!(error, Some(ModelError::Unreadable { .. })), "{error:?}");
}

#[test]
fn reasons_and_counts_are_read() {
    let table = [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("tool_use", FinishReason::Calls),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::Filtered),
        ("something_new", FinishReason::Stop),
    ];
    let usage = TokenUsage { input_tokens: 115, output_tokens: 42, cached_tokens: 100, reasoning_tokens: 0 };
    for (reason, finish) in table {
        let (deltas, _) = read_deltas(&format(), &stream(&[], reason));
        assert_eq!(deltas[1..], [Delta::End(finish), Delta::Usage(usage), Delta::Done], "{reason}");
    }
    let [delta, stop] = end("end_turn");
    let silent = [event(json!({ "type": "message_start", "message": {} })), delta, stop];
    let (deltas, _) = read_deltas(&format(), &silent);
    assert_eq!(
        deltas,
        [Delta::Start { model: None }, Delta::End(FinishReason::Stop), Delta::Done],
        "without counts of the input there is no usage"
    );
}
