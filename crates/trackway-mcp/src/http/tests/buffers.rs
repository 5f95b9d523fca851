//! What a protocol session keeps: nothing of an answered call, and few calls at once.

use axum::body::BodyDataStream;
use futures_util::StreamExt as _;

use super::*;
use crate::http::protocol_sessions::{CALLS_OF_SESSION_MAX, SESSION_BYTES_MAX};

/// The response body, chunk by chunk.
struct StreamedReply(BodyDataStream);

impl StreamedReply {
    async fn request(router: &Router, request: HttpRequest<Body>) -> Self {
        Self(router.clone().oneshot(request).await.unwrap().into_body().into_data_stream())
    }

    /// The text up to the chunk with this word, or the whole text if no chunk has it.
    async fn read_until(&mut self, word: &str) -> String {
        let mut text = String::new();
        while let Some(piece) = self.0.next().await {
            text.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
            if text.contains(word) {
                break;
            }
        }
        text
    }
}

fn session_request(session: &str, message: &Value) -> HttpRequest<Body> {
    post_request()
        .header("authorization", "Bearer good")
        .header("mcp-protocol-version", "2025-06-18")
        .header("mcp-session-id", session)
        .body(Body::from(message.to_string()))
        .unwrap()
}

/// The result of a call.
async fn call_in_session(router: &Router, session: &str, message: Value) -> Value {
    let (_, _, answer) = send(router.clone(), session_request(session, &message)).await;
    answer["result"]["structuredContent"].clone()
}

/// A session whose client can ask a person, with a run at the step that needs a person.
async fn session_at_publish(router: &Router) -> (String, Value) {
    let session = open_session_with(router, json!({ "elicitation": {} })).await;
    let start = call(2, "workflow_start", &json!({ "workflowId": "notes" }));
    let start = call_in_session(router, &session, start).await;
    let gathered = call(3, "workflow_advance", &testing::advance_arguments(&start, "gathered"));
    let second = call_in_session(router, &session, gathered).await;
    (session, second)
}

fn call(id: usize, name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Proves X5, X6: the answer to a finished call is not kept if the client has not fetched it. It would be
/// in memory for as long as the session is silent. The same call gives the same answer.
#[tokio::test]
async fn a_call_that_is_over_leaves_nothing_in_its_session() {
    let (_at, router) = guarded_router().await;
    let (session, second) = session_at_publish(&router).await;
    let publish = call(4, "workflow_advance", &testing::advance_arguments(&second, "published"));
    let question = {
        // The client disconnects before its call is answered.
        let mut reply = StreamedReply::request(&router, session_request(&session, &publish)).await;
        reply.read_until("elicitation/create").await
    };
    let first = question.lines().find_map(|line| line.strip_prefix("id:")).unwrap().trim();
    let params = json!({ "requestId": 4 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert!(send_as_older_client(&router, "good", Some(&session), &cancel).await.0.is_success());
    let again = HttpRequest::builder()
        .uri("/mcp")
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .header("authorization", "Bearer good")
        .header("mcp-session-id", &session)
        .header("last-event-id", first)
        .body(Body::empty())
        .unwrap();
    assert_eq!(StreamedReply::request(&router, again).await.read_until("elicitation/create").await, "");
}

/// Proves X5, X6: the calls of a session are limited in bytes, whatever their number.
#[tokio::test]
async fn a_session_has_a_bounded_number_of_bytes_under_way() {
    let (_at, router) = guarded_router().await;
    let (session, second) = session_at_publish(&router).await;
    let mut publish = testing::advance_arguments(&second, &"x".repeat(200 * 1024));
    publish["output"] = json!({ "text": "x".repeat(200 * 1024) });
    let fit = SESSION_BYTES_MAX as usize / publish.to_string().len();
    assert!(fit < CALLS_OF_SESSION_MAX);
    for id in 0..fit {
        let message = call(10 + id, "workflow_advance", &publish);
        let mut reply = StreamedReply::request(&router, session_request(&session, &message)).await;
        assert!(reply.read_until("elicitation/create").await.contains("elicitation/create"));
    }
    let refused = call_in_session(&router, &session, call(1_000, "workflow_advance", &publish)).await;
    assert_eq!(refused["error"]["retryable"], true, "{refused}");
}

/// Proves X5, X6: calls that wait for a person stay when their client disconnects, so their number per
/// session is limited.
#[tokio::test]
async fn a_session_has_a_bounded_number_of_calls_under_way() {
    let (_at, router) = guarded_router().await;
    let (session, second) = session_at_publish(&router).await;
    let publish = testing::advance_arguments(&second, "published");
    let mut last = None;
    for id in 0..CALLS_OF_SESSION_MAX {
        let message = call(10 + id, "workflow_advance", &publish);
        // The client disconnects from all calls but the last.
        let mut reply = StreamedReply::request(&router, session_request(&session, &message)).await;
        let question = reply.read_until("elicitation/create").await;
        assert!(question.contains("elicitation/create"), "{question}");
        last = Some((reply, question));
    }
    let refused = call_in_session(&router, &session, call(1_000, "workflow_list", &json!({}))).await;
    assert_eq!(refused["error"]["code"], "invalid-request", "{refused}");
    assert_eq!(refused["error"]["retryable"], true, "{refused}");
    // Another session has its own limit.
    let other = open_session(&router).await;
    let message = call(2, "workflow_list", &json!({}));
    let (_, _, answer) = send(router.clone(), session_request(&other, &message)).await;
    assert_eq!(answer["result"]["structuredContent"]["error"], Value::Null, "{answer}");
    // An answered call makes room.
    let (mut reply, question) = last.unwrap();
    let question = question.lines().filter_map(|line| line.strip_prefix("data:"));
    let question: Value = question.filter_map(|data| serde_json::from_str(data).ok()).next().unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    assert!(send_as_older_client(&router, "good", Some(&session), &answer).await.0.is_success());
    assert!(reply.read_until("confirmation-declined").await.contains("confirmation-declined"));
    let list = call_in_session(&router, &session, call(1_001, "workflow_list", &json!({}))).await;
    assert_eq!(list["error"], Value::Null, "{list}");
}
