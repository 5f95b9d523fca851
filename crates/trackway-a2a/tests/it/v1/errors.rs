//! Complete refusals of 1.0, on both bindings.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use trackway_a2a::Options;

use super::bindings::{TestBinding, WAYS, data_answer, text_message};
use crate::test_server::TestServer;

const AT: &str = "/a2a/agents/script";
const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// The whole error of a binding around the same details.
fn expected_error(way: TestBinding, rpc: i64, http: (u16, &str), message: &str, details: &Value) -> Value {
    match way {
        TestBinding::Rpc => json!({"code": rpc, "message": message, "data": details}),
        TestBinding::Rest => {
            json!({"code": http.0, "status": http.1, "message": message, "details": details})
        }
    }
}

/// Proves X5.
#[tokio::test]
async fn a_task_that_is_not_there() {
    for way in WAYS {
        let site = TestServer::new();
        let refused = site.call_v1(way, "GetTask", &json!({"id": "nope"})).await.unwrap_err();
        let details = json!([
            {"@type": ERROR_INFO, "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org"},
            {"@type": "urn:trackway:advice", "code": "unknown-run",
             "next": "send the id of a task that this agent returned, to this agent's address"},
        ]);
        let message = "task \"nope\" was not found at this address";
        assert_eq!(refused.error, expected_error(way, -32001, (404, "NOT_FOUND"), message, &details));
        let status = if way == TestBinding::Rpc { StatusCode::OK } else { StatusCode::NOT_FOUND };
        assert_eq!(refused.status, status);
    }
}

/// Proves X5: the error names the location in the form of the error model, and the reason.
#[tokio::test]
async fn a_parameter_that_is_wrong() {
    for way in WAYS {
        let site = TestServer::new();
        let params = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"raw": "!"}]}});
        let refused = site.call_v1(way, "SendMessage", &params).await.unwrap_err();
        let message = "message/parts/0/raw: this is not base64";
        let root = if way == TestBinding::Rpc { "/params" } else { "" };
        let details = json!([
            {"@type": BAD_REQUEST, "fieldViolations": [
                {"field": "message.parts.0.raw", "description": message}]},
            {"@type": "urn:trackway:advice", "code": "invalid-request",
             "next": "encode the bytes with the standard base64 alphabet",
             "path": format!("{root}/message/parts/0/raw")},
        ]);
        assert_eq!(refused.error, expected_error(way, -32602, (400, "INVALID_ARGUMENT"), message, &details));
    }
}

/// Proves X5: input that the workflow does not accept creates no task.
#[tokio::test]
async fn input_that_does_not_satisfy_the_schema() {
    for way in WAYS {
        let site = TestServer::new();
        let params = json!({"message": {"messageId": "m", "role": "ROLE_USER",
            "parts": [{"data": {"text": 5}}]}});
        for method in ["SendMessage", "SendStreamingMessage"] {
            let refused = site.call_v1(way, method, &params).await.unwrap_err();
            assert_eq!(refused.code, if way == TestBinding::Rpc { -32602 } else { 400 });
            assert_eq!(refused.field(), "text");
            let advice = &refused.details()[1];
            assert_eq!(advice["code"], "invalid-input");
            assert!(advice["next"].as_str().unwrap().contains("schema"), "{advice}");
            assert_eq!(advice["errors"][0]["path"], "/text");
            assert_eq!(advice["schema"]["required"], json!(["text"]));
        }
        assert_eq!(site.call_v1(way, "ListTasks", &json!({})).await.unwrap()["totalSize"], 0);
    }
}

