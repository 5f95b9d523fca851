//! OpenAI's chat format.

use serde_json::{Value, json};
use trackway_agent::{FinishReason, ModelError, ToolArguments};
use trackway_testkit::{ScriptedModelServer, ScriptedReply};

use crate::{
    sample,
    shapes::{self, FormatScript, IndexStyle, KEY, answer_for, sent_request, stream_reply, ten_shapes},
};

struct ChatScript;

impl FormatScript for ChatScript {
    const KIND: &'static str = "openai";

    fn begin_with_text(pieces: &[&str]) -> Vec<String> {
        let begin = json!({"role": "assistant", "content": ""});
        let pieces = pieces.iter().map(|piece| json!({"content": piece}));
        std::iter::once(begin).chain(pieces).map(delta).collect()
    }

    fn two_tool_calls(numbers: IndexStyle) -> Vec<String> {
        let open = |at, id: &str, tool: &str| {
            json!({"index": numbers.index(at), "id": id, "type": "function",
                "function": {"name": tool, "arguments": ""}})
        };
        let more = |at, text: &str| json!({"index": numbers.index(at), "function": {"arguments": text}});
        let first = vec![open(0, "c1", "look_up"), more(0, "{\"q\":"), more(0, "\"ü\"}")];
        let second = vec![open(1, "c2", "book"), more(1, "{\"n\":"), more(1, "2}")];
        let calls = numbers.order(first, second);
        calls.into_iter().map(|call| delta(json!({"tool_calls": [call]}))).collect()
    }

    fn tool_call(arguments: &str) -> Vec<String> {
        let function = json!({"name": "look_up", "arguments": arguments});
        vec![delta(json!({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}))]
    }

    fn end_events(finish: FinishReason) -> Vec<String> {
        let usage = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18});
        let last = json!({"model": "m-1", "choices": [], "usage": usage});
        vec![finished(finish), event(&last), "data: [DONE]\n\n".to_owned()]
    }

    fn unterminated_end() -> (Vec<String>, bool) {
        (vec![finished(FinishReason::Stop)], true)
    }

    fn error_event() -> Vec<String> {
        vec![event(&json!({"error": {"message": "out of memory", "type": "server_error"}}))]
    }
}

