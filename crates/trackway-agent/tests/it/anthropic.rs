//! Anthropic's Messages.

use serde_json::{Value, json};
use trackway_agent::{FinishReason, ModelError, ToolArguments};
use trackway_testkit::ScriptedReply;

use crate::{
    sample,
    shapes::{FormatScript, IndexStyle, KEY, answer_for, sent_request, stream_reply, ten_shapes},
};

struct MessagesScript;

impl FormatScript for MessagesScript {
    const KIND: &'static str = "anthropic";

    fn begin_with_text(pieces: &[&str]) -> Vec<String> {
        let usage = json!({"input_tokens": 11, "output_tokens": 1});
        let message = json!({"type": "message", "model": "m-1", "content": [], "usage": usage});
        let begin = [
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": ""}}),
            json!({"type": "ping"}),
        ];
        let pieces = pieces.iter().map(|piece| {
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": piece}})
        });
        begin.into_iter().chain(pieces).map(|data| event(&data)).collect()
    }

    fn two_tool_calls(numbers: IndexStyle) -> Vec<String> {
        let first = call("c1", "look_up", &numbers.index(1), &["{\"q\":", "\"ü\"}"]);
        let second = call("c2", "book", &numbers.index(2), &["{\"n\":", "2}"]);
        numbers.order(first, second)
    }

    fn tool_call(arguments: &str) -> Vec<String> {
        call("c1", "look_up", &json!(1), &[arguments])
    }

    fn end_events(finish: FinishReason) -> Vec<String> {
        vec![stopped(finish), event(&json!({"type": "message_stop"}))]
    }

    fn unterminated_end() -> (Vec<String>, bool) {
        (vec![stopped(FinishReason::Stop)], true)
    }

    fn error_event() -> Vec<String> {
        let error = json!({"type": "overloaded_error", "message": "out of memory"});
        vec![event(&json!({"type": "error", "error": error}))]
    }
}

fn event(data: &Value) -> String {
    let kind = data["type"].as_str().unwrap();
    format!("event: {kind}\ndata: {data}\n\n")
}

fn stopped(finish: FinishReason) -> String {
    let reason = match finish {
        FinishReason::Stop => "end_turn",
        FinishReason::Calls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::Filtered => "refusal",
    };
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    event(&json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}))
}

fn call(id: &str, tool: &str, index: &Value, pieces: &[&str]) -> Vec<String> {
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let begin = json!({"type": "content_block_start", "index": index, "content_block": block});
    let pieces = pieces.iter().map(|piece| {
        json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "input_json_delta", "partial_json": piece}})
    });
    let end = json!({"type": "content_block_stop", "index": index});
    let events = std::iter::once(begin).chain(pieces).chain([end]);
    events.map(|data| event(&data)).collect()
}

ten_shapes!(MessagesScript);

#[tokio::test]
async fn the_request_is_whole() {
    let asked = sent_request::<MessagesScript>(sample::full_request()).await;
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!(asked.header("x-api-key"), Some(KEY));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked.header("authorization"), None);
    insta::assert_json_snapshot!("anthropic_everything", asked.body);
}

/// Models that think expect their thoughts back together with the results of their calls.
#[tokio::test]
async fn thoughts_come_back_with_their_call() {
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": "abc"});
    let begin = json!({"type": "content_block_start", "index": 0, "content_block": thought});
    let end = json!({"type": "content_block_stop", "index": 0});
    let thinks = vec![event(&begin), event(&end)];
    let events =
        [thinks, MessagesScript::tool_call("{}"), MessagesScript::end_events(FinishReason::Calls)].concat();
    let answer = answer_for::<MessagesScript>(stream_reply(events)).await.unwrap();
    assert_eq!(answer.reasoning, "Hm.");
    let echo = answer.calls[0].echo.clone().unwrap();
    let told = sent_request::<MessagesScript>(sample::request_with_echo(echo)).await;
    assert_eq!(told.body["messages"][1]["content"][0], thought);
    let foreign = sent_request::<MessagesScript>(sample::request_with_echo(json!({"other": [1]}))).await;
    assert_eq!(foreign.body["messages"][1]["content"][0]["type"], "tool_use");
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken() {
    let call =
        |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "look_up", "input": input});
    let body = json!({"type": "message", "model": "m-1", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Hallo"}, call("c1", json!({"q": 1})), call("c2", json!({}))],
        "usage": {"input_tokens": 1, "output_tokens": 2}});
    let answer = answer_for::<MessagesScript>(ScriptedReply::json_body(200, &body)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.unwrap().output_tokens), ("Hallo", 2));
    let expected = [json!({"q": 1}), json!({})].map(ToolArguments::Json);
    let made: Vec<ToolArguments> = answer.calls.into_iter().map(|call| call.arguments).collect();
    assert_eq!((made, answer.finish), (expected.to_vec(), FinishReason::Calls));
}

#[tokio::test]
async fn an_error_of_the_request_is_not_tried_again() {
    let error = json!({"type": "invalid_request_error", "message": "too long"});
    let error = json!({"type": "error", "error": error});
    let reason = "too long (invalid_request_error)".to_owned();
    let (_, inside) = answer_for::<MessagesScript>(stream_reply([event(&error)])).await.unwrap_err();
    assert_eq!(inside, ModelError::Failed { reason: reason.clone(), retryable: false });
    let (_, refused) = answer_for::<MessagesScript>(ScriptedReply::json_body(400, &error)).await.unwrap_err();
    assert_eq!(refused, ModelError::Refused { status: 400, reason });
}
