//! OpenAI's chat format.

use serde_json::{Value, json};
use trackway_agent::{Arguments, Finish, ModelError};
use trackway_testkit::{ModelServer, Reply};

use crate::{
    sample,
    shapes::{self, KEY, Numbers, Wire, asked, outcome, stream, ten_shapes},
};

struct Chat;

impl Wire for Chat {
    const KIND: &'static str = "openai";

    fn says(pieces: &[&str]) -> Vec<String> {
        let begin = json!({"role": "assistant", "content": ""});
        let pieces = pieces.iter().map(|piece| json!({"content": piece}));
        std::iter::once(begin).chain(pieces).map(delta).collect()
    }

    fn two_calls(numbers: Numbers) -> Vec<String> {
        let open = |at, id: &str, tool: &str| {
            json!({"index": numbers.index(at), "id": id, "type": "function",
                "function": {"name": tool, "arguments": ""}})
        };
        let more =
            |at, text: &str| json!({"index": numbers.index(at), "function": {"arguments": text}});
        let first = vec![open(0, "c1", "look_up"), more(0, "{\"q\":"), more(0, "\"ü\"}")];
        let second = vec![open(1, "c2", "book"), more(1, "{\"n\":"), more(1, "2}")];
        let calls = numbers.order(first, second);
        calls.into_iter().map(|call| delta(json!({"tool_calls": [call]}))).collect()
    }

    fn call(arguments: &str) -> Vec<String> {
        let function = json!({"name": "look_up", "arguments": arguments});
        vec![delta(json!({"tool_calls": [{"index": 0, "id": "c1", "function": function}]}))]
    }

    fn ends(finish: Finish) -> Vec<String> {
        let usage = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18});
        let last = json!({"model": "m-1", "choices": [], "usage": usage});
        vec![finished(finish), event(&last), "data: [DONE]\n\n".to_owned()]
    }

    fn unterminated() -> (Vec<String>, bool) {
        (vec![finished(Finish::Stop)], true)
    }

    fn error() -> Vec<String> {
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

fn finished(finish: Finish) -> String {
    let reason = match finish {
        Finish::Stop => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
    };
    chunk(&json!({"index": 0, "delta": {}, "finish_reason": reason}))
}

fn chunk(choice: &Value) -> String {
    event(&json!({"object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}))
}

ten_shapes!(Chat);

#[tokio::test]
async fn the_request_is_whole() {
    let asked = asked::<Chat>(sample::everything()).await;
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(asked.header("accept"), Some("text/event-stream"));
    insta::assert_json_snapshot!("openai_everything", asked.body);
    let plain = shapes::asked::<Chat>(sample::question()).await;
    insta::assert_json_snapshot!("openai_question", plain.body);
}

#[tokio::test]
async fn what_is_to_be_echoed_comes_back_with_its_call() {
    let extra = json!({"google": {"thought_signature": "abc"}});
    let function = json!({"name": "look_up", "arguments": "{}"});
    let call = json!({"index": 0, "id": "c1", "function": function, "extra_content": extra});
    let call = delta(json!({"tool_calls": [call]}));
    let events = [Chat::says(&[]), vec![call], Chat::ends(Finish::Calls)].concat();
    let answer = outcome::<Chat>(stream(events)).await.unwrap();
    let echo = answer.calls[0].echo.clone().unwrap();
    let asked = asked::<Chat>(sample::after_echo(echo)).await;
    assert_eq!(asked.body["messages"][2]["tool_calls"][0]["extra_content"], extra);
    // Data that another format keeps there is not sent.
    let foreign = shapes::asked::<Chat>(sample::after_echo(json!({"other": {"id": "x"}}))).await;
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
    let events = deltas.into_iter().map(delta).chain(Chat::ends(Finish::Stop));
    let answer = outcome::<Chat>(stream(events)).await.unwrap();
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("first then", "So."));
}

#[tokio::test]
async fn arguments_may_be_an_object() {
    let function = json!({"name": "look_up", "arguments": {"q": [1, "ü"]}});
    let call = delta(json!({"tool_calls": [{"function": function}]}));
    let events = [vec![call], Chat::ends(Finish::Stop)].concat();
    let answer = outcome::<Chat>(stream(events)).await.unwrap();
    assert_eq!(answer.calls[0].id, "call_0");
    assert_eq!(answer.calls[0].arguments, Arguments::Json(json!({"q": [1, "ü"]})));
}

#[tokio::test]
async fn a_terminator_alone_ends_an_answer_without_usage() {
    let done = "data: [DONE]".to_owned();
    let events = [Chat::says(&["Hallo"]), vec![done]].concat();
    let answer = outcome::<Chat>(stream(events)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish, answer.usage), ("Hallo", Finish::Stop, None));
}

/// If a server rejects the usage option, the request is repeated without it, and later requests omit
/// it.
#[tokio::test]
async fn usage_is_not_insisted_on() {
    let server = ModelServer::start().await;
    let detail =
        json!([{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]);
    server.queue(Reply::json(422, &json!({"object": "error", "message": {"detail": detail}})));
    server.queue(ModelServer::openai().says("Hallo"));
    server.queue(Reply::refusal(422, "stream_options again?"));
    let provider = shapes::provider::<Chat>(&server);
    assert_eq!(shapes::ask(&provider, sample::question()).await.unwrap().text, "Hallo");
    shapes::ask(&provider, sample::question()).await.unwrap_err();
    let asked = server.asked().into_iter();
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
    let answer = outcome::<Chat>(Reply::json(200, &body)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("Hm.", 2));
    assert_eq!((answer.finish, answer.usage.unwrap().output_tokens), (Finish::Calls, 4));
    let broken = Reply::json(200, &json!({"error": {"message": "no", "code": 400}}));
    let (_, error) = outcome::<Chat>(broken).await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
}

#[tokio::test]
async fn what_is_no_answer_is_told() {
    let page = Reply::stream().header("content-type", "text/html").send("<html></html>");
    let (_, error) = outcome::<Chat>(page).await.unwrap_err();
    assert!(error.to_string().contains("text/html") && !error.is_retryable(), "{error}");
    let (_, error) = outcome::<Chat>(Reply::stream().data("{oops")).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreadable { .. }), "{error}");
}

#[tokio::test]
async fn a_stream_is_known_by_how_it_begins() {
    let events = [Chat::says(&["Hallo"]), Chat::ends(Finish::Stop)].concat();
    for name in ["application/json", "text/plain; charset=utf-8", ""] {
        let reply = stream(events.clone()).header("content-type", name);
        assert_eq!(outcome::<Chat>(reply).await.unwrap().text, "Hallo", "{name}");
    }
}

/// The scripted answers of tests are answers of this format.
#[tokio::test]
async fn the_scripted_server_speaks_it() {
    let script = ModelServer::openai()
        .thinks("Hm.")
        .says("I look it up.")
        .calls(&[("c1", "look_up", "{\"q\":\"ü\"}"), ("c2", "clock", "{}")])
        .usage(8, 9);
    let answer = outcome::<Chat>(script.into()).await.unwrap();
    assert_eq!(answer.text, "I look it up.");
    assert_eq!(answer.reasoning, "Hm.");
    assert_eq!(answer.calls[0].arguments, Arguments::Json(json!({"q": "ü"})));
    assert_eq!(answer.calls[1].id, "c2");
    assert_eq!(answer.usage.map(|usage| usage.input_tokens), Some(8));
}
