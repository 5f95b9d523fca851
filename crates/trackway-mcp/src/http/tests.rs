//! HTTP: which callers get access, and that every error is JSON.

use axum::{
    body::Body,
    http::{HeaderMap, Method, Request as HttpRequest},
};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use trackway_domain::Scopes;
use trackway_ports::{Authenticator, Credentials, PortFuture};

use super::*;
use crate::testing;

mod buffers;

const ACCEPT: &str = "application/json, text/event-stream";

/// Accepts the keys `good`, `narrow` (only for a workflow that does not exist) and `other` (another
/// caller), and refuses all others.
#[derive(Debug)]
struct FakeAuthenticator;

impl Authenticator for FakeAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        Box::pin(async move {
            match credentials.bearer {
                Some("good") => Ok(Identity::new(Caller::new("t", "u"), Scopes::all_workflows_and_agents())),
                Some("narrow") => {
                    let scopes = Scopes::new(["workflow:other:run"]).unwrap();
                    Ok(Identity::new(Caller::new("t", "u"), scopes))
                }
                Some("other") => Ok(Identity::new(Caller::new("t", "v"), Scopes::all_workflows_and_agents())),
                Some(_) => Err(Unauthenticated::Wrong { reason: "no such key".to_owned() }),
                None => Err(Unauthenticated::Missing),
            }
        })
    }
}

/// The door behind HTTP with its keys and the workflow `notes`; the folder goes with the first.
async fn guarded_router() -> (testing::TestWorkflowFolder, Router) {
    let at = testing::TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", testing::NOTES);
    let router = McpHttpDoor::new(at.open_door().await, Some(Arc::new(FakeAuthenticator)), 1 << 20).router();
    (at, router)
}

fn post_request() -> axum::http::request::Builder {
    HttpRequest::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("host", "localhost:7420")
        .header("accept", ACCEPT)
        .header("content-type", "application/json")
}

async fn send(router: Router, request: HttpRequest<Body>) -> (StatusCode, HeaderMap, Value) {
    let response = router.oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let json = text.lines().find_map(|line| serde_json::from_str(line.trim_start_matches("data:")).ok());
    (parts.status, parts.headers, json.unwrap_or_default())
}

/// Proves X6, T1: a foreign page is refused with a key and without.
#[tokio::test]
async fn foreign_pages_are_refused() {
    let at = testing::TestWorkflowFolder::new();
    for gatekeeper in [None, Some(Arc::new(FakeAuthenticator) as Arc<dyn Authenticator>)] {
        let router = McpHttpDoor::new(at.open_door().await, gatekeeper, 1 << 20).router();
        let foreign = ["https://evil.example", "null", "http://localhost.evil.example:7420"];
        for origin in foreign {
            let request = post_request().header("origin", origin).header("authorization", "Bearer good");
            let (status, headers, body) = send(router.clone(), request.body(Body::from("{}")).unwrap()).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{origin}");
            assert_eq!(headers[header::CONTENT_TYPE], "application/problem+json");
            assert_eq!(body["code"], "forbidden");
        }
        for origin in ["http://127.0.0.1:7420", "http://localhost:9", "http://localhost"] {
            let request = post_request().header("origin", origin).header("authorization", "Bearer good");
            let (status, ..) = send(router.clone(), request.body(Body::from("{}")).unwrap()).await;
            assert_ne!(status, StatusCode::FORBIDDEN, "{origin}");
        }
    }
}

/// Proves X6: unknown callers are refused before their body is read.
#[tokio::test]
async fn callers_without_a_key_are_refused() {
    let (_at, router) = guarded_router().await;
    for key in [None, Some("Bearer bad"), Some("Basic good")] {
        let mut request = post_request();
        if let Some(key) = key {
            request = request.header("authorization", key);
        }
        let (status, headers, body) = send(router.clone(), request.body(Body::from("{}")).unwrap()).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{key:?}");
        assert_eq!(headers[header::WWW_AUTHENTICATE], "Bearer");
        assert_eq!(body["code"], "unauthenticated");
    }
}

/// Proves T8: every answer to a mistake is JSON.
#[tokio::test]
async fn errors_are_json() {
    let at = testing::TestWorkflowFolder::new();
    let router = McpHttpDoor::new(at.open_door().await, None, 64).router();
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(100));
    let cases = [
        (post_request().body(Body::from("not json")).unwrap(), 400..500),
        (post_request().body(Body::from(long)).unwrap(), 413..414),
        (post_request().header("mcp-session-id", "nobody").body(Body::from("{}")).unwrap(), 400..500),
        (
            HttpRequest::builder()
                .method("PUT")
                .uri("/mcp")
                .header("host", "localhost")
                .body(Body::empty())
                .unwrap(),
            405..406,
        ),
        (
            HttpRequest::builder().uri("/mcp").header("host", "localhost").body(Body::empty()).unwrap(),
            400..500,
        ),
    ];
    for (request, expected) in cases {
        let shown = format!("{request:?}");
        let (status, headers, body) = send(router.clone(), request).await;
        assert!(expected.contains(&status.as_u16()), "{shown}: {status} {body}");
        let kind = headers[header::CONTENT_TYPE].to_str().unwrap();
        assert!(kind.contains("json"), "{shown}: {kind}");
        assert!(body.is_object(), "{shown}: {body}");
    }
}