/// Proves X5: every error of the protocol that an agent can return, with its code, status and name.
#[tokio::test]
async fn every_refusal_has_its_number_status_and_name() {
    for way in WAYS {
        let site = TestServer::new();
        let done = site.start_v1_task(way, "m-1", "hello").await;
        let waiting = site.start_v1_task(way, "m-2", "ask").await;
        let (id, text) =
            (json!({"id": done["id"]}), |text: &str| json!({"message": text_message("m-9", text)}));
        let push = json!({"taskId": waiting["id"], "url": "https://a.example/"});
        let mut odd = text("hello");
        odd["message"]["parts"][0]["mediaType"] = json!("application/x-odd");
        let mut picky = text("hello");
        picky["configuration"] = json!({"acceptedOutputModes": ["image/png"]});
        let mut elsewhere = json!({"message": data_answer("m-9", &waiting, &json!({"amount": 1}))});
        elsewhere["message"]["contextId"] = json!("another");
        let mut reused = text("other words");
        reused["message"]["messageId"] = json!("m-1");
        let unknown = json!({"message": data_answer("m-9", &json!({"id": "nope"}), &json!({}))});
        let ended = json!({"message": data_answer("m-9", &done, &json!({"text": "more"}))});
        for (method, params, rpc, http, reason) in [
            ("SendMessage", json!({}), -32602, 400, ""),
            ("SendMessage", unknown, -32001, 404, "TASK_NOT_FOUND"),
            ("SendMessage", ended.clone(), -32004, 400, "UNSUPPORTED_OPERATION"),
            ("SendStreamingMessage", ended, -32004, 400, "UNSUPPORTED_OPERATION"),
            ("SendMessage", elsewhere, -32602, 400, ""),
            ("SendMessage", reused, -32602, 400, ""),
            ("SendMessage", odd, -32005, 400, "CONTENT_TYPE_NOT_SUPPORTED"),
            ("SendMessage", picky.clone(), -32005, 400, "CONTENT_TYPE_NOT_SUPPORTED"),
            ("SendStreamingMessage", picky, -32005, 400, "CONTENT_TYPE_NOT_SUPPORTED"),
            ("CancelTask", id, -32002, 400, "TASK_NOT_CANCELABLE"),
            ("CancelTask", json!({"id": "nope"}), -32001, 404, "TASK_NOT_FOUND"),
            ("GetTask", json!({"id": done["id"], "historyLength": -1}), -32602, 400, ""),
            ("CreateTaskPushNotificationConfig", push, -32003, 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
            ("GetExtendedAgentCard", json!({}), -32004, 400, "UNSUPPORTED_OPERATION"),
        ] {
            let refused = site.call_v1(way, method, &params).await.unwrap_err();
            let code = if way == TestBinding::Rpc { rpc } else { http };
            assert_eq!((refused.code, refused.reason()), (code, reason), "{way:?} {method} {params}");
            let advice = refused.details().as_array().unwrap().last().unwrap();
            assert_eq!(advice["@type"], "urn:trackway:advice");
            if way == TestBinding::Rest {
                assert_eq!(i64::from(refused.status.as_u16()), refused.code);
                let name = match (http, reason) {
                    (404, _) => "NOT_FOUND",
                    (_, "" | "CONTENT_TYPE_NOT_SUPPORTED") => "INVALID_ARGUMENT",
                    _ => "FAILED_PRECONDITION",
                };
                assert_eq!(refused.error["status"], name, "{method} {params}");
            }
        }
        let page = site.call_v1(way, "ListTasks", &json!({})).await.unwrap();
        assert_eq!(page["totalSize"], 2, "nothing happened because of them");
    }
}

async fn rest(
    site: &TestServer,
    method: &str,
    path: &str,
    kind: &str,
    body: &str,
) -> (StatusCode, Value, String) {
    let request = Request::builder().method(method).uri(format!("{AT}/rest/{path}"));
    let request = request.header("content-type", kind).body(Body::from(body.to_owned()));
    let reply = site.send_for_json(request.unwrap()).await;
    let allow = reply.headers.get("allow").map(|allow| allow.to_str().unwrap().to_owned());
    (reply.status, reply.body["error"].clone(), allow.unwrap_or_default())
}

/// Proves X5: errors that have an HTTP status of their own.
#[tokio::test]
async fn addresses_methods_and_bodies_that_http_refuses() {
    let site = TestServer::with_options(Options { body_bytes_max: 1_000, ..Options::default() });
    let json = "application/json";
    let long = "x".repeat(1_001);
    for (method, path, kind, body, status, name, allow) in [
        ("GET", "nothing", json, "", 404, "NOT_FOUND", ""),
        ("GET", "tasks/x/y/z", json, "", 404, "NOT_FOUND", ""),
        ("GET", "message:send", json, "", 405, "NOT_FOUND", "POST"),
        ("DELETE", "tasks/x", json, "", 405, "NOT_FOUND", "GET"),
        ("PUT", "tasks/x/pushNotificationConfigs/c", json, "", 405, "NOT_FOUND", "GET, DELETE"),
        ("POST", "message:send", "text/plain", "{}", 415, "INVALID_ARGUMENT", ""),
        ("POST", "message:send", json, &long, 413, "RESOURCE_EXHAUSTED", ""),
        ("POST", "message:send", json, "{oops", 400, "INVALID_ARGUMENT", ""),
        ("POST", "message:send", json, "", 400, "INVALID_ARGUMENT", ""),
        ("POST", "message:send", json, "[]", 400, "INVALID_ARGUMENT", ""),
        ("POST", "message:send", json, "{\"message\": 5}", 400, "INVALID_ARGUMENT", ""),
        ("POST", "tasks/x:cancel", json, "[]", 400, "INVALID_ARGUMENT", ""),
        ("GET", "tasks?pageSize=x", json, "", 400, "INVALID_ARGUMENT", ""),
    ] {
        let (answered, error, allowed) = rest(&site, method, path, kind, body).await;
        assert_eq!((answered.as_u16(), &error["code"]), (status, &json!(status)), "{method} {path} {body}");
        assert_eq!((&error["status"], allowed.as_str()), (&json!(name), allow), "{method} {path}");
        assert!(error["message"].is_string() && error["details"].is_array());
    }
}

/// Proves X5: the envelope of JSON-RPC, refused in the form of 1.0 if the header names it.
#[tokio::test]
async fn envelopes_that_json_rpc_refuses() {
    let site = TestServer::new();
    for (kind, body, status, code) in [
        ("application/json", "{oops", 200, -32700),
        ("application/json", "[]", 200, -32600),
        ("application/json", r#"{"jsonrpc":"2.0","id":1,"method":"DoSomething"}"#, 200, -32601),
        ("application/json", r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#, 200, -32602),
        ("application/json", r#"{"jsonrpc":"2.0","method":"ListTasks"}"#, 200, -32600),
        ("text/plain", r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#, 415, -32005),
    ] {
        let request = Request::post(AT).header("content-type", kind).header("a2a-version", "1.0");
        let reply = site.send_for_json(request.body(Body::from(body)).unwrap()).await;
        assert_eq!((reply.status.as_u16(), &reply.body["error"]["code"]), (status, &json!(code)), "{body}");
        assert!(reply.body["error"]["data"].is_array(), "{body}");
    }
}

/// A client that names the protocol's own media type receives it; every other client receives plain
/// JSON.
#[tokio::test]
async fn the_media_type_of_the_protocol_is_mirrored() {
    let site = TestServer::new();
    let own = "application/a2a+json";
    for (sent, accepted, expected) in [
        ("application/json", "*/*", "application/json"),
        (own, "*/*", own),
        ("application/a2a+json; charset=utf-8", "*/*", own),
        ("application/json", own, own),
    ] {
        for id in ["nope", "m"] {
            let body = json!({"message": {"messageId": id, "role": "ROLE_USER",
                "parts": if id == "nope" { json!([]) } else { json!([{"text": "hello"}]) }}});
            let request = Request::post(format!("{AT}/rest/message:send"));
            let request = request.header("content-type", sent).header("accept", accepted);
            let (_, headers, _) = site.send_raw(request.body(Body::from(body.to_string())).unwrap()).await;
            assert_eq!(headers["content-type"], expected, "{sent} {accepted} {id}");
        }
    }
}
