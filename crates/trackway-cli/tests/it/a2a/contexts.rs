//! A message that names a context and no task: an answer when exactly one run of the workflow waits
//! there, a new run otherwise.

use serde_json::{Value, json};

use super::support::{Server, data, resumed, told};

/// Proves L14, L16: resuming by the context alone moves the task and answers the caller.
#[tokio::test]
async fn the_one_waiting_run_of_a_context_is_answered() {
    let server = Server::start();
    let agent = server.agent("invest");
    let task = agent.settle(&data(json!({ "walletAddress": "0x1" }))).await.unwrap();
    let form = data(json!({ "walletAddress": "0x1", "amount": 1 })).within(&task["contextId"]);
    let asked = agent.settle(&form).await.unwrap();
    assert_eq!(
        (&asked["id"], asked["status"]["state"].as_str()),
        (&task["id"], Some("auth-required"))
    );
    assert_eq!(asked["metadata"]["primaryResume"], true);
    let signed = data(json!({ "signature": "x" })).within(&task["contextId"]);
    let events = agent.stream(&signed).await;
    assert_eq!(events[0].result["id"], task["id"]);
    assert_eq!(told(&events)[1], resumed(false, 1));
    assert_eq!(events.last().unwrap().result["status"]["state"], "completed");
}

/// Proves L14: also an invalid answer finds its question.
#[tokio::test]
async fn an_invalid_answer_by_context_starts_nothing() {
    let server = Server::start();
    let agent = server.agent("review");
    let task = agent.settle(&data(json!({ "subject": "tea" }))).await.unwrap();
    let start = data(json!({ "subject": "a new run?" })).within(&task["contextId"]);
    let answer = agent.settle(&start).await.unwrap();
    assert_eq!((&answer["id"], &answer["metadata"]["requestOrder"]), (&task["id"], &json!(1)));
    assert!(answer["metadata"]["validationErrors"].is_array());
}

#[tokio::test]
async fn with_none_waiting_a_context_gets_a_new_run() {
    let server = Server::start();
    let agent = server.agent("review");
    let context = json!("my own name for it");
    let subject = |name: &str| data(json!({ "subject": name })).within(&context);
    let first = agent.settle(&subject("first")).await.unwrap();
    assert_eq!(first["contextId"], context);
    agent.settle(&data(json!({ "confirmed": true })).to(&first)).await.unwrap();
    let second = agent.settle(&subject("second")).await.unwrap();
    assert_ne!(second["id"], first["id"]);
    assert_eq!(
        (&second["contextId"], second["status"]["state"].as_str()),
        (&context, Some("input-required"))
    );
}

#[tokio::test]
async fn with_two_waiting_a_context_gets_a_new_run() {
    let mut server = Server::start();
    let agent = server.agent("family");
    // Two children of one context wait; so does nobody else.
    let family = agent.send(&data(json!({ "children": 2, "workflow": "review" }))).await.unwrap();
    let starts = agent.subscribe(&family, Some(0)).await.take(4).await;
    let reviews = server.agent("review");
    for start in &starts[2..] {
        let child = json!({ "id": start.result["status"]["message"]["referenceTaskIds"][0] });
        reviews.subscribe(&child, Some(0)).await.take(6).await;
    }
    let third = data(json!({ "subject": "third" })).within(&family["contextId"]);
    let task = reviews.settle(&third).await.unwrap();
    assert_eq!(
        (&task["contextId"], task["status"]["state"].as_str()),
        (&family["contextId"], Some("input-required"))
    );
    assert_eq!(task["artifacts"][0]["parts"][0]["data"]["subject"], "third");
    // The same after a restart.
    server.crash();
    let answer = data(json!({ "confirmed": true })).within(&family["contextId"]);
    let refused = server.agent("review").send(&answer).await.unwrap_err();
    assert_eq!(refused.code, -32602, "it is read as a start, and lacks the subject");
    assert!(refused.data["schema"].is_object());
}