/// Proves T8: a call that is too long or too deep to be read is refused like any other.
#[tokio::test]
async fn unparsable_calls_are_answered_under_their_id() {
    let at = testing::TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", testing::NOTES);
    let router = McpHttpDoor::new(at.open_door().await, None, 1 << 20).router();
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let long = format!("\"{}\"", "x".repeat(3 << 20));
    for (value, method, status) in [
        (deep(124), "tools/call", 200),
        (deep(5_000), "tools/call", 200),
        (long.clone(), "tools/call", 200),
        (deep(124), "ping", 400),
        (long, "ping", 413),
    ] {
        let arguments = format!(r#"{{"workflowId":"notes","context":{{"a":{value}}}}}"#);
        let params = format!(r#"{{"name":"workflow_start","arguments":{arguments}}}"#);
        let body = format!(r#"{{"method":"{method}","params":{params},"jsonrpc":"2.0","id":"d"}}"#);
        let request = post_request().header("mcp-protocol-version", "2026-07-28");
        let (told_status, _, told) = send(router.clone(), request.body(Body::from(body)).unwrap()).await;
        assert_eq!((told_status.as_u16(), &told["id"]), (status, &json!("d")), "{told}");
        let result = &told["result"];
        let error = &result["structuredContent"]["error"];
        let code = if status == 200 { error } else { &told["error"]["data"] };
        assert_eq!(code["code"], "too-large", "{told}");
        assert_eq!(result.get("resultType").is_some(), status == 200, "{told}");
    }
}

async fn call(router: &Router, key: &str, tool: &str, arguments: &Value) -> Value {
    let params = json!({
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = post_request()
        .header("authorization", format!("Bearer {key}"))
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool);
    let (_, _, told) = send(router.clone(), request.body(Body::from(body.to_string())).unwrap()).await;
    assert!(told["result"]["structuredContent"].is_object(), "{told}");
    told["result"]["structuredContent"].clone()
}

/// Proves X6: each tool checks the scopes of the key, also for a run of the same caller.
#[tokio::test]
async fn every_call_needs_its_scope() {
    let (_at, router) = guarded_router().await;
    let start = json!({ "workflowId": "notes" });
    let run = call(&router, "good", "workflow_start", &start).await;
    let (state, ack) = (&run["stateToken"], &run["ackToken"]);
    let calls = [
        ("workflow_inspect", start.clone()),
        ("workflow_start", start),
        ("workflow_advance", json!({ "stateToken": state })),
        ("workflow_advance", json!({ "stateToken": state, "ackToken": ack })),
        ("workflow_checkpoint", json!({ "stateToken": state, "notesMarkdown": "n" })),
        ("workflow_checkpoint", json!({ "sessionId": "S", "notesMarkdown": "n" })),
    ];
    for (tool, arguments) in calls {
        let refused = call(&router, "narrow", tool, &arguments).await;
        assert_eq!(refused["error"]["code"], "forbidden", "{tool} {arguments}: {refused}");
        let taken = call(&router, "good", tool, &arguments).await;
        assert_eq!(taken["error"], Value::Null, "{tool} {arguments}");
    }
    let list = call(&router, "narrow", "workflow_list", &json!({})).await;
    assert_eq!(list["workflows"], json!([]));
}

/// One message of a client of an older revision.
async fn send_as_older_client(
    router: &Router,
    key: &str,
    session: Option<&str>,
    message: &Value,
) -> (StatusCode, HeaderMap, Value) {
    let mut request = post_request()
        .header("authorization", format!("Bearer {key}"))
        .header("mcp-protocol-version", "2025-06-18");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    send(router.clone(), request.body(Body::from(message.to_string())).unwrap()).await
}

/// The id of a session that `good` opened.
async fn open_session(router: &Router) -> String {
    open_session_with(router, json!({})).await
}

async fn open_session_with(router: &Router, capabilities: Value) -> String {
    let greeting = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "0" },
        },
    });
    let (status, headers, _) = send_as_older_client(router, "good", None, &greeting).await;
    assert_eq!(status, StatusCode::OK);
    let session = headers["mcp-session-id"].to_str().unwrap().to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert!(send_as_older_client(router, "good", Some(&session), &ready).await.0.is_success());
    session
}

