//! Calls over NATS: streams, questions, replicas, agents that are away.

use std::collections::BTreeSet;

use serde_json::json;
use trackway_a2a_client::{AgentRefusalKind, ClientError, SendOptions, SendReply, Task, TaskState};

use super::{
    nats_server::NatsServer,
    soon,
    test_node::{NodeHome, read_rest, user_message},
};

fn task_of(reply: SendReply) -> Task {
    match reply {
        SendReply::Task(task) => task,
        SendReply::Message(_) => panic!("a task"),
    }
}

/// The node that ran a task, from its result.
fn node_of(task: &Task) -> String {
    let parts = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let found = parts.filter_map(|part| serde_json::to_value(part).ok()).find_map(|part| {
        ["one", "two", "three"].into_iter().find(|name| part.to_string().contains(&format!("\"{name}\"")))
    });
    found.expect("a result that names its node").to_owned()
}

/// Proves X6.
#[tokio::test]
async fn a_call_streams_its_updates_and_ends() {
    let server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let (one, two) = (one.start(&server).await, two.start(&server).await);
    let client = one.client_of("beta").await;
    let mut updates =
        client.stream_message(&user_message("m-1", "hello"), &SendOptions::default()).await.unwrap();
    let seen = read_rest(&mut updates).await;
    assert_eq!(seen.last().map(String::as_str), Some("completed"), "{seen:?}");
    assert!(seen.contains(&"+node.txt".to_owned()), "{seen:?}");
    assert!(updates.last_event_id().is_some(), "events keep their positions");
    two.stop().await;
    one.stop().await;
}

/// A question in between, an answer to the node that asked, and each follow-up.
/// Proves X6.
#[tokio::test]
async fn a_question_is_answered_at_the_node_that_asked() {
    let server = NatsServer::start().await;
    let homes =
        [NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]), NodeHome::new("three", &["beta"])];
    let one = homes[0].start(&server).await;
    let others = [homes[1].start(&server).await, homes[2].start(&server).await];
    let client = one.client_of("beta").await;
    for number in 0..4 {
        let id = format!("ask-{number}");
        let asked =
            task_of(client.send_message(&user_message(&id, "ask"), &SendOptions::default()).await.unwrap());
        assert_eq!(asked.status.state, TaskState::InputRequired);
        let mut answer = user_message(&format!("answer-{number}"), "42");
        answer.message.parts = vec![trackway_a2a_client::Part::data(json!({"amount": number}))];
        answer.task = Some(asked.id.clone());
        let done = task_of(client.send_message(&answer, &SendOptions::default()).await.unwrap());
        assert_eq!((done.id.as_str(), done.status.state), (asked.id.as_str(), TaskState::Completed));
        let read = client.get_task(&asked.id, None).await.unwrap();
        assert_eq!(read.status.state, TaskState::Completed);
    }
    let waits = client.send_message(&user_message("wait", "wait"), &SendOptions::return_immediately()).await;
    let waits = task_of(waits.unwrap());
    assert_eq!(client.cancel_task(&waits.id).await.unwrap().status.state, TaskState::Canceled);
    let missing = client.get_task("00000000-0000-7000-8000-000000000000", None).await.unwrap_err();
    assert_eq!(missing.refusal_kind(), Some(AgentRefusalKind::TaskNotFound));
    for node in others {
        node.stop().await;
    }
    one.stop().await;
}

