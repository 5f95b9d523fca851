//! OpenAI's Responses.

use serde_json::{Value, json};
use trackway_agent::{FinishReason, ModelError, ToolArguments};
use trackway_testkit::ScriptedReply;

use crate::{
    sample,
    shapes::{FormatScript, IndexStyle, KEY, answer_for, sent_request, stream_reply, ten_shapes},
};

struct ResponsesScript;

impl FormatScript for ResponsesScript {
    const KIND: &'static str = "openai-responses";

    fn begin_with_text(pieces: &[&str]) -> Vec<String> {
        let begin = json!({"type": "response.created", "response": {"model": "m-1"}});
        let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []});
        let item = json!({"type": "response.output_item.added", "output_index": 0, "item": item});
        let pieces = pieces.iter().map(|piece| {
            json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
                "content_index": 0, "delta": piece})
        });
        [begin, item].into_iter().chain(pieces).map(|data| event(&data)).collect()
    }

    fn two_tool_calls(numbers: IndexStyle) -> Vec<String> {
        let first = call("fc_1", "c1", "look_up", &numbers.index(1), ["{\"q\":", "\"ü\"}"]);
        let second = call("fc_2", "c2", "book", &numbers.index(2), ["{\"n\":", "2}"]);
        // Pieces name their item, so they may alternate whatever their numbers are.
        first.into_iter().zip(second).flat_map(|(a, b)| [a, b]).collect()
    }

    fn tool_call(arguments: &str) -> Vec<String> {
        call("fc_1", "c1", "look_up", &json!(1), [arguments, ""])
    }

    fn end_events(finish: FinishReason) -> Vec<String> {
        let usage = json!({"input_tokens": 11, "output_tokens": 7, "total_tokens": 18});
        let reason = match finish {
            FinishReason::Stop | FinishReason::Calls => None,
            FinishReason::Length => Some("max_output_tokens"),
            FinishReason::Filtered => Some("content_filter"),
        };
        let details = reason.map(|reason| json!({"reason": reason}));
        let kind = if reason.is_some() { "response.incomplete" } else { "response.completed" };
        let response = json!({"model": "m-1", "usage": usage, "incomplete_details": details});
        vec![event(&json!({"type": kind, "response": response}))]
    }

    fn unterminated_end() -> (Vec<String>, bool) {
        let item = json!({"type": "message", "id": "msg_1", "content": []});
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
        (vec![event(&done), "data: [DONE]\n\n".to_owned()], false)
    }

    fn error_event() -> Vec<String> {
        let error = json!({"code": "server_error", "message": "out of memory"});
        vec![event(&json!({"type": "response.failed", "response": {"error": error}}))]
    }
}

fn event(data: &Value) -> String {
    let kind = data["type"].as_str().unwrap();
    format!("event: {kind}\ndata: {data}\n\n")
}

/// A call from its start to its end, in pieces and then complete.
fn call(item: &str, id: &str, tool: &str, index: &Value, pieces: [&str; 2]) -> Vec<String> {
    let whole = |arguments: &str| {
        json!({"type": "function_call", "id": item, "call_id": id, "name": tool,
            "arguments": arguments})
    };
    let piece = |text: &str| {
        json!({"type": "response.function_call_arguments.delta", "item_id": item,
            "output_index": index, "delta": text})
    };
    let all = pieces.concat();
    let events = [
        json!({"type": "response.output_item.added", "output_index": index, "item": whole("")}),
        piece(pieces[0]),
        piece(pieces[1]),
        json!({"type": "response.function_call_arguments.done", "item_id": item,
            "output_index": index, "arguments": all}),
        json!({"type": "response.output_item.done", "output_index": index, "item": whole(&all)}),
    ];
    events.iter().map(event).collect()
}

ten_shapes!(ResponsesScript);

#[tokio::test]
async fn the_request_is_whole() {
    let asked = sent_request::<ResponsesScript>(sample::full_request()).await;
    assert_eq!(asked.path, "/v1/responses");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    insta::assert_json_snapshot!("responses_everything", asked.body);
}

/// A server that does not stream, and one that sends only complete items.
#[tokio::test]
async fn items_may_come_in_one_piece() {
    let items = [
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}),
        json!({"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hallo"}]}),
        json!({"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": "{\"q\":1}"}),
        json!({"type": "function_call", "call_id": "c2", "name": "look_up", "arguments": "{}"}),
    ];
    let body = json!({"object": "response", "status": "completed", "model": "m-1",
        "output": items, "usage": {"input_tokens": 1, "output_tokens": 2}});
    let mut streamed = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
        streamed.push(event(&done));
    }
    streamed.push(event(&json!({"type": "response.completed", "response": body})));
    for reply in [ScriptedReply::json_body(200, &body), stream_reply(streamed)] {
        let answer = answer_for::<ResponsesScript>(reply).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.reasoning.as_str()), ("Hallo", "Hm."));
        let ids: Vec<&str> = answer.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["c1", "c2"]);
        assert_eq!(answer.calls[0].arguments, ToolArguments::Json(json!({"q": 1})));
        assert_eq!((answer.finish, answer.usage.unwrap().output_tokens), (FinishReason::Calls, 2));
    }
}

#[tokio::test]
async fn an_error_of_the_request_is_not_tried_again() {
    let error = json!({"type": "error", "code": "context_length_exceeded", "message": "too long"});
    let (_, error) = answer_for::<ResponsesScript>(stream_reply([event(&error)])).await.unwrap_err();
    let reason = "too long (context_length_exceeded)".to_owned();
    assert_eq!(error, ModelError::Failed { reason, retryable: false });
}
