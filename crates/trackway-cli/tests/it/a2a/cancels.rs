//! Cancelling: immediate, once, and final.

use std::fs;

use serde_json::{Value, json};

use super::support::{CrashableServer, data_message, expected_end, normalize_events};

/// Proves L10, L13: the running code stops, also for a restart.
#[tokio::test]
async fn a_working_task_stops_working() {
    let mut server = CrashableServer::start();
    let agent = server.agent("ledger");
    let task = agent.send(&data_message(json!({ "entries": 1000, "delayMs": 20 }))).await.unwrap();
    let mut stream = agent.subscribe(&task, Some(0)).await;
    stream.read_until(|event| event["status"]["message"].is_object()).await;
    let canceled = agent.cancel_task(&task).await.unwrap();
    assert_eq!(canceled["status"]["state"], "canceled");
    let rest = stream.read_to_end().await;
    assert_eq!(normalize_events(&rest).last(), Some(&expected_end("canceled", None)));
    let written = |server: &CrashableServer, task: &Value| {
        let ledger = fs::read_to_string(server.data_path().join("ledger.txt")).unwrap();
        let id = task["id"].as_str().unwrap();
        ledger.lines().filter(|line| line.starts_with(id)).count()
    };
    // A second run with the same pauses shows that there was enough time to continue.
    let probe = data_message(json!({ "entries": 10, "delayMs": 20 }));
    let before = written(&server, &task);
    agent.send_and_wait(&probe).await.unwrap();
    // One more line may have been on its way into the file.
    assert!(written(&server, &task) <= before + 1);
    server.crash();
    let settled = written(&server, &task);
    server.agent("ledger").send_and_wait(&probe.with_new_id()).await.unwrap();
    assert_eq!(written(&server, &task), settled, "a restart does not take it up again");
    assert_eq!(server.agent("ledger").get_task(&task).await, canceled);
}

/// Proves L10, L13: of many cancels exactly one gets the canceled task.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_cancels_one_cancels() {
    let server = CrashableServer::start();
    for (agent, input) in
        [("review", json!({ "subject": "tea" })), ("ledger", json!({ "entries": 1000, "delayMs": 10 }))]
    {
        let agent = server.agent(agent);
        let task = agent.send(&data_message(input)).await.unwrap();
        agent.subscribe(&task, Some(0)).await.read_count(3).await;
        let cancels: Vec<_> = (0..16)
            .map(|_| {
                let (agent, task) = (agent.clone(), task.clone());
                tokio::spawn(async move { agent.cancel_task(&task).await })
            })
            .collect();
        let mut canceled = 0;
        for cancel in cancels {
            match cancel.await.unwrap() {
                Ok(task) => {
                    assert_eq!(task["status"]["state"], "canceled");
                    canceled += 1;
                }
                Err(refused) => assert_eq!(refused.code, -32002),
            }
        }
        assert_eq!(canceled, 1);
        let finals = agent.replay(&task).await;
        assert_eq!(finals.iter().filter(|event| event.result["final"] == true).count(), 1);
    }
}

/// Proves L10: a caller that waits for the task gets an answer.
#[tokio::test]
async fn a_blocking_send_returns_when_somebody_cancels() {
    let server = CrashableServer::start();
    let agent = server.agent("review");
    let task =
        agent.send_and_wait(&data_message(json!({ "subject": "tea", "delayMs": 3_600_000 }))).await.unwrap();
    let mut stream = agent.subscribe(&task, None).await;
    stream.next().await.unwrap();
    let answer = data_message(json!({ "confirmed": true })).for_task(&task);
    let (answered, ()) = tokio::join!(agent.send_and_wait(&answer), async {
        // The stream shows when the answer was accepted.
        assert_eq!(stream.next().await.unwrap().result["status"]["state"], "working");
        agent.cancel_task(&task).await.unwrap();
    });
    let answered = answered.unwrap();
    assert_eq!(
        (answered["status"]["state"].as_str(), &answered["metadata"]["primaryResume"]),
        (Some("canceled"), &json!(true))
    );
}
