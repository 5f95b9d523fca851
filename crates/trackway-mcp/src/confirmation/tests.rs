//! The server asks a person through the client, in the way of each revision.

use serde_json::{Value, json};

use crate::testing::{NOTES, TestLineClient, TestWorkflowFolder, advance_arguments};

/// A run at the step that requires agreement.
async fn run_at_publish(client: &mut TestLineClient) -> Value {
    let first = client.call_tool_ok("workflow_start", json!({ "workflowId": "notes" })).await;
    client.call_tool_ok("workflow_advance", advance_arguments(&first, "did")).await
}

fn call(arguments: &Value) -> Value {
    json!({ "name": "workflow_advance", "arguments": arguments })
}

/// Answers the server's question and returns the result of the call.
async fn answer_elicitation(client: &mut TestLineClient, arguments: Value, answer: Value) -> Value {
    let asked = client.send_request_and_wait("tools/call", call(&arguments)).await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
    client.send_message(&reply).await;
    client.next_message().await["result"]["structuredContent"].take()
}

/// Proves T9: the advance asks the person. If they decline, nothing advances. A replay asks nobody.
#[tokio::test]
async fn older_clients_are_asked_by_a_request() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({ "elicitation": {} })).await;
    let there = run_at_publish(&mut client).await;
    let declined =
        answer_elicitation(&mut client, advance_arguments(&there, "done"), json!({ "action": "decline" }))
            .await;
    assert_eq!(declined["blocked"]["code"], "confirmation-declined", "{declined}");
    assert_eq!(declined["stateToken"], there["stateToken"]);
    assert_ne!(declined["ackToken"], there["ackToken"]);
    let agreed = json!({ "action": "accept", "content": { "agree": true } });
    let end = answer_elicitation(&mut client, advance_arguments(&declined, "done"), agreed).await;
    assert_eq!(end["isComplete"], true, "{end}");
    // Both again: the person is not asked.
    let again = client.call_tool_ok("workflow_advance", advance_arguments(&there, "done")).await;
    assert_eq!(again, declined);
    assert_eq!(client.call_tool_ok("workflow_advance", advance_arguments(&declined, "done")).await, end);
    client.disconnect().await;
}

/// Proves T9: a person who leaves without an answer has not agreed.
#[tokio::test]
async fn a_client_that_leaves_has_agreed_to_nothing() {
    let (at, mut client) = TestLineClient::connect_to_notes_workflow(json!({ "elicitation": {} })).await;
    let there = run_at_publish(&mut client).await;
    let asked = client.send_request_and_wait("tools/call", call(&advance_arguments(&there, "done"))).await;
    assert_eq!(asked["method"], "elicitation/create");
    client.disconnect().await;
    let mut client =
        TestLineClient::connect_with_older_revision(at.open_door().await, json!({ "elicitation": {} })).await;
    let asked = client.send_request_and_wait("tools/call", call(&advance_arguments(&there, "done"))).await;
    assert_eq!(asked["method"], "elicitation/create", "it was not recorded: {asked}");
    client.disconnect().await;
}

/// Proves T9: from 2026-07-28 on, the answer to the call is the question. The client sends the call again
/// with the person's answer, which is valid for exactly this call.
#[tokio::test]
async fn newest_clients_are_asked_by_an_answer() {
    let at = TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", NOTES);
    let mut client = TestLineClient::connect_with_newest_revision(
        at.open_door().await,
        &json!({ "elicitation": { "form": {} } }),
    );
    let there = run_at_publish(&mut client).await;
    let asked = client.send_request_and_wait("tools/call", call(&advance_arguments(&there, "done"))).await;
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["confirmation"]["method"], "elicitation/create");
    let with = |mut params: Value, state: &Value, action: &str| {
        params["inputResponses"] =
            json!({ "confirmation": { "action": action, "content": { "agree": true } } });
        params["requestState"] = state.clone();
        params
    };
    let state = &asked["requestState"];
    // The agreement is not valid for other inputs, and cannot be forged.
    for (params, state) in [
        (call(&advance_arguments(&there, "something else")), state.clone()),
        (call(&advance_arguments(&there, "done")), json!("made up")),
    ] {
        let again = client.send_request_and_wait("tools/call", with(params, &state, "accept")).await;
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    }
    let end = client
        .send_request_and_wait("tools/call", with(call(&advance_arguments(&there, "done")), state, "accept"))
        .await;
    assert_eq!(end["result"]["structuredContent"]["isComplete"], true, "{end}");
    let again = client.call_tool_ok("workflow_advance", advance_arguments(&there, "done")).await;
    assert_eq!(again, end["result"]["structuredContent"]);
    client.disconnect().await;
}

