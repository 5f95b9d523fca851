//! Google's Gemini. Calls are complete parts of complete responses: they have neither numbers nor
//! pieces.

use serde_json::{Value, json};
use trackway_agent::{FinishReason, ModelError};
use trackway_testkit::ScriptedReply;

use crate::{
    sample,
    shapes::{FormatScript, IndexStyle, KEY, answer_for, sent_request, stream_reply, ten_shapes},
};

struct GeminiScript;

impl FormatScript for GeminiScript {
    const KIND: &'static str = "gemini";
    const IDS: bool = false;
    const ARGUMENTS_ARE_TEXT: bool = false;
    const TERMINATED: bool = false;

    fn begin_with_text(pieces: &[&str]) -> Vec<String> {
        let begin = parts(&json!([]));
        let pieces = pieces.iter().map(|piece| parts(&json!([{"text": piece}])));
        std::iter::once(begin).chain(pieces).collect()
    }

    fn two_tool_calls(numbers: IndexStyle) -> Vec<String> {
        let first = json!({"functionCall": {"name": "look_up", "args": {"q": "ü"}}});
        let second = json!({"functionCall": {"name": "book", "args": {"n": 2}}});
        match numbers {
            IndexStyle::Given => vec![parts(&json!([first, second]))],
            IndexStyle::AllZero | IndexStyle::Missing => {
                vec![parts(&json!([first])), parts(&json!([second]))]
            }
        }
    }

    fn tool_call(arguments: &str) -> Vec<String> {
        let call = parts(&json!([{"functionCall": {"name": "look_up", "args": "ARGUMENTS"}}]));
        let arguments = if arguments.is_empty() { "null" } else { arguments };
        vec![call.replace("\"ARGUMENTS\"", arguments)]
    }

    fn end_events(finish: FinishReason) -> Vec<String> {
        let usage = json!({"promptTokenCount": 11, "candidatesTokenCount": 4,
            "thoughtsTokenCount": 3, "totalTokenCount": 18});
        vec![stopped(finish), event(&json!({"usageMetadata": usage, "modelVersion": "m-1"}))]
    }

    fn unterminated_end() -> (Vec<String>, bool) {
        (vec![stopped(FinishReason::Stop)], true)
    }

    fn error_event() -> Vec<String> {
        let error = json!({"code": 500, "message": "out of memory", "status": "INTERNAL"});
        vec![event(&json!({"error": error}))]
    }
}

fn event(data: &Value) -> String {
    format!("data: {data}\r\n\r\n")
}

fn parts(parts: &Value) -> String {
    let content = json!({"role": "model", "parts": parts});
    event(&json!({"candidates": [{"content": content, "index": 0}], "modelVersion": "m-1"}))
}

fn stopped(finish: FinishReason) -> String {
    let reason = match finish {
        FinishReason::Stop | FinishReason::Calls => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::Filtered => "SAFETY",
    };
    event(&json!({"candidates": [{"finishReason": reason, "index": 0}], "modelVersion": "m-1"}))
}

ten_shapes!(GeminiScript);

#[tokio::test]
async fn the_request_is_whole() {
    let asked = sent_request::<GeminiScript>(sample::full_request()).await;
    assert_eq!(asked.path, "/v1/models/m-1:streamGenerateContent?alt=sse");
    assert_eq!(asked.header("x-goog-api-key"), Some(KEY));
    assert_eq!(asked.header("authorization"), None);
    insta::assert_json_snapshot!("gemini_everything", asked.body);
}

/// Models of the third generation reject a call that comes back without its signature.
#[tokio::test]
async fn a_signature_comes_back_with_its_call() {
    let call = json!({"functionCall": {"id": "x1", "name": "look_up", "args": {}},
        "thoughtSignature": "abc"});
    let events = [vec![parts(&json!([call]))], GeminiScript::end_events(FinishReason::Stop)].concat();
    let answer = answer_for::<GeminiScript>(stream_reply(events)).await.unwrap();
    assert_eq!((answer.calls[0].id.as_str(), answer.finish), ("x1", FinishReason::Calls));
    let echo = answer.calls[0].echo.clone().unwrap();
    let told = sent_request::<GeminiScript>(sample::request_with_echo(echo)).await;
    assert_eq!(told.body["contents"][1]["parts"][0], call);
    assert_eq!(told.body["contents"][2]["parts"][0]["functionResponse"]["id"], "x1");
    let foreign =
        sent_request::<GeminiScript>(sample::request_with_echo(json!({"other": {"id": "x"}}))).await;
    assert_eq!(foreign.body["contents"][1]["parts"][0]["functionCall"].get("id"), None);
}

#[tokio::test]
async fn blocked_prompt_is_filtered() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let answer = answer_for::<GeminiScript>(stream_reply([event(&blocked)])).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish), ("", FinishReason::Filtered));
}

/// Errors of a stream request arrive as a list.
#[tokio::test]
async fn a_refusal_is_read() {
    let error = json!({"code": 400, "message": "no such model", "status": "INVALID_ARGUMENT"});
    let reply = ScriptedReply::json_body(400, &json!([{"error": error}]));
    let (_, error) = answer_for::<GeminiScript>(reply).await.unwrap_err();
    let reason = "no such model (INVALID_ARGUMENT)".to_owned();
    assert_eq!(error, ModelError::Refused { status: 400, reason });
}
