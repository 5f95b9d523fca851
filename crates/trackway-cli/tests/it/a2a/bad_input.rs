//! Whatever JSON-RPC is sent, the answer is JSON with the right number, and the server lives on.

use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};

use super::{
    bad_requests::works,
    support::{Server, data, reply, soon},
};

const JSON: &str = "application/json";

async fn post(
    server: &Server,
    path: &str,
    kind: &str,
    body: impl Into<reqwest::Body>,
) -> (u16, Value) {
    let request = server.http().post(server.url(path)).header(CONTENT_TYPE, kind).body(body);
    let response = soon("an answer", request.send()).await.unwrap();
    let status = response.status().as_u16();
    (status, soon("a body", reply(response)).await.unwrap())
}

fn rpc(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()
}

/// Bodies that must be refused with that number, on a server that still works afterwards.
async fn refused(cases: Vec<(String, i64)>) {
    let server = Server::start();
    for (body, code) in cases {
        let shown: String = body.chars().take(200).collect();
        let (status, answer) = post(&server, "/a2a/agents/echo", JSON, body).await;
        assert_eq!((status, answer["jsonrpc"].as_str()), (200, Some("2.0")), "{shown}: {answer}");
        let error = &answer["error"];
        assert_eq!(error["code"], code, "{shown}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        let data = &error["data"];
        assert!(
            data["code"].is_string() && data["next"].is_string() || data["errors"].is_array(),
            "{error}"
        );
        assert!(answer.get("result").is_none());
    }
    works(&server).await;
}

/// Proves X5.
#[tokio::test]
async fn what_is_no_json_is_a_parse_error() {
    let cases = [
        "",
        " ",
        "{",
        "{oops",
        "nul",
        "{\"jsonrpc\":\"2.0\"",
        "{\"a\":1}}",
        "\u{feff}{}",
        "<html>",
        "{\"a\":01}",
    ];
    refused(cases.map(|body| (body.to_owned(), -32700)).into()).await;
}

/// Proves X5.
#[tokio::test]
async fn what_is_no_request_is_an_invalid_request() {
    let cases = [
        "[]",
        "1",
        "null",
        "\"message/send\"",
        "{}",
        r#"[{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}]"#,
        r#"{"id":1,"method":"tasks/get"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"tasks/get"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"tasks/get"}"#,
        r#"{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"tasks/get"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"tasks/get"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"tasks/get"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"tasks/get"}"#,
    ];
    refused(cases.map(|body| (body.to_owned(), -32600)).into()).await;
}

/// Proves X5.
#[tokio::test]
async fn methods_that_are_not_there_are_named_as_such() {
    let none = ["", "tasks/list", "message/Send", "sendMessage", "rpc.discover", "message/send "];
    let mut cases: Vec<_> = none.map(|method| (rpc(method, json!({})), -32601)).into();
    cases.push((rpc(&"x".repeat(100_000), json!({})), -32601));
    for method in ["set", "get", "list", "delete"] {
        cases.push((rpc(&format!("tasks/pushNotificationConfig/{method}"), json!({})), -32602));
    }
    cases.push((rpc("agent/getAuthenticatedExtendedCard", json!({})), -32007));
    refused(cases).await;
}

/// Proves X5.
#[tokio::test]
async fn parameters_of_the_wrong_form_are_invalid() {
    let text = json!([{ "kind": "text", "text": "x" }]);
    let message = json!({ "kind": "message", "messageId": "m", "role": "user", "parts": text });
    let with = |field: &str, value: Value| {
        let mut message = message.clone();
        message[field] = value;
        json!({ "message": message })
    };
    let without = |field: &str| {
        let mut message = message.clone();
        message.as_object_mut().unwrap().remove(field);
        json!({ "message": message })
    };
    let configured =
        |configuration: Value| json!({ "message": message, "configuration": configuration });
    let mut cases = vec![
        json!([]),
        json!("x"),
        json!({}),
        json!({ "message": null }),
        json!({ "message": [] }),
        without("messageId"),
        without("role"),
        without("parts"),
        with("messageId", json!(7)),
        with("messageId", json!("")),
        with("messageId", json!("x".repeat(300))),
        with("messageId", json!("a\u{0}b")),
        with("role", json!("agent")),
        with("role", json!("system")),
        with("kind", json!("task")),
        with("parts", json!([])),
        with("parts", json!({})),
        with("parts", json!([1])),
        with("parts", json!([{ "kind": "text" }])),
        with("parts", json!([{ "kind": "data" }])),
        with("parts", json!([{ "kind": "file", "file": {} }])),
        with("parts", json!([{ "kind": "video" }])),
        with("parts", json!([{ "text": "x" }])),
        with("parts", json!([{ "kind": "text", "text": 5 }])),
        with("parts", json!([{ "kind": "file", "file": { "bytes": "no base64!" } }])),
        with("parts", json!(vec![text[0].clone(); 1_001])),
        with("taskId", json!(7)),
        with("contextId", json!(7)),
        with("contextId", json!("")),
        with("metadata", json!([])),
        with("metadata", json!({ "questionId": 7 })),
        with("metadata", json!({ "questionId": "nonsense" })),
        with("referenceTaskIds", json!([7])),
        with("extensions", json!("x")),
        configured(json!([])),
        configured(json!({ "blocking": "yes" })),
        configured(json!({ "historyLength": -1 })),
        configured(json!({ "historyLength": "2" })),
    ];
    cases.push(with("parts", json!([{ "kind": "data", "data": { "text": nested(70) } }])));
    let send = |method: &'static str| move |params: &Value| (rpc(method, params.clone()), -32602);
    let both = ["message/send", "message/stream"].map(|method| cases.iter().map(send(method)));
    refused(both.into_iter().flatten().collect()).await;
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

/// Proves X5.
#[tokio::test]
async fn task_methods_check_their_parameters() {
    let mut cases = Vec::new();
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        let stream = method == "tasks/resubscribe";
        for wrong in [json!({}), json!({ "id": 7 }), json!({ "id": null }), json!([]), Value::Null]
        {
            cases.push((rpc(method, wrong), -32602));
        }
        for unknown in
            ["", "x", "run_", "run_00000000000070008000000000000000", "RUN_0", &"x".repeat(10_000)]
        {
            // A resubscription is answered with a stream, also when it is refused; see `streams`.
            if !stream {
                cases.push((rpc(method, json!({ "id": unknown })), -32001));
            }
        }
    }
    cases.push((rpc("tasks/get", json!({ "id": "x", "historyLength": -5 })), -32602));
    refused(cases).await;
}

/// Proves X5: fields that nobody knows are ignored, as the specification asks.
#[tokio::test]
async fn unknown_fields_are_ignored() {
    let server = Server::start();
    let message = data(json!({ "text": "x" })).with("colour", json!("red"));
    let configuration = json!({ "blocking": true, "priority": 9 });
    let params = json!({ "message": message.json(), "configuration": configuration, "trace": [] });
    let task = server.agent("echo").call("message/send", params).await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
}

/// Proves X5: push notifications and modes that cannot be served are refused by name.
#[tokio::test]
async fn what_cannot_be_served_is_refused_by_name() {
    let message = data(json!({ "text": "x" }));
    let with = |configuration: Value| {
        rpc("message/send", json!({ "message": message.json(), "configuration": configuration }))
    };
    let push = json!({ "pushNotificationConfig": { "url": "http://127.0.0.1:1/" } });
    refused(vec![
        (with(push), -32602),
        (with(json!({ "acceptedOutputModes": ["video/mp4"] })), -32005),
    ])
    .await;
}

/// Proves X5: nesting that would exhaust a reader, or that could not be read back.
#[tokio::test]
async fn deep_nesting_is_refused() {
    let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let part = |depth| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"message/send","params":{{"message":{{"messageId":"m","role":"user","parts":[{{"kind":"data","data":{{"text":{}}}}}]}}}}}}"#,
            deep(depth)
        )
    };
    let server = Server::start();
    for body in
        [deep(100_000), part(65), part(127), part(1_000), part(100_000), "[".repeat(1_000_000)]
    {
        let (status, answer) = post(&server, "/a2a/agents/echo", JSON, body).await;
        assert_eq!(status, 200);
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!([-32700, -32600, -32602].contains(&code), "{answer}");
    }
    works(&server).await;
}
