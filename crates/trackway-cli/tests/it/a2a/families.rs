//! Families: parents and the children that they start.

use serde_json::{Value, json};

use super::support::{
    A2aClient, CrashableServer, StreamEvent, data_message, expected_artifact, expected_end,
    expected_status_message, expected_submitted_task, expected_working, normalize_events, text_part,
};

/// The children that a family's stream named, as tasks.
fn children(events: &[StreamEvent]) -> Vec<Value> {
    let references = events.iter().filter_map(|event| {
        event.result.pointer("/status/message/metadata/referencedWorkflow")?;
        let ids = event.result["status"]["message"]["referenceTaskIds"].as_array()?;
        assert_eq!(ids.len(), 1, "each update names its own child alone");
        Some(json!({ "id": ids[0] }))
    });
    references.collect()
}

/// A child's events up to its question.
async fn asks(reviews: &A2aClient, child: &Value) -> Vec<StreamEvent> {
    let waits = |event: &Value| event["status"]["state"] == "input-required";
    reviews.subscribe(child, Some(0)).await.read_until(waits).await
}

/// Proves L8, L17: a client that reads about a child can call it immediately.
#[tokio::test]
async fn a_child_can_be_asked_for_as_soon_as_it_is_named() {
    let mut server = CrashableServer::start();
    let family = server.agent("family");
    for _ in 0..20 {
        let parent =
            family.send(&data_message(json!({ "children": 1, "workflow": "review" }))).await.unwrap();
        let events = family.subscribe(&parent, Some(0)).await.read_count(3).await;
        let child = &children(&events)[0];
        let get = json!({ "id": child["id"] });
        let known = server.agent("review").call("tasks/get", get).await;
        assert!(known.is_ok(), "{child} was named and is not there: {known:?}");
    }
    // The same when the server is killed as soon as the child is named.
    let parent = family.send(&data_message(json!({ "children": 1, "workflow": "review" }))).await.unwrap();
    let events = family.subscribe(&parent, Some(0)).await.read_count(3).await;
    server.crash();
    let get = json!({ "id": children(&events)[0]["id"] });
    let known = server.agent("review").call("tasks/get", get).await;
    assert!(known.is_ok(), "it was named before the kill and is not there: {known:?}");
}

/// Proves L13, L17, X2: a family that is killed immediately has as many children as requested, each once.
#[tokio::test]
async fn a_family_killed_at_once_goes_on() {
    let mut server = CrashableServer::start();
    let message = data_message(json!({ "children": 12 }));
    let parent = server.agent("family").send(&message).await.unwrap();
    for _ in 0..3 {
        server.crash();
    }
    let events = server.agent("family").subscribe(&parent, Some(0)).await.read_to_end().await;
    let mut children = children(&events);
    assert_eq!(children.len(), 12);
    let told = normalize_events(&events);
    assert_eq!((told.len(), told.last()), (16, Some(&expected_end("completed", None))));
    for (number, child) in children.iter().enumerate() {
        let echoed = server.agent("echo").get_task(child).await;
        let text = format!("child {}", number + 1);
        assert_eq!(echoed["artifacts"][0]["parts"], json!([text_part(&text)]));
    }
    children.dedup();
    assert_eq!(children.len(), 12);
}

