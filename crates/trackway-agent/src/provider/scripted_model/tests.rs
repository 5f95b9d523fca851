//! Scripts: which answer is used, how it is streamed, and which scripts are rejected.

use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;

use super::{ModelScriptError, ScriptedModel};
use crate::{
    conversation::{FinishReason, ModelRequest, TokenUsage},
    provider::{Delta, ModelError, ModelProvider as _},
    samples::{result, user},
};

fn request(text: &str, after: Option<&str>) -> ModelRequest {
    let mut entries = vec![user(text)];
    entries.extend(after.map(|tool| result("call_0", tool, "")));
    ModelRequest { entries, ..ModelRequest::default() }
}

async fn collect_deltas(model: &ScriptedModel, request: ModelRequest) -> (Vec<Delta>, Option<ModelError>) {
    let mut deltas = Vec::new();
    let mut stream = model.stream_answer(&request);
    while let Some(item) = stream.next().await {
        match item {
            Ok(delta) => deltas.push(delta),
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error is the last item");
                return (deltas, Some(error));
            }
        }
    }
    assert_eq!(deltas.last(), Some(&Delta::Done), "an answer has an end");
    (deltas, None)
}

async fn text(model: &ScriptedModel, user: &str, after: Option<&str>) -> String {
    let (deltas, error) = collect_deltas(model, request(user, after)).await;
    let texts = deltas.iter().filter_map(|delta| match delta {
        Delta::Text(text) => Some(text.as_str()),
        _ => None,
    });
    error.map_or_else(|| texts.collect(), |error| error.to_string())
}

/// The first matching answer is used once, unless it repeats.
#[tokio::test]
async fn answers_are_given_in_order_where_they_fit() {
    let script = r"
        name: demo
        answers:
          - { user: weather, after: look, text: It rains., repeat: true }
          - { user: Weather, text: I shall look. }
          - { text: First. }
          - { text: Second. }
    ";
    let model = ScriptedModel::parse_script("file", script).expect("a script");
    assert_eq!(model.model_label(), "scripted/demo");
    assert_eq!(text(&model, "How is the WEATHER?", None).await, "I shall look.");
    assert_eq!(text(&model, "How is the weather?", Some("look")).await, "It rains.");
    assert_eq!(text(&model, "How is the weather?", Some("look")).await, "It rains.");
    assert_eq!(text(&model, "hello", Some("look")).await, "First.");
    assert_eq!(text(&model, "How is the weather?", None).await, "Second.");
    let none = "scripted/demo has no answer for this request";
    assert_eq!(text(&model, "hello", None).await, none);
}

#[tokio::test]
async fn an_answer_has_everything_that_a_model_says() {
    let script = json!({ "answers": [{
        "reasoning": "Hm.", "text": "I look.",
        "calls": [
            { "tool": "look", "arguments": { "at": "sky" }, "id": "a" },
            { "tool": "look", "arguments": "{not json" },
            { "tool": "look" },
        ],
        "usage": { "input_tokens": 3, "output_tokens": 4 },
        "delay_ms": 1, "word_delay_ms": 1,
    }] });
    let model = ScriptedModel::parse_script("file", &script.to_string()).expect("JSON is YAML");
    assert_eq!(model.model_label(), "scripted/file");
    let (deltas, _) = collect_deltas(&model, request("hello", None)).await;
    let call = |slot: usize, id: &str| Delta::Call { slot, id: Some(id.to_owned()), tool: "look".to_owned() };
    let arguments = |slot: usize, text: &str| Delta::Arguments { slot, text: text.to_owned() };
    assert_eq!(
        deltas,
        [
            Delta::Start { model: Some("scripted/file".to_owned()) },
            Delta::Reasoning("Hm.".to_owned()),
            Delta::Text("I ".to_owned()),
            Delta::Text("look.".to_owned()),
            call(0, "a"),
            arguments(0, r#"{"at":"sky"}"#),
            call(1, "call_1"),
            arguments(1, "{not json"),
            call(2, "call_2"),
            arguments(2, "{}"),
            Delta::End(FinishReason::Calls),
            Delta::Usage(TokenUsage { input_tokens: 3, output_tokens: 4, ..TokenUsage::default() }),
            Delta::Done,
        ]
    );
}

/// Pauses follow the script; a caller that drops the stream does not wait for them.
#[tokio::test]
async fn words_come_at_their_time() {
    let script = r"
        answers:
          - { text: one two, delay_ms: 600000 }
          - { text: one two, word_delay_ms: 600000 }
    ";
    let model = ScriptedModel::parse_script("file", script).expect("a script");
    let mut late = model.stream_answer(&request("hello", None));
    assert!(late.next().now_or_never().is_none(), "nothing is said before its time");
    let mut slow = model.stream_answer(&request("hello", None));
    let start = slow.next().now_or_never().flatten();
    assert!(matches!(start, Some(Ok(Delta::Start { .. }))), "{start:?}");
    assert!(slow.next().now_or_never().is_none(), "the words have their own time");
}

#[tokio::test]
async fn faults_take_the_place_of_an_end() {
    let script = r"
        answers:
          - { fault: busy, status: 503, retry_after_ms: 50, reason: Too much. }
          - { fault: refused }
          - { fault: cut, text: Half an }
          - { fault: failed, text: Half, reason: Overloaded. }
    ";
    let model = ScriptedModel::parse_script("file", script).expect("a script");
    let half = |texts: &[&str]| {
        let start = Delta::Start { model: Some("scripted/file".to_owned()) };
        let texts = texts.iter().map(|text| Delta::Text((*text).to_owned()));
        [start].into_iter().chain(texts).collect::<Vec<_>>()
    };
    let retry_after = Some(std::time::Duration::from_millis(50));
    let busy = ModelError::Busy { status: 503, reason: "Too much.".to_owned(), retry_after };
    let refused = ModelError::Refused { status: 400, reason: "the script says so".to_owned() };
    let failed = ModelError::Failed { reason: "Overloaded.".to_owned(), retryable: true };
    let expected = [
        (vec![], busy),
        (vec![], refused),
        (half(&["Half ", "an"]), ModelError::Truncated),
        (half(&["Half"]), failed),
    ];
    for (deltas, error) in expected {
        assert_eq!(collect_deltas(&model, request("hello", None)).await, (deltas, Some(error)));
    }
}

/// Keys without an effect are rejected, with their position.
#[test]
fn mistakes_are_named() {
    let table = [
        ("answer: []", "unknown field"),
        ("answers: [{ txt: hello }]", "unknown field"),
        ("answers: [{ fault: tired }]", "tired"),
        ("answers: [{}, { fault: busy, text: hello }]", "answer 2 of the script"),
        ("answers: [{ status: 500 }]", "status is for"),
        ("answers: [{ fault: cut, retry_after_ms: 5 }]", "retry_after_ms is for"),
        ("answers: [{ reason: why }]", "reason is for"),
        ("answers: [{ fault: cut, finish: stop }]", "no finish"),
        ("answers: [{ delay_ms: 600001 }]", "ten minutes"),
    ];
    for (script, reason) in table {
        let error = ScriptedModel::parse_script("file", script).expect_err(script).to_string();
        assert!(error.contains(reason), "{script}: {error}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let error = ScriptedModel::open_script_file(&folder.path().join("none.yaml"));
    assert!(matches!(error, Err(ModelScriptError::File { .. })), "{error:?}");
    let path = folder.path().join("demo.yaml");
    std::fs::write(&path, "answers: [{ text: hello }]").expect("written");
    assert_eq!(ScriptedModel::open_script_file(&path).expect("a script").model_label(), "scripted/demo");
}