/// Proves T8: a body that is not a message is answered as JSON-RPC says.
#[tokio::test]
async fn invalid_messages_get_a_jsonrpc_error() {
    let (_at, router) = guarded_router().await;
    let session = open_session(&router).await;
    for (body, status, code) in [
        ("{", 400, -32700),
        ("", 400, -32700),
        ("{}", 400, -32600),
        ("5", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"prompts/list"}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#, 200, -32601),
    ] {
        let request = post_request().header("authorization", "Bearer good");
        let request = request.header("mcp-protocol-version", "2025-06-18");
        let request = request.header("mcp-session-id", &session).body(Body::from(body)).unwrap();
        let (told_status, _, told) = send(router.clone(), request).await;
        assert_eq!((told_status.as_u16(), &told["error"]["code"]), (status, &json!(code)), "{body}: {told}");
        if code == -32601 {
            let message = told["error"]["message"].as_str().unwrap();
            assert!(message.contains("tools/list"), "{message}");
        }
    }
}

/// Proves T1: only revision 2025-03-26 has batches.
#[tokio::test]
async fn a_batch_is_answered_as_a_list_where_the_revision_has_them() {
    let (_at, router) = guarded_router().await;
    let session = open_session(&router).await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 99 } },
        { "jsonrpc": "2.0", "id": "three", "method": "tools/list" },
    ]);
    let send = async |revision: Option<&str>, batch: &Value| {
        let mut request = post_request().header("authorization", "Bearer good");
        if let Some(revision) = revision {
            request = request.header("mcp-protocol-version", revision);
        }
        let request = request.header("mcp-session-id", &session);
        send(router.clone(), request.body(Body::from(batch.to_string())).unwrap()).await
    };
    for revision in [None, Some("2025-03-26")] {
        let (status, _, told) = send(revision, &batch).await;
        assert_eq!(status, StatusCode::OK, "{told}");
        let ids: Vec<_> = told.as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        assert_eq!(ids, [json!(2), json!("three")], "{told}");
    }
    for (revision, batch) in [
        (Some("2025-06-18"), &batch),
        (None, &json!([])),
        (None, &json!(vec![&batch[0]; 65])),
        (None, &json!([{ "jsonrpc": "2.0", "id": 1, "method": "initialize" }])),
    ] {
        let (status, _, told) = send(revision, batch).await;
        assert_eq!((status.as_u16(), &told["error"]["code"]), (400, &json!(-32600)), "{told}");
    }
}

/// Proves X6: a caller that ends a session is informed that it has ended.
#[tokio::test]
async fn ending_a_session_answers_204() {
    let (_at, router) = guarded_router().await;
    let session = open_session(&router).await;
    let end = HttpRequest::builder().method(Method::DELETE).uri("/mcp");
    let end = end.header("host", "localhost").header("authorization", "Bearer good");
    let (status, ..) = send_empty(&router, end.header("mcp-session-id", &session)).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let (status, ..) = send_as_older_client(&router, "good", Some(&session), &ping).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// Proves X6: unused sessions make room for new ones.
#[tokio::test]
async fn a_caller_has_a_bounded_number_of_sessions() {
    let (_at, router) = guarded_router().await;
    let first = open_session(&router).await;
    let mut last = String::new();
    for _ in 0..128 {
        last = open_session(&router).await;
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let (status, ..) = send_as_older_client(&router, "good", Some(&first), &ping).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, ..) = send_as_older_client(&router, "good", Some(&last), &ping).await;
    assert_eq!(status, StatusCode::OK);
}

/// Proves X6: a session belongs to the caller that opened it. Another caller that has its id gets the
/// answer that it does not exist, and cannot end it.
#[tokio::test]
async fn a_stolen_session_id_opens_nothing() {
    let (_at, router) = guarded_router().await;
    let session = &*open_session(&router).await;
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });

    let (own, _) = session.rsplit_once('.').unwrap();
    for (key, stolen) in [("other", session), ("good", own), ("good", "nobody")] {
        let (status, _, told) = send_as_older_client(&router, key, Some(stolen), &list).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{key}: {told}");
        assert_eq!(told["code"], "invalid-request");
        let end = HttpRequest::builder()
            .method(Method::DELETE)
            .uri("/mcp")
            .header("host", "localhost")
            .header("authorization", format!("Bearer {key}"))
            .header("mcp-session-id", stolen);
        let (status, ..) = send_empty(&router, end).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{key}");
    }
    // Another key of the same caller identifies the same caller.
    for key in ["good", "narrow"] {
        let (status, _, told) = send_as_older_client(&router, key, Some(session), &list).await;
        assert_eq!(status, StatusCode::OK, "{key}: {told}");
        assert!(told["result"]["tools"].is_array(), "{key}: {told}");
    }
}

async fn send_empty(
    router: &Router,
    request: axum::http::request::Builder,
) -> (StatusCode, HeaderMap, Value) {
    send(router.clone(), request.body(Body::empty()).unwrap()).await
}