#[tokio::test]
async fn only_runs_of_the_addressed_workflow_count() {
    let server = Server::start();
    let context = json!("shared");
    let review = data(json!({ "subject": "tea" })).within(&context);
    let review = server.agent("review").settle(&review).await.unwrap();
    // One run waits in this context, but not one of `invest`.
    let invest = data(json!({ "walletAddress": "0x1" })).within(&context);
    let invest = server.agent("invest").settle(&invest).await.unwrap();
    assert_ne!(invest["id"], review["id"]);
    // Now two wait, and each is alone at its own address.
    let yes = data(json!({ "confirmed": true })).within(&context);
    let done = server.agent("review").settle(&yes).await.unwrap();
    assert_eq!((&done["id"], done["status"]["state"].as_str()), (&review["id"], Some("completed")));
    let form = data(json!({ "walletAddress": "0x1", "amount": 1 })).within(&context);
    let asked = server.agent("invest").settle(&form).await.unwrap();
    assert_eq!(
        (&asked["id"], asked["status"]["state"].as_str()),
        (&invest["id"], Some("auth-required"))
    );
}

/// Proves X5.
#[tokio::test]
async fn an_answer_to_a_named_question_never_becomes_a_new_run() {
    let server = Server::start();
    let agent = server.agent("review");
    let task = agent.settle(&data(json!({ "subject": "tea" }))).await.unwrap();
    let question = task["status"]["message"]["metadata"]["questionId"].clone();
    agent.cancel(&task).await.unwrap();
    let lost = data(json!({ "subject": "tea" })).within(&task["contextId"]).about(&question);
    let refused = agent.send(&lost).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.data["path"].as_str()),
        (-32602, Some("/params/message/metadata/questionId"))
    );
    let none: Value = agent.call("tasks/get", json!({ "id": task["id"] })).await.unwrap();
    assert_eq!(none["status"]["state"], "canceled");
}

/// Proves L16: a client says that it wants a new task although one waits; nothing else is taken for that.
#[tokio::test]
async fn a_message_can_ask_for_a_new_task_beside_one_that_waits() {
    let server = Server::start();
    let agent = server.agent("review");
    let task = agent.settle(&data(json!({ "subject": "tea" }))).await.unwrap();
    let start = || data(json!({ "subject": "coffee" })).within(&task["contextId"]);
    let new = start().with("metadata", json!({ "newTask": true }));
    let other = agent.settle(&new).await.unwrap();
    assert_ne!(other["id"], task["id"]);
    assert_eq!(other["contextId"], task["contextId"]);
    let again = agent.settle(&new).await.unwrap();
    assert_eq!(again["id"], other["id"], "the same message starts one task");
    for wrong in [json!("true"), json!(1), json!(null), json!({})] {
        let message = start().with("metadata", json!({ "newTask": wrong }));
        let refused = agent.settle(&message).await.unwrap_err();
        assert_eq!(refused.code, -32602, "{wrong}");
    }
    let both = start().to(&task).with("metadata", json!({ "newTask": true }));
    assert_eq!(agent.settle(&both).await.unwrap_err().code, -32602);
    let waiting = agent.get(&task).await;
    assert_eq!(waiting["status"]["state"], "input-required");
}

/// Proves L16: a second answer by the context alone is told that it came late, and starts nothing.
#[tokio::test]
async fn a_second_plain_answer_starts_no_task() {
    let server = Server::start();
    let agent = server.agent("approve");
    let task = agent.settle(&data(json!({ "subject": "tea" }))).await.unwrap();
    let yes = || data(json!({ "approved": true })).within(&task["contextId"]);
    let first = agent.settle(&yes()).await.unwrap();
    assert_eq!(first["metadata"]["primaryResume"], true);
    let second = agent.settle(&yes()).await.unwrap();
    assert_eq!(second["id"], task["id"]);
    let metadata = &second["metadata"];
    assert_eq!(
        (&metadata["primaryResume"], &metadata["requestOrder"], &metadata["concurrentRequest"]),
        (&json!(false), &json!(2), &json!(true))
    );
    let next = data(json!({ "subject": "coffee" })).within(&task["contextId"]);
    assert_ne!(agent.settle(&next).await.unwrap()["id"], task["id"], "this is no answer");
}