fn event(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

#[expect(clippy::needless_pass_by_value, reason = "a delta is written where it is used")]
fn delta(delta: Value) -> String {
    chunk(&json!({"index": 0, "delta": delta, "finish_reason": null}))
}

fn finished(finish: FinishReason) -> String {
    let reason = match finish {
        FinishReason::Stop => "stop",
        FinishReason::Calls => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::Filtered => "content_filter",
    };
    chunk(&json!({"index": 0, "delta": {}, "finish_reason": reason}))
}

fn chunk(choice: &Value) -> String {
    event(&json!({"object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}))
}

ten_shapes!(ChatScript);

#[tokio::test]
async fn the_request_is_whole() {
    let asked = sent_request::<ChatScript>(sample::full_request()).await;
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    insta::assert_json_snapshot!("openai_everything", asked.body);
    let plain = shapes::sent_request::<ChatScript>(sample::minimal_request()).await;
    insta::assert_json_snapshot!("openai_question", plain.body);
}

#[tokio::test]
async fn echoed_fields_are_sent_back_with_their_call() {
    let extra = json!({"google": {"thought_signature": "abc"}});
    let function = json!({"name": "look_up", "arguments": "{}"});
    let call = json!({"index": 0, "id": "c1", "function": function, "extra_content": extra});
    let call = delta(json!({"tool_calls": [call]}));
    let events =
        [ChatScript::begin_with_text(&[]), vec![call], ChatScript::end_events(FinishReason::Calls)].concat();
    let answer = answer_for::<ChatScript>(stream_reply(events)).await.unwrap();
    let echo = answer.calls[0].echo.clone().unwrap();
    let asked = sent_request::<ChatScript>(sample::request_with_echo(echo)).await;
    assert_eq!(asked.body["messages"][2]["tool_calls"][0]["extra_content"], extra);
    // Data that another format keeps there is not sent.
    let foreign =
        shapes::sent_request::<ChatScript>(sample::request_with_echo(json!({"other": {"id": "x"}}))).await;
    assert_eq!(foreign.body["messages"][2]["tool_calls"][0]["id"], "c1");
}

#[tokio::test]
async fn reasoning_has_two_names_and_content_may_be_a_list() {
    let deltas = [
        json!({"reasoning_content": "first "}),
        json!({"reasoning": "then"}),
        json!({"content": [{"type": "text", "text": "So."}]}),
        json!({"content": null, "refusal": null}),
    ];
    let events = deltas.into_iter().map(delta).chain(ChatScript::end_events(FinishReason::Stop));
    let answer = answer_for::<ChatScript>(stream_reply(events)).await.unwrap();
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("first then", "So."));
}

#[tokio::test]
async fn arguments_may_be_an_object() {
    let function = json!({"name": "look_up", "arguments": {"q": [1, "ü"]}});
    let call = delta(json!({"tool_calls": [{"function": function}]}));
    let events = [vec![call], ChatScript::end_events(FinishReason::Stop)].concat();
    let answer = answer_for::<ChatScript>(stream_reply(events)).await.unwrap();
    assert_eq!(answer.calls[0].id, "call_0");
    assert_eq!(answer.calls[0].arguments, ToolArguments::Json(json!({"q": [1, "ü"]})));
}

#[tokio::test]
async fn a_terminator_alone_ends_an_answer_without_usage() {
    let done = "data: [DONE]".to_owned();
    let events = [ChatScript::begin_with_text(&["Hallo"]), vec![done]].concat();
    let answer = answer_for::<ChatScript>(stream_reply(events)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish, answer.usage), ("Hallo", FinishReason::Stop, None));
}

/// If a server rejects the usage option, the request is repeated without it, and later requests omit
/// it.
#[tokio::test]
async fn usage_is_not_insisted_on() {
    let server = ScriptedModelServer::start().await;
    let detail = json!([{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]);
    server.queue_reply(ScriptedReply::json_body(
        422,
        &json!({"object": "error", "message": {"detail": detail}}),
    ));
    server.queue_reply(ScriptedModelServer::openai_reply().with_text("Hallo"));
    server.queue_reply(ScriptedReply::error_body(422, "stream_options again?"));
    let provider = shapes::provider_for::<ChatScript>(&server);
    assert_eq!(shapes::collect_answer(&provider, sample::minimal_request()).await.unwrap().text, "Hallo");
    shapes::collect_answer(&provider, sample::minimal_request()).await.unwrap_err();
    let asked = server.requests().into_iter();
    let wishes: Vec<bool> = asked.map(|asked| asked.body.get("stream_options").is_some()).collect();
    assert_eq!(wishes, [true, false, false]);
}

/// Some local servers do not stream if there are tools.
#[tokio::test]
async fn an_answer_in_one_piece_is_taken() {
    let calls = json!([
        {"id": "", "function": {"name": "look_up", "arguments": {"q": 1}}},
        {"id": "", "function": {"name": "look_up", "arguments": "{}"}},
    ]);
    let message = json!({"role": "assistant", "content": "Hm.", "tool_calls": calls});
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 4});
    let body = json!({"model": "m-1", "usage": usage,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let answer = answer_for::<ChatScript>(ScriptedReply::json_body(200, &body)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("Hm.", 2));
    assert_eq!((answer.finish, answer.usage.unwrap().output_tokens), (FinishReason::Calls, 4));
    let broken = ScriptedReply::json_body(200, &json!({"error": {"message": "no", "code": 400}}));
    let (_, error) = answer_for::<ChatScript>(broken).await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
}

#[tokio::test]
async fn page_or_broken_json_is_unreadable() {
    let page =
        ScriptedReply::event_stream().with_header("content-type", "text/html").send_bytes("<html></html>");
    let (_, error) = answer_for::<ChatScript>(page).await.unwrap_err();
    assert!(error.to_string().contains("text/html") && !error.is_retryable(), "{error}");
    let (_, error) =
        answer_for::<ChatScript>(ScriptedReply::event_stream().send_data_event("{oops")).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn a_stream_is_known_by_how_it_begins() {
    let events =
        [ChatScript::begin_with_text(&["Hallo"]), ChatScript::end_events(FinishReason::Stop)].concat();
    for name in ["application/json", "text/plain; charset=utf-8", ""] {
        let reply = stream_reply(events.clone()).with_header("content-type", name);
        assert_eq!(answer_for::<ChatScript>(reply).await.unwrap().text, "Hallo", "{name}");
    }
}

/// The scripted answers of tests are answers of this format.
#[tokio::test]
async fn the_scripted_server_speaks_it() {
    let script = ScriptedModelServer::openai_reply()
        .with_reasoning("Hm.")
        .with_text("I look it up.")
        .with_tool_calls(&[("c1", "look_up", "{\"q\":\"ü\"}"), ("c2", "clock", "{}")])
        .with_usage(8, 9);
    let answer = answer_for::<ChatScript>(script.into()).await.unwrap();
    assert_eq!(answer.text, "I look it up.");
    assert_eq!(answer.reasoning, "Hm.");
    assert_eq!(answer.calls[0].arguments, ToolArguments::Json(json!({"q": "ü"})));
    assert_eq!(answer.calls[1].id, "c2");
    assert_eq!(answer.usage.map(|usage| usage.input_tokens), Some(8));
}
