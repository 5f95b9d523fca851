//! Streams: their first item, their end, and how they continue after a break.

use std::time::Duration;

use serde_json::{Value, json};
use trackway_a2a::Options;

use crate::test_server::{StreamEvent, TestServer, data_answer, summarize, text_message};

fn positions(events: &[StreamEvent]) -> Vec<u64> {
    events.iter().map(|event| event.pos).collect()
}

fn increasing(events: &[StreamEvent]) -> bool {
    positions(events).is_sorted_by(|a, b| a < b)
}

/// Proves L7, L8, L10.
#[tokio::test]
async fn a_start_shows_the_task_and_everything_up_to_its_end() {
    let site = TestServer::new();
    for (text, expected) in [
        ("hello", &["task:submitted", "working", "working", "+said.txt", "completed!"][..]),
        ("reject", &["task:submitted", "rejected!"]),
        ("fail", &["task:submitted", "working", "failed!"]),
    ] {
        let events =
            site.read_stream("message/stream", json!({"message": text_message(text, text)}), &[]).await;
        assert_eq!(summarize(&events), expected);
        assert!(increasing(&events), "{:?}", positions(&events));
    }
}

/// Proves L5, L9, L14.
#[tokio::test]
async fn a_stream_ends_at_a_question_and_an_answer_opens_the_next() {
    let site = TestServer::new();
    let send = |message: Value| site.read_stream("message/stream", json!({ "message": message }), &[]);

    let asked = send(text_message("m-1", "ask")).await;
    assert_eq!(summarize(&asked), ["task:submitted", "working", "+form.json", "input-required"]);
    let task = asked[0].result.clone();

    let invalid = send(data_answer("m-2", &task, &json!({"amount": -1}))).await;
    assert_eq!(summarize(&invalid), ["task:input-required", "input-required"]);
    assert_eq!(invalid[0].pos, asked[3].pos, "it goes on after the last event before the message");
    assert_eq!(invalid[0].result["metadata"]["validationErrors"][0]["path"], "/amount");
    let prompt = &invalid[1].result["status"]["message"];
    assert_eq!(prompt["metadata"]["validationErrors"][0]["path"], "/amount");

    let valid = send(data_answer("m-3", &task, &json!({"amount": 1}))).await;
    assert_eq!(summarize(&valid), ["task:working", "working", "auth-required"]);
    let mark = json!({"concurrentRequest": false, "requestOrder": 2, "primaryResume": true});
    assert_eq!((&valid[0].result["metadata"], &valid[1].result["metadata"]), (&mark, &mark));

    // A late answer while another question is open: nothing follows from it.
    let mut late = data_answer("m-4", &task, &json!({"amount": 2}));
    late["metadata"] = json!({"questionId": prompt["metadata"]["questionId"]});
    let late = send(late).await;
    assert_eq!(summarize(&late), ["task:auth-required"]);
    assert_eq!(late[0].result["metadata"]["primaryResume"], false);

    // A repetition returns the current task.
    let again = send(data_answer("m-3", &task, &json!({"amount": 1}))).await;
    assert_eq!(summarize(&again), ["task:auth-required"]);

    let done = send(data_answer("m-5", &task, &json!({"signature": "x"}))).await;
    assert_eq!(summarize(&done), ["task:working", "working", "completed!"]);
    assert_eq!(done[2].result["metadata"]["output"], json!({"invested": 1}));

    let repeated = send(text_message("m-1", "ask")).await;
    assert_eq!(summarize(&repeated), ["task:completed"]);
}

#[tokio::test]
async fn a_subscription_stays_open_at_a_question_and_ends_with_the_run() {
    let site = TestServer::new();
    let task = site.start_task("m-1", "ask").await;
    let id = json!({"id": task["id"]});
    let mut stream = site.open_stream("tasks/resubscribe", id.clone(), &[]).await;
    assert_eq!(stream.headers["cache-control"], "no-store");
    assert_eq!(stream.headers["x-accel-buffering"], "no");
    let mut events = vec![stream.next().await.unwrap()];
    assert_eq!(events[0].result, task);
    let send = json!({"message": data_answer("m-2", &task, &json!({"amount": 1}))});
    site.call_rpc("message/send", send).await.unwrap();
    events.push(stream.next().await.unwrap());
    events.push(stream.next().await.unwrap());
    site.call_rpc("tasks/cancel", id.clone()).await.unwrap();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert_eq!(summarize(&events), ["task:input-required", "working", "auth-required", "canceled!"]);
    assert!(increasing(&events));
    let finished = site.read_stream("tasks/resubscribe", id, &[]).await;
    assert_eq!(summarize(&finished), ["task:canceled"]);
}

#[tokio::test]
async fn a_position_continues_without_gap_or_repetition_also_after_the_end() {
    let site = TestServer::new();
    let events =
        site.read_stream("message/stream", json!({"message": text_message("m-1", "hello")}), &[]).await;
    let id = json!({"id": events[0].result["id"]});
    let from = |pos: u64| {
        let (site, id) = (&site, id.clone());
        async move { site.read_stream("tasks/resubscribe", id, &[("last-event-id", &pos.to_string())]).await }
    };
    assert_eq!(from(0).await, events, "the beginning is the beginning");
    for (index, event) in events.iter().enumerate() {
        assert_eq!(from(event.pos).await, events[index + 1..]);
    }
    for mistake in ["x", "-1", ""] {
        let request = crate::test_server::rpc_request(
            "script",
            "tasks/resubscribe",
            &id,
            &[("last-event-id", mistake)],
        );
        let reply = site.send_for_json(request).await;
        assert_eq!(reply.body["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn a_silent_stream_has_a_heartbeat() {
    let site =
        TestServer::with_options(Options { heartbeat: Duration::from_millis(5), ..Options::default() });
    let task = site.start_task("m-1", "ask").await;
    let mut stream = site.open_stream("tasks/resubscribe", json!({"id": task["id"]}), &[]).await;
    stream.next().await.unwrap();
    let (event, ()) = tokio::join!(stream.next(), async {
        // why: the heartbeat depends only on time.
        tokio::time::sleep(Duration::from_millis(50)).await;
        site.call_rpc("tasks/cancel", json!({"id": task["id"]})).await.unwrap();
    });
    assert_eq!(event.unwrap().result["status"]["state"], "canceled");
    assert!(stream.heartbeats > 0);
}

#[tokio::test]
async fn history_and_unknown_tasks_on_streams() {
    let site = TestServer::new();
    let params = json!({"message": text_message("m-1", "hello"), "configuration": {"historyLength": 0}});
    let events = site.read_stream("message/stream", params, &[]).await;
    assert_eq!(events[0].result.get("history"), None);
    let unknown = json!({"id": "run_00000000000000000000000000000000"});
    // Clients of this generation read the answer to a resubscription as a stream, whatever it contains.
    let mut refused = site.open_stream("tasks/resubscribe", unknown, &[]).await;
    assert_eq!(refused.next_error().await["code"], -32001);
}
