//! One message sent twice is one message: for starts and answers, at once and after a restart.

use serde_json::{Value, json};

use super::support::{
    A2aClient, CrashableServer, Message, data_message, expected_end, expected_resumed, normalize_events,
};

/// Sends the message that many times at once.
async fn at_once(agent: &A2aClient, message: &Message, times: usize) -> Vec<Value> {
    let sends: Vec<_> = (0..times)
        .map(|_| {
            let (agent, message) = (agent.clone(), message.clone());
            tokio::spawn(async move { agent.send(&message).await.unwrap() })
        })
        .collect();
    let mut tasks = Vec::new();
    for send in sends {
        tasks.push(send.await.unwrap());
    }
    tasks
}

fn same<'a>(tasks: &'a [Value], pointer: &str) -> &'a Value {
    let first = tasks[0].pointer(pointer).unwrap();
    assert!(tasks.iter().all(|task| task.pointer(pointer) == Some(first)), "{pointer}: {tasks:#?}");
    first
}

/// Proves L13, X2.
#[tokio::test]
async fn a_start_sent_many_times_starts_once() {
    let mut server = CrashableServer::start();
    let message = data_message(json!({ "entries": 2, "delayMs": 50 }));
    let tasks = at_once(&server.agent("ledger"), &message, 16).await;
    let task = json!({ "id": same(&tasks, "/id") });
    same(&tasks, "/contextId");
    server.crash();
    let agent = server.agent("ledger");
    let again = agent.send_and_wait(&message).await.unwrap();
    assert_eq!((&again["id"], again["status"]["state"].as_str()), (&task["id"], Some("completed")));
    let streamed = agent.stream_message(&message).await;
    assert_eq!(streamed.len(), 1, "a repetition of a finished start shows the task as it is");
    assert_eq!(streamed[0].result, again);
    let ledger = std::fs::read_to_string(server.data_path().join("ledger.txt")).unwrap();
    let id = task["id"].as_str().unwrap();
    assert!(ledger.lines().all(|line| line.starts_with(id)), "{ledger}");
}

/// Proves L13, L16, X2.
#[tokio::test]
async fn an_answer_sent_many_times_is_one_request() {
    let mut server = CrashableServer::start();
    let agent = server.agent("review");
    let task = agent.send_and_wait(&data_message(json!({ "subject": "tea", "delayMs": 600 }))).await.unwrap();
    let answer = data_message(json!({ "confirmed": true })).for_task(&task);
    let tasks = at_once(&agent, &answer, 16).await;
    assert_eq!(same(&tasks, "/metadata/requestOrder"), 1);
    assert_eq!(same(&tasks, "/metadata/primaryResume"), true);
    same(&tasks, "/metadata/concurrentRequest");
    server.crash();
    let agent = server.agent("review");
    let again = agent.send_and_wait(&answer).await.unwrap();
    assert_eq!(again["metadata"], tasks[0]["metadata"], "the same place after a restart");
    assert_eq!(again["status"]["state"], "completed");
    let after = agent.send_and_wait(&answer).await.unwrap();
    assert_eq!(after["metadata"], again["metadata"], "and of a finished task");
    let whole = normalize_events(&agent.replay(&task).await);
    let concurrent = tasks[0]["metadata"]["concurrentRequest"] == true;
    assert_eq!(whole[6..], [expected_resumed(concurrent, 1), expected_end("completed", None)]);
}

/// Proves L14, L16: a repeated invalid answer gets the same reply, and the question is not asked again.
#[tokio::test]
async fn an_invalid_answer_repeated_is_one_request() {
    let mut server = CrashableServer::start();
    let agent = server.agent("review");
    let task = agent.send_and_wait(&data_message(json!({ "subject": "tea" }))).await.unwrap();
    let answer = data_message(json!({ "confirmed": "maybe" })).for_task(&task);
    let first = agent.send_and_wait(&answer).await.unwrap();
    assert_eq!(agent.send_and_wait(&answer).await.unwrap(), first);
    server.crash();
    let agent = server.agent("review");
    assert_eq!(agent.send_and_wait(&answer).await.unwrap(), first);
    let next = agent.send_and_wait(&answer.with_new_id()).await.unwrap();
    assert_eq!(next["metadata"]["requestOrder"], 2);
}

/// Proves L16, X2: a repeated answer that named only the context finds its run, even if that has ended or
/// another run waits there now.
#[tokio::test]
async fn an_answer_by_context_repeated_is_one_request() {
    let mut server = CrashableServer::start();
    let agent = server.agent("review");
    let context = json!("one");
    let start = data_message(json!({ "subject": "tea" })).in_context(&context);
    let task = agent.send_and_wait(&start).await.unwrap();
    let repeated = agent.send_and_wait(&start).await.unwrap();
    assert_eq!(repeated, task, "a repeated start is no answer to its own question");
    let answer = data_message(json!({ "confirmed": true })).in_context(&context);
    let done = agent.send_and_wait(&answer).await.unwrap();
    assert_eq!((&done["id"], done["status"]["state"].as_str()), (&task["id"], Some("completed")));
    assert_eq!(agent.send_and_wait(&answer).await.unwrap(), done, "nobody waits in the context any more");

    let other =
        agent.send_and_wait(&data_message(json!({ "subject": "milk" })).in_context(&context)).await.unwrap();
    assert_eq!(agent.send_and_wait(&answer).await.unwrap(), done, "another run waits in the context");
    server.crash();
    let agent = server.agent("review");
    assert_eq!(agent.send_and_wait(&answer).await.unwrap(), done, "and after a restart");
    assert_eq!(agent.get_task(&other).await, other);
}
