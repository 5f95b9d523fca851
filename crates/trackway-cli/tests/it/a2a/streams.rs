//! Streams of the real server: how they continue after a break or a kill, and next to each other.

use serde_json::{Value, json};

use super::support::{CrashableServer, data_message, normalize_events};

fn kinds(events: &[super::support::StreamEvent]) -> Vec<&str> {
    events.iter().map(|event| event.result["kind"].as_str().unwrap()).collect()
}

/// Proves L8, X2: from every position, without gap or repetition, also for a finished task and after a
/// crash.
#[tokio::test]
async fn last_event_id_continues_anywhere() {
    let mut server = CrashableServer::start();
    let events =
        server.agent("echo").stream_message(&data_message(json!({ "text": "hello", "chunks": 4 }))).await;
    let task = events[0].result.clone();
    let pieces: Vec<Value> = events
        .iter()
        .map(|event| &event.result)
        .filter(|update| update["kind"] == "artifact-update")
        .map(|update| {
            let text = &update["artifact"]["parts"][0]["text"];
            json!([text, update["append"], update["lastChunk"]])
        })
        .collect();
    let expected = json!([["h", false, false], ["e", true, false], ["l", true, false], ["lo", true, true]]);
    assert_eq!(json!(pieces), expected, "`echo` in the pieces that it is asked for");
    for crash in [false, true] {
        if crash {
            server.crash();
        }
        let agent = server.agent("echo");
        assert_eq!(agent.replay(&task).await, events, "0 is the beginning");
        for (index, event) in events.iter().enumerate() {
            let rest = agent.subscribe(&task, Some(event.pos)).await.read_to_end().await;
            assert_eq!(rest, events[index + 1..]);
        }
        let beyond = events.last().unwrap().pos + 1_000;
        assert_eq!(agent.subscribe(&task, Some(beyond)).await.read_to_end().await, []);
    }
}

/// Proves L8: a replay is longer than one page of the store.
#[tokio::test]
async fn a_long_task_is_replayed_whole() {
    let server = CrashableServer::start();
    let agent = server.agent("echo");
    let text = "é".repeat(1_000);
    let events = agent.stream_message(&data_message(json!({ "text": text, "chunks": 1_000 }))).await;
    assert_eq!(events.len(), 1_004);
    normalize_events(&events);
    assert_eq!(agent.replay(&events[0].result).await, events);
    let from = events[500].pos;
    assert_eq!(agent.subscribe(&events[0].result, Some(from)).await.read_to_end().await, events[501..]);
}

/// Proves L8: closing one stream affects neither the task nor the other streams.
#[tokio::test]
async fn a_stream_that_goes_away_disturbs_nobody() {
    let server = CrashableServer::start();
    let agent = server.agent("ledger");
    let message = data_message(json!({ "entries": 4, "delayMs": 50 }));
    let mut first = agent.open_stream("message/stream", json!({ "message": message.json() }), None).await;
    let task = first.next().await.unwrap().result;
    let mut second = agent.subscribe(&task, Some(0)).await;
    let mut seen = second.read_count(3).await;
    drop(first);
    seen.extend(second.read_to_end().await);
    assert_eq!(seen.len(), 7);
    assert_eq!(agent.replay(&task).await, seen);
}

/// Proves L8: a subscription in the middle starts with the current Task, then only new events follow.
#[tokio::test]
async fn a_subscription_to_a_working_task_begins_with_the_task_as_it_is() {
    let server = CrashableServer::start();
    let agent = server.agent("ledger");
    let task = agent.send(&data_message(json!({ "entries": 4, "delayMs": 100 }))).await.unwrap();
    let said = |event: &Value| event["status"]["message"].is_object();
    agent.subscribe(&task, Some(0)).await.read_until(said).await;
    let events = agent.subscribe(&task, None).await.read_to_end().await;
    let whole = agent.replay(&task).await;
    assert_eq!(events[0].result["status"]["state"], "working");
    let at = whole.iter().position(|event| event.pos > events[0].pos).unwrap();
    assert_eq!(events[0].result["status"]["message"], whole[at - 1].result["status"]["message"]);
    assert_eq!(events[1..], whole[at..]);
    assert!(kinds(&events[1..]).iter().all(|kind| *kind != "task"), "one Task per stream");

    let finished = agent.subscribe(&task, None).await.read_to_end().await;
    assert_eq!(finished.len(), 1, "of a finished task there is only the Task");
    assert_eq!(finished[0].result, agent.get_task(&task).await);
}
