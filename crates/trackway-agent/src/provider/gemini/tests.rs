//! Requests as they are written, and streams of every form as they are read.

use std::time::Duration;

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};

use super::{ECHO, GeminiFormat, gemini_request_body};
use crate::{
    conversation::{ConversationEntry, FinishReason, ModelRequest, TokenUsage},
    provider::{
        Delta, ModelError,
        examples::{example_tools, full_request, minimal_request, read_deltas, render_deltas},
        provider_format::ProviderFormat as _,
    },
};

fn format() -> GeminiFormat {
    GeminiFormat::format_for_base_url(super::BASE_URL)
}

#[test]
fn requests_are_written_as_contents() {
    assert_json_snapshot!(
        "hello",
        gemini_request_body::build_gemini_body(&ModelRequest { max_tokens: Some(100), ..minimal_request() })
    );
    let echo = json!({ ECHO: { "thoughtSignature": "c2ln", "id": "fc-1" } });
    assert_json_snapshot!("everything", gemini_request_body::build_gemini_body(&full_request(echo)));
    let other = gemini_request_body::build_gemini_body(&full_request(
        json!({ "anthropic": [{ "thinking": "Hm." }] }),
    ));
    assert!(!other.to_string().contains("Hm."), "what another provider wants is not sent here");
    assert_eq!(format().request_path("gemini-x"), "/v1beta/models/gemini-x:streamGenerateContent?alt=sse");
    assert_eq!(
        format().request_path("tunedModels/mine"),
        "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"
    );
    assert_eq!(
        GeminiFormat::format_for_base_url("http://127.0.0.1/v1beta/").request_path("gemini-x"),
        "/models/gemini-x:streamGenerateContent?alt=sse"
    );
    assert_eq!(format().authorization_header("k"), ("x-goog-api-key", "k".to_owned()));
    let empty =
        ModelRequest { entries: vec![ConversationEntry::User { pieces: vec![] }], ..minimal_request() };
    assert_eq!(
        gemini_request_body::build_gemini_body(&empty)["contents"][0]["parts"],
        json!([{ "text": "(no content)" }])
    );
}

/// The provider enforces a schema if there are no tools; otherwise the prompt describes it.
#[test]
fn answers_of_a_form_are_asked_for() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let request = ModelRequest { output: Some(schema.clone()), ..minimal_request() };
    let bound = gemini_request_body::build_gemini_body(&request);
    assert_eq!(
        bound["generationConfig"],
        json!({ "responseMimeType": "application/json", "responseJsonSchema": schema })
    );
    let told = gemini_request_body::build_gemini_body(&ModelRequest { tools: example_tools(), ..request });
    assert_eq!(told.get("generationConfig"), None);
    let system = told["systemInstruction"]["parts"][0]["text"].as_str().expect("a text");
    assert!(system.starts_with("You are brief.") && system.ends_with(&schema.to_string()));
}

fn chunk(parts: Value) -> (&'static str, Value) {
    let mut chunk = json!({ "candidates": [{ "index": 0 }], "modelVersion": "gemini-x-1" });
    chunk["candidates"][0]["content"] = json!({ "role": "model" });
    chunk["candidates"][0]["content"]["parts"] = parts;
    ("", chunk)
}

fn last(reason: &str) -> (&'static str, Value) {
    let candidate = json!({ "content": { "role": "model" }, "finishReason": reason });
    let usage = json!({
        "promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7, "totalTokenCount": 32,
    });
    ("", json!({ "candidates": [candidate], "usageMetadata": usage }))
}

fn call(name: &str, args: Value) -> Value {
    let mut call = json!({ "functionCall": { "name": name } });
    call["functionCall"]["args"] = args;
    call
}

/// Text, thoughts and calls. Signatures and ids are kept for the next request.
#[test]
fn a_stream_is_read() {
    let mut signed = call("look", json!({ "at": "sky" }));
    signed["thoughtSignature"] = json!("c2ln");
    signed["functionCall"]["id"] = json!("fc-1");
    let events = [
        chunk(json!([{ "text": "Hm.", "thought": true }])),
        chunk(json!([{ "text": "I shall " }])),
        chunk(json!([{ "text": "look." }, signed])),
        chunk(json!([{ "text": "", "thoughtSignature": "bGFzdA==" }])),
        last("STOP"),
    ];
    assert_snapshot!("stream", render_deltas(&format(), &events));
}

#[test]
fn arguments_may_be_bad_or_empty_or_missing() {
    let missing = json!({ "functionCall": { "name": "read" } });
    let events =
        [chunk(json!([call("look", json!("{not json")), call("read", json!({})), missing])), last("STOP")];
    assert_snapshot!("arguments", render_deltas(&format(), &events));
}

#[test]
fn an_error_in_the_stream_is_an_error() {
    let table = [
        (503, "UNAVAILABLE", true),
        (429, "RESOURCE_EXHAUSTED", true),
        (500, "INTERNAL", true),
        (400, "INVALID_ARGUMENT", false),
        (403, "PERMISSION_DENIED", false),
    ];
    for (code, status, retryable) in table {
        let error = json!({ "error": { "code": code, "message": "Oh.", "status": status } });
        let reason = format!("Oh. ({status})");
        assert_eq!(format().parse_error_message(&error), Some(reason.clone()));
        assert_eq!(format().parse_error_message(&json!([error])), Some(reason.clone()));
        let (_, failure) = read_deltas(&format(), &[chunk(json!([{ "text": "Half" }])), ("", error)]);
        assert_eq!(failure, Some(ModelError::Failed { reason, retryable }));
    }
}

/// No header says when to retry; the error does.
#[test]
fn a_busy_server_says_when() {
    let wait = |delay: &str| {
        let info = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay });
        format().retry_delay_from_body(&json!({ "error": { "code": 429, "details": [{}, info] } }))
    };
    assert_eq!(wait("2s"), Some(Duration::from_secs(2)));
    assert_eq!(wait("0.5s"), Some(Duration::from_millis(500)));
    for odd in ["2", "s", "-1s", "NaNs", "1e300s"] {
        assert_eq!(wait(odd), None, "{odd}");
    }
    assert_eq!(format().retry_delay_from_body(&json!({ "error": {} })), None);
}

#[test]
fn reasons_and_counts_are_read() {
    let usage = TokenUsage { input_tokens: 20, output_tokens: 12, cached_tokens: 8, reasoning_tokens: 7 };
    for (reason, finish) in [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::Filtered),
        ("RECITATION", FinishReason::Filtered),
        ("PROHIBITED_CONTENT", FinishReason::Filtered),
    ] {
        let (deltas, _) = read_deltas(&format(), &[last(reason)]);
        assert_eq!(deltas[1..], [Delta::End(finish), Delta::Usage(usage), Delta::Done], "{reason}");
    }
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "NEW_ONE"] {
        let (_, error) = read_deltas(&format(), &[last(reason)]);
        assert!(error.expect("a failure").is_retryable(), "{reason}");
    }
}

/// Without the query for events, the stream is one list.
#[test]
fn a_list_of_responses_is_read_too() {
    let list = json!([chunk(json!([{ "text": "Hello." }])).1, last("STOP").1]);
    let (deltas, error) = read_deltas(&format(), &[("", list)]);
    assert_eq!((deltas[1].clone(), error), (Delta::Text("Hello.".to_owned()), None));
}