/// Values of a person's form that are neither yes nor no.
fn unclear_answers() -> Vec<Value> {
    let values = [json!("no"), json!("true"), json!("false"), json!(0), json!(1), json!(null), json!([])];
    let mut answers: Vec<Value> = values
        .into_iter()
        .map(|agree| json!({ "action": "accept", "content": { "agree": agree } }))
        .collect();
    answers.push(json!({ "action": "accept", "content": {} }));
    answers.push(json!({ "action": "accept" }));
    answers
}

/// Proves T9: only the boolean true is agreement, in the way of older revisions.
#[tokio::test]
async fn only_true_agrees_where_a_request_asks() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({ "elicitation": {} })).await;
    let there = run_at_publish(&mut client).await;
    for answer in unclear_answers() {
        let refused =
            answer_elicitation(&mut client, advance_arguments(&there, "done"), answer.clone()).await;
        assert_eq!(refused["error"]["code"], "confirmation-unclear", "{answer}: {refused}");
        assert_eq!(refused["error"]["retryable"], true);
    }
    let no = json!({ "action": "accept", "content": { "agree": false } });
    let declined = answer_elicitation(&mut client, advance_arguments(&there, "done"), no).await;
    assert_eq!(declined["blocked"]["code"], "confirmation-declined", "{declined}");
    client.disconnect().await;
}

/// Proves T9: the same in the way of the newest revision. Nothing is recorded, and the call asks again.
#[tokio::test]
async fn only_true_agrees_where_an_answer_asks() {
    let at = TestWorkflowFolder::new();
    at.write_workflow_file("notes.yaml", NOTES);
    let mut client = TestLineClient::connect_with_newest_revision(
        at.open_door().await,
        &json!({ "elicitation": { "form": {} } }),
    );
    let there = run_at_publish(&mut client).await;
    for answer in unclear_answers() {
        let asked =
            client.send_request_and_wait("tools/call", call(&advance_arguments(&there, "done"))).await;
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let mut params = call(&advance_arguments(&there, "done"));
        params["inputResponses"] = json!({ "confirmation": answer });
        params["requestState"] = asked["result"]["requestState"].clone();
        let refused = client.send_request_and_wait("tools/call", params).await;
        let error = &refused["result"]["structuredContent"]["error"];
        assert_eq!(error["code"], "confirmation-unclear", "{answer}: {refused}");
    }
    client.disconnect().await;
}

/// Proves T9: a person sees what they agree to, and no box is ticked in advance.
#[tokio::test]
async fn a_person_sees_what_they_agree_to() {
    let (_at, mut client) = TestLineClient::connect_to_notes_workflow(json!({ "elicitation": {} })).await;
    let there = run_at_publish(&mut client).await;
    let mut arguments = advance_arguments(&there, &format!("PATH: Epic. {}", "x".repeat(5_000)));
    arguments["context"] = json!({ "channel": "blog" });
    arguments["output"] = json!({ "links": ["https://example.org/1"] });
    let asked = client.send_request_and_wait("tools/call", call(&arguments)).await;
    let message = asked["params"]["message"].as_str().unwrap();
    for part in ["Publish", "PATH: Epic.", "more characters)", "\"channel\": \"blog\"", "example.org/1"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert!(!message.contains("Publish them."), "the agent's instructions: {message}");
    let schema = &asked["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["agree"]["type"], "boolean", "{schema}");
    assert!(schema["properties"]["agree"].get("default").is_none(), "{schema}");
    assert_eq!(schema["required"], json!(["agree"]));
    let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } });
    client.send_message(&reply).await;
    client.next_message().await;
    client.disconnect().await;
}
