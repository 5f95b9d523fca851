//! Results in words, and answers that match a schema.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{answer_by_rules, model, render_answer, request, user};
use crate::{
    conversation::{ContentPiece, ConversationEntry, ModelRequest},
    provider::{Delta, ModelProvider as _, offline::OfflineModel},
};

fn answer_after_results(results: &[(&str, &str, bool)]) -> String {
    let mut entries = vec![user("/run something"), model("", Vec::new())];
    entries.extend(results.iter().map(|(tool, text, failed)| ConversationEntry::Result {
        call: "offline-1".to_owned(),
        tool: (*tool).to_owned(),
        pieces: vec![ContentPiece::Text((*text).to_owned())],
        failed: *failed,
    }));
    render_answer(&request(entries))
}

fn dispatched(outcome: &str, result: &Value, more: Value) -> String {
    let mut value = json!({
        "outcome": outcome,
        "result": result,
        "taskId": "run_1",
        "metadata": { "workflowName": "invest", "description": "Invests.", "pluginId": "invest" },
    });
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    answer_after_results(&[("dispatch_workflow_invest", &value.to_string(), false)])
}

/// Proves D3 for the offline model: every outcome of a dispatch is reported, including an empty answer.
#[test]
fn every_outcome_is_told() {
    let text = |text: &str| json!([{ "kind": "text", "text": text }]);
    let parts = json!([
        { "kind": "text", "text": "Found 3 yield opportunities:" },
        { "kind": "data", "data": { "apy": 5.2 } },
        { "kind": "file", "file": { "name": "a.pdf", "mimeType": "application/pdf", "bytes": "AA==" } },
    ]);
    assert_snapshot!("answered", dispatched("answered", &parts, json!({})));
    assert_snapshot!("answered-shortly", dispatched("answered", &text("Done."), json!({})));
    assert_snapshot!("answered-nothing", dispatched("answered", &json!([]), json!({})));
    let schema = json!({
        "type": "object",
        "properties": {
            "walletAddress": { "type": "string", "description": "The wallet that pays." },
            "amount": { "type": "number" },
            "note": { "type": "string" },
        },
        "required": ["walletAddress", "amount"],
    });
    let question = json!({ "message": "How much?", "schema": schema });
    assert_snapshot!("asks", dispatched("input-required", &json!([]), question));
    assert_snapshot!("asks-to-sign", dispatched("auth-required", &text("Please sign."), json!({})));
    let about = json!({ "message": "It waits for the user's answer." });
    let asked = dispatched("input-required", &text("How much?"), about);
    assert_eq!(asked, "invest asks (task run_1): How much?", "in its own words");
    let wrong = json!({
        "message": "The answer does not satisfy the schema; the question is still open.",
        "errors": [{ "path": "/amount", "message": "is not a number" }, { "message": "too short" }],
    });
    assert_snapshot!("not-taken", dispatched("input-required", &json!([]), wrong));
    let why = json!({ "message": "Not on Arbitrum." });
    assert_snapshot!("rejected", dispatched("rejected", &text("Not on Arbitrum."), why));
    assert_snapshot!("failed", dispatched("failed", &json!([]), json!({ "message": "No network." })));
    assert_snapshot!("timeout", dispatched("timeout", &json!([]), json!({})));
}

/// Images of a workflow's answer follow its JSON.
#[test]
fn images_are_named() {
    let outcome = json!({ "outcome": "answered", "result": [], "taskId": "run_1" });
    let image = ContentPiece::Image { media_type: "image/png".to_owned(), base64: String::new() };
    let result = ConversationEntry::Result {
        call: "offline-1".to_owned(),
        tool: "dispatch_workflow_chart".to_owned(),
        pieces: vec![ContentPiece::Text(outcome.to_string()), image],
        failed: false,
    };
    let told = render_answer(&request(vec![result]));
    assert_eq!(told, "chart answered (task run_1).\n[an image, image/png]");
}

#[test]
fn ordinary_tools_speak_for_themselves() {
    assert_eq!(answer_after_results(&[("time", "12:00", false)]), "12:00");
    assert_eq!(answer_after_results(&[("time", "", false)]), "time answered nothing.");
    assert_eq!(answer_after_results(&[("time", "no clock", true)]), "time failed: no clock");
    assert_eq!(answer_after_results(&[("time", r#"{"outcome":1}"#, false)]), r#"{"outcome":1}"#);
    let both = answer_after_results(&[("time", "12:00", false), ("files__read", "not found", true)]);
    assert_eq!(both, "12:00\n\nfiles__read failed: not found");
}

fn formed(schema: Value, prompt: &str) -> Value {
    let request = ModelRequest { output: Some(schema), ..request(vec![user(prompt)]) };
    serde_json::from_str(&answer_by_rules(&request).text).expect("the answer is JSON")
}

/// Proves X4: definitions with prompt steps run without a model; generated text is marked.
#[test]
fn an_answer_of_a_form_is_the_least_that_the_schema_allows() {
    let schema = json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string" },
            "short": { "type": "string", "maxLength": 7 },
            "score": { "type": "integer", "minimum": 3 },
            "share": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
            "below": { "type": "integer", "exclusiveMaximum": 0 },
            "even": { "type": "integer", "minimum": 3, "multipleOf": 2 },
            "verdict": { "enum": ["yes", "no"] },
            "sure": { "type": "boolean" },
            "when": { "type": "string", "format": "date" },
            "items": { "type": "array", "items": { "$ref": "#/$defs/Item" }, "minItems": 2 },
            "parent": { "anyOf": [{ "$ref": "#/$defs/Item" }, { "type": "null" }] },
            "maybe": { "type": ["string", "null"] },
            "left_out": { "type": "string" },
        },
        "required": [
            "summary", "short", "score", "share", "below", "even", "verdict", "sure", "when",
            "items", "parent", "maybe",
        ],
        "$defs": { "Item": {
            "type": "object",
            "properties": { "id": { "type": "integer" } },
            "required": ["id"],
        } },
    });
    insta::assert_json_snapshot!("least-instance", formed(schema, "Review it."));
    assert_eq!(formed(json!({}), "Say something"), json!("offline-rules/1: no text"));
}

#[test]
fn json_in_the_prompt_fills_the_form() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "integer" }, "b": { "type": "string" }, "c": {} },
        "required": ["a", "b"],
    });
    let prompt = format!("Answer as {schema} from {{\"a\": 5, \"c\": [1]}} and {{\"b\": 7}} {{");
    assert_eq!(formed(schema, &prompt), json!({ "a": 5, "b": "offline-rules/1: no text", "c": [1] }));
    let looped = json!({ "$ref": "#/$defs/a", "$defs": { "a": {
        "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "required": ["a"],
    } } });
    assert!(formed(looped, "").is_object(), "a schema that contains itself ends");
}

/// Proves D8 for the offline model: the text comes word by word and adds up to the answer.
#[test]
fn the_answer_is_streamed_in_words() {
    let request = request(vec![user("/run echo")]);
    let whole = answer_by_rules(&request);
    assert_eq!(whole, answer_by_rules(&request), "the same request has the same answer");
    let deltas: Vec<Delta> = futures_util::FutureExt::now_or_never(futures_util::TryStreamExt::try_collect(
        OfflineModel.stream_answer(&request),
    ))
    .expect("nothing is waited for")
    .expect("rules do not fail");
    let texts: Vec<&str> = deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert!(texts.len() > 5);
    assert_eq!(texts.concat(), whole.text);
    assert_eq!(deltas.last(), Some(&Delta::Done));
}
