//! Requests that are refused, and that nothing happens because of them.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use trackway_a2a::Options;
use trackway_ports::RunFilter;

use crate::site::{Site, answer, message};

async fn post(site: &Site, kind: &str, body: impl Into<Body>) -> (StatusCode, Value) {
    let request = Request::post("/a2a/agents/script").header("content-type", kind);
    let reply = site.http(request.body(body.into()).unwrap()).await;
    (reply.status, reply.body)
}

/// Proves X5.
#[tokio::test]
async fn broken_requests_get_json_rpc_errors() {
    let site = Site::new();
    for (body, code) in [
        ("{oops", -32700),
        ("", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/forget"}"#, -32601),
        // A request without an id is answered, but never carried out.
        (r#"{"jsonrpc":"2.0","method":"tasks/forget"}"#, -32601),
        (r#"{"jsonrpc":"2.0","method":"tasks/get","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"nope"}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"DoSomething"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"message/send"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"nope"}}"#, -32001),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}"#, -32007),
    ] {
        let (status, answer) = post(&site, "application/json", body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
    }
    let (status, answer) =
        post(&site, "text/plain", r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#).await;
    assert_eq!(
        (status, &answer["error"]["code"]),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, &json!(-32005))
    );
}

/// Proves X5.
#[tokio::test]
async fn a_body_beyond_the_bound_is_refused() {
    let site = Site::with(Options { body_bytes_max: 1_000, ..Options::default() });
    let (status, answer) = post(&site, "application/json", "x".repeat(1_001)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer["error"]["data"]["code"], "too-large");
}

/// Proves X5.
#[tokio::test]
async fn invalid_input_makes_no_task_on_send_and_on_stream() {
    let site = Site::new();
    let wrong =
        json!({"messageId": "m", "role": "user", "parts": [{"kind": "data", "data": {"text": 5}}]});
    let file = json!({"messageId": "m", "role": "user",
        "parts": [{"kind": "file", "file": {"uri": "https://a.example"}}]});
    for method in ["message/send", "message/stream"] {
        for message in [&wrong, &file] {
            let (code, data) = site.call(method, json!({"message": message})).await.unwrap_err();
            assert_eq!(code, -32602);
            let fields: Vec<_> = data.as_object().unwrap().keys().collect();
            assert_eq!(fields, ["errors", "schema"]);
            assert_eq!(data["schema"]["required"], json!(["text"]));
            let error = &data["errors"][0];
            assert!(
                error["path"].is_string()
                    && error["message"].is_string()
                    && !error["expected"].is_null()
            );
        }
    }
    let runs = site.runtime.runs(RunFilter::default(), None, 10).await.unwrap();
    assert!(runs.is_empty());
}

#[tokio::test]
async fn tasks_are_known_only_at_their_own_address_and_in_their_own_context() {
    let site = Site::new();
    let task = site.start("m-1", "ask").await;
    let get = json!({"id": task["id"]});
    assert_eq!(site.call_at("other", "tasks/get", get.clone()).await.unwrap_err().0, -32001);
    assert_eq!(site.call_at("other", "tasks/cancel", get.clone()).await.unwrap_err().0, -32001);
    let mut elsewhere = answer("m-2", &task, &json!({"amount": 1}));
    elsewhere["contextId"] = json!("another");
    let (code, data) = site.call("message/send", json!({"message": elsewhere})).await.unwrap_err();
    assert_eq!((code, &data["code"]), (-32602, &json!("session-mismatch")));
    assert_eq!(site.call("tasks/get", get).await.unwrap(), task, "nothing changed");
}

#[tokio::test]
async fn a_finished_task_takes_nothing_more() {
    let site = Site::new();
    let task = site.start("m-1", "hello").await;
    assert_eq!(task["status"]["state"], "completed");
    let again = answer("m-2", &task, &json!({"text": "more"}));
    for method in ["message/send", "message/stream"] {
        let (code, data) = site.call(method, json!({"message": again})).await.unwrap_err();
        assert_eq!((code, &data["code"]), (-32004, &json!("run-ended")));
    }
    let (code, _) = site.call("tasks/cancel", json!({"id": task["id"]})).await.unwrap_err();
    assert_eq!(code, -32002);
    assert_eq!(site.call("tasks/get", json!({"id": task["id"]})).await.unwrap(), task);
}

#[tokio::test]
async fn a_message_id_means_one_message() {
    let site = Site::new();
    let first = site.start("m-1", "hello").await;
    assert_eq!(site.start("m-1", "hello").await["id"], first["id"]);
    let other = json!({"message": message("m-1", "something else")});
    let (code, data) = site.call("message/send", other).await.unwrap_err();
    assert_eq!((code, &data["code"]), (-32602, &json!("message-reused")));
}

/// Proves X5.
#[tokio::test]
async fn what_is_nested_too_deeply_starts_nothing() {
    let site = Site::new();
    for levels in [90, 105, 115, 300] {
        let deep = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let data = json!({"text": "hello", "deep": deep});
        let sent = json!({"messageId": format!("m-{levels}"), "role": "user",
            "parts": [{"kind": "data", "data": data}]});
        let outcome = site.call("message/send", json!({ "message": sent })).await;
        match outcome {
            Ok(task) => assert_eq!((levels, &task["kind"]), (90, &json!("task"))),
            Err((code, _)) => assert_eq!((levels > 90, code), (true, -32602)),
        }
    }
}
