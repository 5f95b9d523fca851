//! The line protocol: nonsense is answered and survived, and a client that closes is let go.

use serde_json::{Value, json};

use crate::testing::{Client, NOTES, Place};

/// Proves T8, T1: lines that are no messages are answered as JSON-RPC says, and the next one counts.
#[tokio::test]
async fn nonsense_is_answered_and_survived() {
    let at = Place::new();
    let mut client = Client::silent(at.door());
    // Before anything was asked, nothing else means anything.
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("\u{1}garbage", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("5", -32600, Value::Null),
        ("{}", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7)),
    ] {
        client.line(line).await;
        let answer = client.next().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}");
    }
    client.line("").await;
    let pong = client.request("ping", json!({})).await;
    assert!(pong.get("result").is_some(), "{pong}");
    client.leave().await;
}

/// Proves T1: large messages pass, and one beyond every bound ends nothing.
#[tokio::test]
async fn large_messages_pass() {
    let at = Place::new();
    at.workflow("notes.yaml", NOTES);
    let mut client = Client::older(at.door(), json!({})).await;
    let context = json!({ "text": "x".repeat(200 * 1024) });
    let start = json!({ "workflowId": "notes", "context": context });
    assert_eq!(client.done("workflow_start", start).await["isComplete"], false);
    let context = json!({ "text": "x".repeat(2 * 1024 * 1024) });
    let start = json!({ "workflowId": "notes", "context": context });
    assert_eq!(client.refused("workflow_start", start).await, "too-large");
    client.line(&format!("\"{}\"", "x".repeat(17 * 1024 * 1024))).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    assert!(client.request("ping", json!({})).await.get("result").is_some());
    client.leave().await;
}

/// Proves T8, T1: a call that is too long or too deep to be read is refused like any other, under its own
/// id wherever that stands, and the next one counts.
#[tokio::test]
async fn what_cannot_be_read_is_answered_under_its_id() {
    let at = Place::new();
    at.workflow("notes.yaml", NOTES);
    let mut client = Client::older(at.door(), json!({})).await;
    for levels in [100, 121, 122, 124, 130, 5_000, 200_000] {
        let lists = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let arguments = format!(r#"{{"workflowId":"notes","context":{{"a":{lists}}}}}"#);
        let params = format!(r#"{{"name":"workflow_start","arguments":{arguments}}}"#);
        let line =
            format!(r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":"d"}}"#);
        client.line(&line).await;
        let answer = client.next().await;
        assert_eq!(answer["id"], "d", "{levels}");
        let code = &answer["result"]["structuredContent"]["error"]["code"];
        assert_eq!(*code, if levels == 100 { Value::Null } else { json!("too-large") }, "{levels}");
    }
    let context = json!({ "text": "x".repeat(17 * 1024 * 1024) });
    let start = json!({ "workflowId": "notes", "context": context });
    assert_eq!(client.refused("workflow_start", start.clone()).await, "too-large");
    let error = client.request("ping", start).await;
    assert_eq!(error["error"]["data"]["code"], "too-large");
    assert!(client.request("ping", json!({})).await.get("result").is_some());
    client.leave().await;
}

/// Proves T1: a client that never says a word is let go too.
#[tokio::test]
async fn a_client_that_only_closes_is_let_go() {
    let at = Place::new();
    Client::silent(at.door()).leave().await;
}
