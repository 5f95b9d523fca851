//! A message that names a context and no task: an answer if exactly one run of the workflow waits there,
//! otherwise a new run.

use serde_json::json;

use super::support::{CrashableServer, data_message};

/// Proves L14: also an invalid answer finds its question.
#[tokio::test]
async fn an_invalid_answer_by_context_starts_nothing() {
    let server = CrashableServer::start();
    let agent = server.agent("review");
    let task = agent.send_and_wait(&data_message(json!({ "subject": "tea" }))).await.unwrap();
    let start = data_message(json!({ "subject": "a new run?" })).in_context(&task["contextId"]);
    let answer = agent.send_and_wait(&start).await.unwrap();
    assert_eq!((&answer["id"], &answer["metadata"]["requestOrder"]), (&task["id"], &json!(1)));
    assert!(answer["metadata"]["validationErrors"].is_array());
}

/// Proves L16: a client can require a new task although one waits; nothing else has that meaning.
#[tokio::test]
async fn a_message_can_ask_for_a_new_task_beside_one_that_waits() {
    let server = CrashableServer::start();
    let agent = server.agent("review");
    let task = agent.send_and_wait(&data_message(json!({ "subject": "tea" }))).await.unwrap();
    let start = || data_message(json!({ "subject": "coffee" })).in_context(&task["contextId"]);
    let new = start().with_field("metadata", json!({ "newTask": true }));
    let other = agent.send_and_wait(&new).await.unwrap();
    assert_ne!(other["id"], task["id"]);
    assert_eq!(other["contextId"], task["contextId"]);
    let again = agent.send_and_wait(&new).await.unwrap();
    assert_eq!(again["id"], other["id"], "the same message starts one task");
    for wrong in [json!("true"), json!(1), json!(null), json!({})] {
        let message = start().with_field("metadata", json!({ "newTask": wrong }));
        let refused = agent.send_and_wait(&message).await.unwrap_err();
        assert_eq!(refused.code, -32602, "{wrong}");
    }
    let both = start().for_task(&task).with_field("metadata", json!({ "newTask": true }));
    assert_eq!(agent.send_and_wait(&both).await.unwrap_err().code, -32602);
    let waiting = agent.get_task(&task).await;
    assert_eq!(waiting["status"]["state"], "input-required");
}

/// Proves L16: a second answer that names only the context gets the answer that it is late, and starts
/// nothing.
#[tokio::test]
async fn a_second_plain_answer_starts_no_task() {
    let server = CrashableServer::start();
    let agent = server.agent("approve");
    let task = agent.send_and_wait(&data_message(json!({ "subject": "tea" }))).await.unwrap();
    let yes = || data_message(json!({ "approved": true })).in_context(&task["contextId"]);
    let first = agent.send_and_wait(&yes()).await.unwrap();
    assert_eq!(first["metadata"]["primaryResume"], true);
    let second = agent.send_and_wait(&yes()).await.unwrap();
    assert_eq!(second["id"], task["id"]);
    let metadata = &second["metadata"];
    assert_eq!(
        (&metadata["primaryResume"], &metadata["requestOrder"], &metadata["concurrentRequest"]),
        (&json!(false), &json!(2), &json!(true))
    );
    let next = data_message(json!({ "subject": "coffee" })).in_context(&task["contextId"]);
    assert_ne!(agent.send_and_wait(&next).await.unwrap()["id"], task["id"], "this is no answer");
}