/// Proves X6.
#[tokio::test]
async fn nodes_that_offer_the_same_name_share_the_work() {
    let server = NatsServer::start().await;
    let homes =
        [NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]), NodeHome::new("three", &["beta"])];
    let one = homes[0].start(&server).await;
    let (two, three) = (homes[1].start(&server).await, homes[2].start(&server).await);
    let client = one.client_of("beta").await;
    two.client_of("beta").await;
    three.client_of("beta").await;
    let calls = (0..16).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let message = user_message(&format!("m-{number}"), "hello");
            task_of(client.send_message(&message, &SendOptions::default()).await.unwrap())
        })
    });
    let mut tasks = BTreeSet::new();
    let mut nodes = BTreeSet::new();
    for call in calls.collect::<Vec<_>>() {
        let task = soon("an answer", call).await.unwrap();
        nodes.insert(node_of(&task));
        tasks.insert(task.id);
    }
    assert_eq!(tasks.len(), 16, "each message is one task");
    assert_eq!(nodes, BTreeSet::from(["three".to_owned(), "two".to_owned()]));
    for node in [one, two, three] {
        node.stop().await;
    }
}

#[tokio::test]
async fn sixteen_equal_messages_are_one_task() {
    let server = NatsServer::start().await;
    let homes =
        [NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]), NodeHome::new("three", &["beta"])];
    let one = homes[0].start(&server).await;
    let others = [homes[1].start(&server).await, homes[2].start(&server).await];
    let client = one.client_of("beta").await;
    let calls = (0..16).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let message = user_message("the-same", "hello");
            // Half of them as a stream: another request with the same message.
            if number % 2 == 0 {
                return task_of(client.send_message(&message, &SendOptions::default()).await.unwrap()).id;
            }
            let mut updates = client.stream_message(&message, &SendOptions::default()).await.unwrap();
            updates.next().await.unwrap().unwrap().task_id().unwrap().to_owned()
        })
    });
    let mut tasks = BTreeSet::new();
    for call in calls.collect::<Vec<_>>() {
        tasks.insert(soon("an answer", call).await.unwrap());
    }
    assert_eq!(tasks.len(), 1);
    for node in others {
        node.stop().await;
    }
    one.stop().await;
}

/// Proves X6.
#[tokio::test]
async fn an_agent_that_is_away_gets_the_work_when_it_returns() {
    let server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let one = one.start(&server).await;
    let node = two.start(&server).await;
    let client = one.client_of("beta").await;
    node.stop().await;
    one.wait_until_gone("beta").await;
    let waiting = tokio::spawn(async move {
        client.send_message(&user_message("m-1", "hello"), &SendOptions::default()).await
    });
    // An agent that nobody has ever offered is no different.
    let unknown = one.unannounced_client_of("later");
    let also_waiting = tokio::spawn(async move {
        unknown.send_message(&user_message("m-2", "hello"), &SendOptions::default()).await
    });
    let node = two.start(&server).await;
    let task = task_of(soon("the answer", waiting).await.unwrap().unwrap());
    assert_eq!(task.status.state, TaskState::Completed);
    let late = NodeHome::new("three", &["later"]);
    let late = late.start(&server).await;
    let task = task_of(soon("the answer", also_waiting).await.unwrap().unwrap());
    assert_eq!(node_of(&task), "three");
    for node in [one, node, late] {
        node.stop().await;
    }
}

#[tokio::test]
async fn large_requests_are_refused_and_large_answers_arrive() {
    let server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let (one, two) = (one.start(&server).await, two.start(&server).await);
    let client = one.client_of("beta").await;
    let large = user_message("m-1", &"x".repeat(10_000_000));
    let error = client.send_message(&large, &SendOptions::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::RequestTooLarge { .. }), "{error:?}");
    assert!(error.to_string().contains("artifact"), "{error}");

    let mut updates =
        client.stream_message(&user_message("m-2", "much"), &SendOptions::default()).await.unwrap();
    let seen = read_rest(&mut updates).await;
    assert!(seen.contains(&"+much.txt".to_owned()), "{seen:?}");
    let again = client.send_message(&user_message("m-2", "much"), &SendOptions::default()).await.unwrap();
    let parts = task_of(again).artifacts.iter().map(|artifact| artifact.parts.len()).sum::<usize>();
    assert!(parts > 0, "a whole task of some megabytes is one answer");
    two.stop().await;
    one.stop().await;
}
