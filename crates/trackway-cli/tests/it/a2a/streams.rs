//! The shape of streams: how they begin, where they close, how they go on after a break.

use serde_json::{Value, json};

use super::{
    patterns::{form, opportunities, preview},
    scenarios::{confirmation, reviewed},
    support::{Server, data, ended, reply, resumed, soon, submitted, told, working},
};

fn kinds(events: &[super::support::Event]) -> Vec<&str> {
    events.iter().map(|event| event.result["kind"].as_str().unwrap()).collect()
}

/// Proves L8, L13: the Task comes first and once, and the stream closes after the last event.
#[tokio::test]
async fn a_stream_begins_with_the_task_and_closes_with_the_end() {
    let server = Server::start();
    let events = server.agent("echo").stream(&data(json!({ "text": "hello" }))).await;
    assert_eq!(
        kinds(&events),
        ["task", "status-update", "status-update", "artifact-update", "status-update"]
    );
    let finals: Vec<_> = events.iter().map(|event| event.result["final"] == true).collect();
    assert_eq!(finals, [false, false, false, false, true]);
}

/// Proves L6: an interrupting event closes the stream, and is not final.
#[tokio::test]
async fn a_stream_closes_at_a_question_and_the_next_begins_where_it_was() {
    let server = Server::start();
    let agent = server.agent("invest");
    let message = data(json!({ "walletAddress": "0x1" }));
    let first = agent.stream(&message).await;
    assert_eq!(
        told(&first),
        [submitted(&message), working(), opportunities(), preview("0x1"), form(None)]
    );
    let answer = data(json!({ "walletAddress": "0x1", "amount": 1 })).to(&first[0].result);
    let second = agent.stream(&answer).await;
    assert_eq!(kinds(&second), ["task", "status-update", "status-update"]);
    assert_eq!(second[0].pos, first[4].pos, "its Task stands where the first stream ended");
    assert_eq!(second[0].result["status"]["state"], "working");
    assert_eq!(second[0].result["history"][3], {
        let mut said = answer.json().clone();
        said["contextId"] = first[0].result["contextId"].clone();
        said
    });
    assert_eq!(told(&second)[1], resumed(false, 1));
    assert_eq!(second[2].result["status"]["state"], "auth-required");
}

/// Proves L8, X2: from every position on, without gap or repetition, also of a finished task and
/// after a crash.
#[tokio::test]
async fn last_event_id_continues_anywhere() {
    let mut server = Server::start();
    let events = server.agent("echo").stream(&data(json!({ "text": "hello", "chunks": 4 }))).await;
    let task = events[0].result.clone();
    for crash in [false, true] {
        if crash {
            server.crash();
        }
        let agent = server.agent("echo");
        assert_eq!(agent.replay(&task).await, events, "0 is the beginning");
        for (index, event) in events.iter().enumerate() {
            let rest = agent.subscribe(&task, Some(event.pos)).await.rest().await;
            assert_eq!(rest, events[index + 1..]);
        }
        let beyond = events.last().unwrap().pos + 1_000;
        assert_eq!(agent.subscribe(&task, Some(beyond)).await.rest().await, []);
    }
}

/// Proves L8: a replay is longer than one page of the store.
#[tokio::test]
async fn a_long_task_is_replayed_whole() {
    let server = Server::start();
    let agent = server.agent("echo");
    let text = "é".repeat(1_000);
    let events = agent.stream(&data(json!({ "text": text, "chunks": 1_000 }))).await;
    assert_eq!(events.len(), 1_004);
    told(&events);
    assert_eq!(agent.replay(&events[0].result).await, events);
    let from = events[500].pos;
    assert_eq!(agent.subscribe(&events[0].result, Some(from)).await.rest().await, events[501..]);
}

/// Proves L8, L10.
#[tokio::test]
async fn a_subscription_to_a_waiting_task_stays_open_and_sees_the_cancel() {
    let server = Server::start();
    let agent = server.agent("review");
    let message = data(json!({ "subject": "tea" }));
    let task = agent.settle(&message).await.unwrap();
    let mut now = agent.subscribe(&task, None).await;
    let mut after = agent.subscribe(&task, Some(0)).await;
    let first = now.next().await.unwrap();
    assert_eq!(first.result, task, "it begins with the current Task");
    let before = after.take(6).await;
    assert_eq!(told(&before), reviewed(&message, "tea"));
    assert_eq!(first.pos, before[5].pos);

    let invalid = agent.send(&data(json!({ "confirmed": 1 })).to(&task)).await.unwrap();
    let errors = &invalid["metadata"]["validationErrors"];
    agent.cancel(&task).await.unwrap();
    let rest = now.rest().await;
    assert_eq!(told(&rest), [confirmation(Some(errors)), ended("canceled", None)]);
    assert_eq!(after.rest().await, rest, "every subscriber sees the same");
}

/// Proves L8: closing one stream touches neither the task nor the others.
#[tokio::test]
async fn a_stream_that_goes_away_disturbs_nobody() {
    let server = Server::start();
    let agent = server.agent("ledger");
    let message = data(json!({ "entries": 4, "delayMs": 50 }));
    let mut first = agent.open("message/stream", json!({ "message": message.json() }), None).await;
    let task = first.next().await.unwrap().result;
    let mut second = agent.subscribe(&task, Some(0)).await;
    let mut seen = second.take(3).await;
    drop(first);
    seen.extend(second.rest().await);
    assert_eq!(seen.len(), 7);
    assert_eq!(agent.replay(&task).await, seen);
}

/// Proves L8: a subscription in the middle has the Task as it is, then only what follows.
#[tokio::test]
async fn a_subscription_to_a_working_task_begins_with_the_task_as_it_is() {
    let server = Server::start();
    let agent = server.agent("ledger");
    let task = agent.send(&data(json!({ "entries": 4, "delayMs": 100 }))).await.unwrap();
    let said = |event: &Value| event["status"]["message"].is_object();
    agent.subscribe(&task, Some(0)).await.until(said).await;
    let events = agent.subscribe(&task, None).await.rest().await;
    let whole = agent.replay(&task).await;
    assert_eq!(events[0].result["status"]["state"], "working");
    let at = whole.iter().position(|event| event.pos > events[0].pos).unwrap();
    assert_eq!(events[0].result["status"]["message"], whole[at - 1].result["status"]["message"]);
    assert_eq!(events[1..], whole[at..]);
    assert!(kinds(&events[1..]).iter().all(|kind| *kind != "task"), "one Task per stream");

    let finished = agent.subscribe(&task, None).await.rest().await;
    assert_eq!(finished.len(), 1, "of a finished task there is only the Task");
    assert_eq!(finished[0].result, agent.get(&task).await);
}

/// Proves X5.
#[tokio::test]
async fn a_last_event_id_that_is_no_position_is_refused_as_json() {
    let server = Server::start();
    let task = server.agent("review").settle(&data(json!({ "subject": "tea" }))).await.unwrap();
    for wrong in ["x", "-1", "1.5", "99999999999999999999999"] {
        let params = json!({ "id": task["id"] });
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": params });
        let request =
            server.http().post(server.url("/a2a/agents/review")).header("last-event-id", wrong);
        let response = soon("an answer", request.json(&body).send()).await.unwrap();
        let answer = soon("a body", reply(response)).await.unwrap();
        assert_eq!(answer["error"]["code"], -32602, "{wrong}: {answer}");
    }
}
