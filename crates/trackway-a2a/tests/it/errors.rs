//! Refused requests, which have no effect.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use trackway_a2a::{Options, PushSender, PushSenderOptions};
use trackway_ports::RunFilter;

use crate::test_server::{TestServer, data_answer, text_message};

async fn post(site: &TestServer, kind: &str, body: impl Into<Body>) -> (StatusCode, Value) {
    let request = Request::post("/a2a/agents/script").header("content-type", kind);
    let reply = site.send_for_json(request.body(body.into()).unwrap()).await;
    (reply.status, reply.body)
}

/// Proves X5.
#[tokio::test]
async fn broken_requests_get_json_rpc_errors() {
    let site = TestServer::new();
    for (body, code) in [
        ("{oops", -32700),
        ("", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/forget"}"#, -32601),
        // A request without an id is answered, but never executed.
        (r#"{"jsonrpc":"2.0","method":"tasks/forget"}"#, -32601),
        (r#"{"jsonrpc":"2.0","method":"tasks/get","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"nope"}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"DoSomething"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"message/send"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{}}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"nope"}}"#, -32001),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}"#, -32007),
    ] {
        let (status, answer) = post(&site, "application/json", body).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        assert_eq!(answer["error"]["code"], code, "{body}: {answer}");
    }
    let (status, answer) = post(&site, "text/plain", r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#).await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::UNSUPPORTED_MEDIA_TYPE, &json!(-32005)));
}

/// Proves X5.
#[tokio::test]
async fn names_of_methods_are_exact() {
    let site = TestServer::new();
    let long = "x".repeat(100_000);
    for method in ["", "tasks/list", "message/Send", "sendMessage", "rpc.discover", "message/send ", &long] {
        let (code, _) = site.call_rpc(method, json!({})).await.unwrap_err();
        assert_eq!(code, -32601, "{method:.40}");
    }
    for method in ["set", "get", "list", "delete"] {
        let method = format!("tasks/pushNotificationConfig/{method}");
        assert_eq!(site.call_rpc(&method, json!({})).await.unwrap_err().0, -32602, "{method}");
    }
}

async fn has_no_runs(site: &TestServer) {
    assert_eq!(site.runtime.list_runs(RunFilter::default(), None, 10).await.unwrap(), []);
}

/// Proves X5: on a send and on a stream alike, with what to do, and nothing starts.
#[tokio::test]
async fn parameters_of_the_wrong_form_are_invalid() {
    let site = TestServer::new();
    let with = |field: &str, value: Value| {
        let mut message = text_message("m", "hello");
        message[field] = value;
        json!({ "message": message })
    };
    let without = |field: &str| {
        let mut message = text_message("m", "hello");
        message.as_object_mut().unwrap().remove(field);
        json!({ "message": message })
    };
    let part = |part: Value| with("parts", json!([part]));
    let configured =
        |configuration: Value| json!({"message": text_message("m", "hello"), "configuration": configuration});
    let nested = (0..70).fold(json!(1), |inner, _| json!([inner]));
    for params in [
        json!([]),
        json!("x"),
        json!({}),
        json!({"message": null}),
        json!({"message": []}),
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
        part(json!(1)),
        part(json!({"kind": "text"})),
        part(json!({"kind": "data"})),
        part(json!({"kind": "file", "file": {}})),
        part(json!({"kind": "video"})),
        part(json!({"text": "x"})),
        part(json!({"kind": "text", "text": 5})),
        part(json!({"kind": "file", "file": {"bytes": "no base64!"}})),
        part(json!({"kind": "data", "data": {"text": nested}})),
        with("parts", json!(vec![json!({"kind": "text", "text": "x"}); 1_001])),
        with("taskId", json!(7)),
        with("contextId", json!(7)),
        with("contextId", json!("")),
        with("metadata", json!([])),
        with("metadata", json!({"questionId": 7})),
        with("metadata", json!({"questionId": "nonsense"})),
        with("referenceTaskIds", json!([7])),
        with("extensions", json!("x")),
        configured(json!([])),
        configured(json!({"blocking": "yes"})),
        configured(json!({"historyLength": -1})),
        configured(json!({"historyLength": "2"})),
    ] {
        for method in ["message/send", "message/stream"] {
            let (code, data) = site.call_rpc(method, params.clone()).await.unwrap_err();
            assert_eq!(code, -32602, "{method} {params:.200}");
            let advised = data["code"].is_string() && data["next"].is_string();
            assert!(advised || data["errors"].is_array(), "{data}");
        }
    }
    has_no_runs(&site).await;
}

/// Proves X5.
#[tokio::test]
async fn methods_of_tasks_check_their_parameters() {
    let site = TestServer::new();
    for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
        for wrong in [json!({}), json!({"id": 7}), json!({"id": null}), json!([]), Value::Null] {
            let (code, _) = site.call_rpc(method, wrong.clone()).await.unwrap_err();
            assert_eq!(code, -32602, "{method} {wrong}");
        }
    }
    let long = "x".repeat(10_000);
    for method in ["tasks/get", "tasks/cancel"] {
        for unknown in ["", "x", "run_", "run_00000000000070008000000000000000", "RUN_0", &long] {
            let (code, _) = site.call_rpc(method, json!({"id": unknown})).await.unwrap_err();
            assert_eq!(code, -32001, "{method} {unknown:.40}");
        }
    }
    let negative = json!({"id": "x", "historyLength": -5});
    assert_eq!(site.call_rpc("tasks/get", negative).await.unwrap_err().0, -32602);
}

/// Proves X5: as the specification asks, wherever they are.
#[tokio::test]
async fn unknown_fields_are_ignored() {
    let site = TestServer::new();
    let mut message = text_message("m", "hello");
    message["colour"] = json!("red");
    let configuration = json!({"blocking": true, "priority": 9});
    let params = json!({"message": message, "configuration": configuration, "trace": []});
    let task = site.call_rpc("message/send", params).await.unwrap();
    assert_eq!(task["status"]["state"], "completed");
}

/// Proves X5: output of another kind, and notifications to where nothing is sent.
#[tokio::test]
async fn configurations_that_cannot_be_served_are_refused() {
    let outgoing = Some(PushSender::new(PushSenderOptions::default()));
    let site = TestServer::with_options(Options { outgoing, ..Options::default() });
    for (configuration, expected) in [
        (json!({"acceptedOutputModes": ["video/mp4"]}), -32005),
        (json!({"pushNotificationConfig": {"url": "http://127.0.0.1:1/"}}), -32602),
    ] {
        for method in ["message/send", "message/stream"] {
            let params = json!({"message": text_message("m", "hello"), "configuration": configuration});
            let (code, _) = site.call_rpc(method, params).await.unwrap_err();
            assert_eq!(code, expected, "{method} {configuration}");
        }
    }
    has_no_runs(&site).await;
}

/// Proves X5.
#[tokio::test]
async fn a_body_beyond_the_bound_is_refused() {
    let site = TestServer::with_options(Options { body_bytes_max: 1_000, ..Options::default() });
    let (status, answer) = post(&site, "application/json", "x".repeat(1_001)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer["error"]["data"]["code"], "too-large");
}

/// Proves X5.
#[tokio::test]
async fn invalid_input_makes_no_task_on_send_and_on_stream() {
    let site = TestServer::new();
    let wrong = json!({"messageId": "m", "role": "user", "parts": [{"kind": "data", "data": {"text": 5}}]});
    let file = json!({"messageId": "m", "role": "user",
        "parts": [{"kind": "file", "file": {"uri": "https://a.example"}}]});
    for method in ["message/send", "message/stream"] {
        for message in [&wrong, &file] {
            let (code, data) = site.call_rpc(method, json!({"message": message})).await.unwrap_err();
            assert_eq!(code, -32602);
            let fields: Vec<_> = data.as_object().unwrap().keys().collect();
            assert_eq!(fields, ["errors", "schema"]);
            assert_eq!(data["schema"]["required"], json!(["text"]));
            let error = &data["errors"][0];
            assert!(
                error["path"].is_string() && error["message"].is_string() && !error["expected"].is_null()
            );
        }
    }
    has_no_runs(&site).await;
}

#[tokio::test]
async fn tasks_are_known_only_at_their_own_address_and_in_their_own_context() {
    let site = TestServer::new();
    let task = site.start_task("m-1", "ask").await;
    let get = json!({"id": task["id"]});
    assert_eq!(site.call_rpc_at("other", "tasks/get", get.clone()).await.unwrap_err().0, -32001);
    assert_eq!(site.call_rpc_at("other", "tasks/cancel", get.clone()).await.unwrap_err().0, -32001);
    let mut elsewhere = data_answer("m-2", &task, &json!({"amount": 1}));
    elsewhere["contextId"] = json!("another");
    let to = |id: &str| data_answer("m-3", &json!({ "id": id }), &json!({"amount": 1}));
    for method in ["message/send", "message/stream"] {
        let (code, data) = site.call_rpc(method, json!({"message": elsewhere})).await.unwrap_err();
        assert_eq!((code, &data["code"]), (-32602, &json!("session-mismatch")));
        for unknown in ["run_00000000000070008000000000000000", "no such form"] {
            let (code, _) = site.call_rpc(method, json!({"message": to(unknown)})).await.unwrap_err();
            assert_eq!(code, -32001, "{method} {unknown}");
        }
        let own = json!({"message": to(task["id"].as_str().unwrap())});
        assert_eq!(site.call_rpc_at("other", method, own).await.unwrap_err().0, -32001, "{method}");
    }
    assert_eq!(site.call_rpc("tasks/get", get).await.unwrap(), task, "nothing changed");
}

/// Proves X5.
#[tokio::test]
async fn a_question_that_was_never_asked_is_refused_and_nothing_changes() {
    let site = TestServer::new();
    let task = site.start_task("m-1", "ask").await;
    let mut lost = data_answer("m-2", &task, &json!({"amount": 1}));
    lost["metadata"] = json!({"questionId": "qst_00000000000070008000000000000000"});
    let (code, data) = site.call_rpc("message/send", json!({"message": lost})).await.unwrap_err();
    assert_eq!((code, &data["path"]), (-32602, &json!("/params/message/metadata/questionId")));
    assert_eq!(site.call_rpc("tasks/get", json!({"id": task["id"]})).await.unwrap(), task);
}

#[tokio::test]
async fn a_finished_task_takes_nothing_more() {
    let site = TestServer::new();
    for (text, state) in [("hello", "completed"), ("fail", "failed"), ("reject", "rejected")] {
        let task = site.start_task(text, text).await;
        assert_eq!(task["status"]["state"], state);
        let again = data_answer("m-2", &task, &json!({"text": "more"}));
        for method in ["message/send", "message/stream"] {
            let (code, data) = site.call_rpc(method, json!({"message": again})).await.unwrap_err();
            assert_eq!((code, &data["code"]), (-32004, &json!("run-ended")));
        }
        let id = json!({"id": task["id"]});
        let (code, data) = site.call_rpc("tasks/cancel", id.clone()).await.unwrap_err();
        assert_eq!((code, &data["code"]), (-32002, &json!("run-ended")));
        assert_eq!(site.call_rpc("tasks/get", id).await.unwrap(), task);
    }
}

#[tokio::test]
async fn a_message_id_means_one_message() {
    let site = TestServer::new();
    let first = site.start_task("m-1", "hello").await;
    assert_eq!(site.start_task("m-1", "hello").await["id"], first["id"]);
    let waiting = site.start_task("m-2", "ask").await;
    let (other, late) =
        (text_message("m-1", "something else"), data_answer("m-1", &waiting, &json!({"amount": 1})));
    for (agent, sent) in [("script", &other), ("other", &other), ("script", &late)] {
        let sent = json!({ "message": sent });
        let (code, data) = site.call_rpc_at(agent, "message/send", sent).await.unwrap_err();
        assert_eq!((code, &data["code"]), (-32602, &json!("message-reused")), "{agent}");
    }
    let now = site.call_rpc("tasks/get", json!({"id": waiting["id"]})).await.unwrap();
    assert_eq!(now, waiting, "nothing changed");
}

/// Proves X5.
#[tokio::test]
async fn what_is_nested_too_deeply_starts_nothing() {
    let site = TestServer::new();
    for levels in [90, 105, 115, 300] {
        let deep = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        let data = json!({"text": "hello", "deep": deep});
        let sent = json!({"messageId": format!("m-{levels}"), "role": "user",
            "parts": [{"kind": "data", "data": data}]});
        let outcome = site.call_rpc("message/send", json!({ "message": sent })).await;
        match outcome {
            Ok(task) => assert_eq!((levels, &task["kind"]), (90, &json!("task"))),
            Err((code, _)) => assert_eq!((levels > 90, code), (true, -32602)),
        }
    }
}
