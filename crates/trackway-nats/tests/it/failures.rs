//! Nodes that die and a server that restarts, in the middle of calls.

use trackway_a2a_client::{SendOptions, SendReply, TaskQuery, TaskState};

use super::{
    nats_server::NatsServer,
    soon,
    test_node::{NodeHome, read_rest, user_message},
};

/// The caller continues with the same task at the node that came back.
/// Proves X6.
#[tokio::test]
async fn a_node_that_is_killed_three_times_during_a_call_has_one_task_and_one_result() {
    let server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let one = one.start(&server).await;
    let mut node = two.start(&server).await;
    let client = one.client_of("beta").await;
    let mut updates =
        client.stream_message(&user_message("m-1", "nap and ask"), &SendOptions::default()).await.unwrap();
    let first = soon("an update", updates.next()).await.unwrap().unwrap();
    let task = first.task_id().unwrap().to_owned();
    for _ in 0..3 {
        node.kill().await;
        node = two.start(&server).await;
    }
    let seen = read_rest(&mut updates).await;
    assert_eq!(seen.last().map(String::as_str), Some("input-required"), "{seen:?}");
    let mut answer = user_message("m-2", "");
    answer.message.parts = vec![trackway_a2a_client::Part::data(serde_json::json!({"amount": 1}))];
    answer.task = Some(task.clone());
    let SendReply::Task(done) = client.send_message(&answer, &SendOptions::default()).await.unwrap() else {
        panic!("a task")
    };
    assert_eq!((done.id, done.status.state), (task, TaskState::Completed));
    assert_eq!(client.list_tasks(&TaskQuery::default()).await.unwrap().total, 1);
    node.stop().await;
    one.stop().await;
}

/// A blocking request whose node dies before it answers is delivered again.
#[tokio::test]
async fn a_request_whose_node_died_is_delivered_again() {
    let server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let one = one.start(&server).await;
    let node = two.start(&server).await;
    let client = one.client_of("beta").await;
    let waiting = {
        let client = client.clone();
        tokio::spawn(async move {
            client.send_message(&user_message("m-1", "nap"), &SendOptions::default()).await
        })
    };
    let tasks = async || client.list_tasks(&TaskQuery::default()).await;
    while soon("the task", tasks()).await.unwrap().total == 0 {}
    node.kill().await;
    let node = two.start(&server).await;
    let SendReply::Task(done) = soon("the answer", waiting).await.unwrap().unwrap() else { panic!("a task") };
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(tasks().await.unwrap().total, 1, "it is the same task");
    node.stop().await;
    one.stop().await;
}

/// Another node must not begin what the dead one may have begun; it leads the message there.
#[tokio::test]
async fn what_a_dead_node_began_is_not_begun_by_another() {
    let server = NatsServer::start().await;
    let homes =
        [NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]), NodeHome::new("three", &["beta"])];
    let one = homes[0].start(&server).await;
    let two = homes[1].start(&server).await;
    let client = one.client_of("beta").await;
    let waiting = {
        let client = client.clone();
        tokio::spawn(async move {
            client.send_message(&user_message("m-1", "nap"), &SendOptions::default()).await
        })
    };
    let tasks = async || client.list_tasks(&TaskQuery::default()).await;
    while soon("the task", tasks()).await.unwrap().total == 0 {}
    two.kill().await;
    let three = homes[2].start(&server).await;
    // The message is delivered to the third node, which does not have its task.
    three.wait_until_gone("beta").await;
    let two = homes[1].start(&server).await;
    let SendReply::Task(done) = soon("the answer", waiting).await.unwrap().unwrap() else { panic!("a task") };
    assert_eq!(done.status.state, TaskState::Completed);
    two.stop().await;
    assert_eq!(tasks().await.unwrap().total, 0, "the third node has begun nothing");
    three.stop().await;
    one.stop().await;
}

/// Proves X6.
#[tokio::test]
async fn a_server_that_restarts_in_the_middle_loses_nothing() {
    let mut server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let (one, two) = (one.start(&server).await, two.start(&server).await);
    let client = one.client_of("beta").await;
    let mut updates =
        client.stream_message(&user_message("m-1", "nap"), &SendOptions::default()).await.unwrap();
    soon("an update", updates.next()).await.unwrap().unwrap();
    let blocked = {
        let client = client.clone();
        tokio::spawn(async move {
            client.send_message(&user_message("m-2", "nap"), &SendOptions::default()).await
        })
    };
    let tasks = async || client.list_tasks(&TaskQuery::default()).await;
    while soon("the second task", tasks()).await.unwrap().total < 2 {}
    server.kill();
    server.start_again().await;
    let seen = read_rest(&mut updates).await;
    assert_eq!(seen.last().map(String::as_str), Some("completed"), "{seen:?}");
    let SendReply::Task(done) = soon("the answer", blocked).await.unwrap().unwrap() else { panic!("a task") };
    assert_eq!(done.status.state, TaskState::Completed);
    assert_eq!(tasks().await.unwrap().total, 2);
    two.stop().await;
    one.stop().await;
}