/// Proves L17: children are `echo` by default, and answer only at their own address.
#[tokio::test]
async fn a_family_lists_one_result_per_child() {
    let server = CrashableServer::start();
    let agent = server.agent("family");
    let message = data_message(json!({ "children": 3 }));
    let events = agent.stream_message(&message).await;
    let children = children(&events);
    let started = |child: &Value| {
        let mut update = expected_status_message(json!([text_part(&format!(
            "Started echo as {}",
            child["id"].as_str().unwrap()
        ))]));
        let message = &mut update["status"]["message"];
        message["referenceTaskIds"] = json!([child["id"]]);
        message["metadata"] = json!({ "referencedWorkflow": { "workflowName": "echo",
            "description": "Says back the text it is given, as the artifact echo.txt." } });
        update
    };
    let result = |child: &Value| json!({ "taskId": child["id"], "state": "completed", "message": null });
    let results: Vec<_> = children.iter().map(result).collect();
    let mut expected = vec![expected_submitted_task(&message), expected_working()];
    expected.extend(children.iter().map(started));
    expected.push(expected_artifact(
        "family.json",
        "Results",
        json!({ "workflow": "echo", "results": results }),
    ));
    expected.push(expected_end("completed", None));
    assert_eq!(normalize_events(&events), expected);
    for (number, child) in children.iter().enumerate() {
        let echoed = server.agent("echo").get_task(child).await;
        let text = format!("child {}", number + 1);
        assert_eq!(echoed["artifacts"][0]["parts"], json!([text_part(&text)]));
        assert_eq!(echoed["contextId"], events[0].result["contextId"]);
        assert_eq!(agent.get_task(child).await, echoed, "the parent's address knows it too");
        let elsewhere = server.agent("ledger").call("tasks/get", json!({ "id": child["id"] })).await;
        assert_eq!(elsewhere.unwrap_err().code, -32001);
    }
    let none = agent.send_and_wait(&data_message(json!({ "children": 0 }))).await.unwrap();
    assert_eq!(none["artifacts"][0]["parts"][0]["data"]["results"], json!([]));
}

/// Proves L10, L17, X2: cancelling a parent cancels its children, also when the server is killed at once.
#[tokio::test]
async fn cancelling_a_parent_cancels_its_children() {
    for crash in [false, true] {
        let mut server = CrashableServer::start();
        let agent = server.agent("family");
        let family = agent.send(&data_message(json!({ "children": 3, "workflow": "review" }))).await.unwrap();
        let events = agent.subscribe(&family, Some(0)).await.read_count(5).await;
        let children = children(&events);
        assert_eq!(children.len(), 3);
        for child in &children {
            asks(&server.agent("review"), child).await;
        }
        let canceled = agent.cancel_task(&family).await.unwrap();
        assert_eq!(canceled["status"]["state"], "canceled");
        if crash {
            server.crash();
        }
        for child in &children {
            let events = server.agent("review").subscribe(child, Some(0)).await.read_to_end().await;
            assert_eq!(normalize_events(&events).last(), Some(&expected_end("canceled", None)));
        }
    }
}

/// Proves L17: a child that is canceled by itself is one result among the others.
#[tokio::test]
async fn a_canceled_child_does_not_end_its_parent() {
    let server = CrashableServer::start();
    let agent = server.agent("family");
    let family = agent.send(&data_message(json!({ "children": 1, "workflow": "review" }))).await.unwrap();
    let mut stream = agent.subscribe(&family, Some(0)).await;
    let child = children(&stream.read_count(3).await).remove(0);
    let reviews = server.agent("review");
    asks(&reviews, &child).await;
    let waits = normalize_events(&stream.read_count(1).await).remove(0);
    assert_eq!(waits["status"]["message"]["metadata"]["waitingTask"]["taskId"], child["id"]);
    reviews.cancel_task(&child).await.unwrap();
    let rest = normalize_events(&stream.read_to_end().await);
    let results = json!([{ "taskId": child["id"], "state": "canceled", "message": null }]);
    let results = json!({ "workflow": "review", "results": results });
    assert_eq!(rest, [expected_artifact("family.json", "Results", results), expected_end("completed", None)]);
}

/// Proves L17: a blocking send does not hang if only a person can continue, and the answer names the child.
#[tokio::test]
async fn a_send_returns_when_a_child_waits_for_a_person() {
    let server = CrashableServer::start();
    let family = server.agent("family");
    let message = data_message(json!({ "children": 1, "workflow": "review" }));
    let parent = family.send_and_wait(&message).await.unwrap();
    assert_eq!(parent["status"]["state"], "working");
    let said = &parent["status"]["message"];
    let waiting = &said["metadata"]["waitingTask"];
    assert_eq!((&waiting["workflowName"], &waiting["state"]), (&json!("review"), &json!("input-required")));
    assert_eq!(said["referenceTaskIds"], json!([waiting["taskId"]]));
    let child = json!({ "id": waiting["taskId"] });
    server
        .agent("review")
        .send_and_wait(&data_message(json!({ "confirmed": true })).for_task(&child))
        .await
        .unwrap();
    let events = family.subscribe(&parent, Some(0)).await.read_to_end().await;
    assert_eq!(events.last().unwrap().result["status"]["state"], "completed");
}
