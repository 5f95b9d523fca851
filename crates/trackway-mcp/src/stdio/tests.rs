//! The line protocol: invalid lines are answered, and the server ends when its client closes.

use serde_json::{Value, json};

use crate::testing::{NOTES, TestLineClient, TestWorkflowFolder, advance_arguments};

/// Proves T8, T1: lines that are not messages are answered as JSON-RPC says, and the next line is handled.
#[tokio::test]
async fn nonsense_is_answered_and_survived() {
    let at = TestWorkflowFolder::new();
    let mut client = TestLineClient::connect_without_initialize(at.open_door().await);
    // Before anything was asked, nothing else means anything.
    client.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    for (line, code, id) in [
        ("{", -32700, Value::Null),
        ("\u{1}garbage", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("5", -32600, Value::Null),
        ("{}", -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7)),
    ] {
        client.send_line(line).await;
        let answer = client.next_message().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}");
    }
    client.send_line("").await;
    let pong = client.send_request_and_wait("ping", json!({})).await;
    assert!(pong.get("result").is_some(), "{pong}");
    client.disconnect().await;
}

/// Proves T1: large messages are accepted, and one above the limit does not end the connection.
#[tokio::test]
async fn large_messages_pass() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({})).await;
    let context = json!({ "text": "x".repeat(200 * 1024) });
    let start = json!({ "workflowId": "notes", "context": context });
    assert_eq!(client.call_tool_ok("workflow_start", start).await["isComplete"], false);
    let context = json!({ "text": "x".repeat(2 * 1024 * 1024) });
    let start = json!({ "workflowId": "notes", "context": context });
    assert_eq!(client.call_tool_refused("workflow_start", start).await, "too-large");
    client.send_line(&format!("\"{}\"", "x".repeat(17 * 1024 * 1024))).await;
    assert_eq!(client.next_message().await["error"]["code"], -32600);
    assert!(client.send_request_and_wait("ping", json!({})).await.get("result").is_some());
    client.disconnect().await;
}

/// Proves T8, T1: a call that is too long or too deep to be read is refused like any other, under its own
/// id wherever that is in the line, and the next line is handled.
#[tokio::test]
async fn unparsable_calls_are_answered_under_their_id() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({})).await;
    for levels in [100, 121, 122, 124, 130, 5_000, 200_000] {
        let lists = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let arguments = format!(r#"{{"workflowId":"notes","context":{{"a":{lists}}}}}"#);
        let params = format!(r#"{{"name":"workflow_start","arguments":{arguments}}}"#);
        let line = format!(r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":"d"}}"#);
        client.send_line(&line).await;
        let answer = client.next_message().await;
        assert_eq!(answer["id"], "d", "{levels}");
        let code = &answer["result"]["structuredContent"]["error"]["code"];
        assert_eq!(*code, if levels == 100 { Value::Null } else { json!("too-large") }, "{levels}");
    }
    let context = json!({ "text": "x".repeat(17 * 1024 * 1024) });
    let start = json!({ "workflowId": "notes", "context": context });
    assert_eq!(client.call_tool_refused("workflow_start", start.clone()).await, "too-large");
    let error = client.send_request_and_wait("ping", start).await;
    assert_eq!(error["error"]["data"]["code"], "too-large");
    assert!(client.send_request_and_wait("ping", json!({})).await.get("result").is_some());
    client.disconnect().await;
}

/// Proves T1: the server also ends for a client that never sends anything.
#[tokio::test]
async fn client_that_only_closes_ends_cleanly() {
    let at = TestWorkflowFolder::new();
    TestLineClient::connect_without_initialize(at.open_door().await).disconnect().await;
}

fn ping(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

/// Proves T1: revision 2025-03-26 has batches. One list answers each batch, whatever is in it.
#[tokio::test]
async fn a_batch_is_answered_as_a_list_where_the_revision_has_them() {
    let at = TestWorkflowFolder::new();
    let mut client =
        TestLineClient::connect_with_revision(at.open_door().await, "2025-03-26", json!({})).await;
    let gone = |id: u32| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    let batch = json!([
        ping(20),
        gone(99),
        { "jsonrpc": "2.0", "id": "list", "method": "tools/list" },
        { "jsonrpc": "1.0", "id": 21 },
        5,
        ping(20),
    ]);
    client.send_message(&batch).await;
    let answers = client.next_message().await;
    let answers = answers.as_array().unwrap();
    let of = |id: Value, field: &str| {
        let with = answers.iter().filter(|one| one["id"] == id && one.get(field).is_some());
        with.count()
    };
    assert_eq!(answers.len(), 5, "{answers:?}");
    assert_eq!((of(json!(20), "result"), of(json!("list"), "result")), (1, 1), "{answers:?}");
    assert_eq!((of(json!(20), "error"), of(json!(21), "error")), (1, 1), "{answers:?}");
    assert_eq!(of(Value::Null, "error"), 1, "{answers:?}");
    // A batch without requests is not answered, so the next line answers the next request.
    client.send_message(&json!([gone(98), gone(97)])).await;
    for refused in
        [json!([]), json!(vec![ping(1); 65]), json!([{ "jsonrpc": "2.0", "id": 1, "method": "initialize" }])]
    {
        client.send_message(&refused).await;
        let answer = client.next_message().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null));
    }
    assert!(client.send_request_and_wait("ping", json!({})).await.get("result").is_some());
    client.disconnect().await;
}

/// Proves T1: a batch does not wait for a cancelled request, which gets no answer.
#[tokio::test]
async fn batch_omits_cancelled_requests() {
    let at = TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", NOTES);
    let can_ask = json!({ "elicitation": {} });
    let mut client = TestLineClient::connect_with_revision(at.open_door().await, "2025-03-26", can_ask).await;
    let start = client.call_tool_ok("workflow_start", json!({ "workflowId": "notes" })).await;
    let second = client.call_tool_ok("workflow_advance", advance_arguments(&start, "gathered")).await;
    let params = json!({ "name": "workflow_advance", "arguments": advance_arguments(&second, "out") });
    let advance = json!({ "jsonrpc": "2.0", "id": "wait", "method": "tools/call", "params": params });
    client.send_message(&json!([ping(30), advance])).await;
    // The question to the person is separate from the batch, and the person does not answer.
    let question = client.next_message().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let params = json!({ "requestId": "wait" });
    client
        .send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    let answers = client.next_message().await;
    assert_eq!(answers.as_array().map(Vec::len), Some(1), "{answers}");
    assert_eq!(answers[0]["id"], 30, "{answers}");
    client.disconnect().await;
}

/// Proves T1: the later revisions have no batches. A batch gets one refusal, and none of its messages is
/// handled.
#[tokio::test]
async fn a_batch_is_refused_where_the_revision_has_none() {
    let at = TestWorkflowFolder::new();
    let mut client = TestLineClient::connect_with_older_revision(at.open_door().await, json!({})).await;
    client.send_message(&json!([ping(20), ping(21)])).await;
    let answer = client.next_message().await;
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null));
    assert!(answer["error"]["message"].as_str().unwrap().contains("2025-03-26"), "{answer}");
    let pong = client.send_request_and_wait("ping", json!({})).await;
    assert!(pong.get("result").is_some(), "{pong}");
    client.disconnect().await;
}
