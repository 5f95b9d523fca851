//! Agents arrive, leave and expire.

use super::{
    nats_server::NatsServer,
    soon,
    test_node::{NodeHome, TestNode},
};

fn names(node: &TestNode) -> Vec<String> {
    node.found.borrow().keys().cloned().collect()
}

#[tokio::test]
async fn agents_arrive_with_their_cards_and_leave_with_their_node() {
    let server = NatsServer::start().await;
    let one = NodeHome::new("one", &["alpha"]);
    let two = NodeHome::new("two", &["beta", "gamma.v2"]);
    let one = one.start(&server).await;
    let two = two.start(&server).await;
    let client = one.client_of("gamma.v2").await;
    one.client_of("beta").await;
    two.client_of("alpha").await;
    assert_eq!(names(&one), ["beta", "gamma.v2"], "its own agents are not peers");
    let card = client.agent_card().unwrap();
    assert_eq!((card.name.as_str(), card.interfaces.len()), ("gamma.v2", 1));
    assert_eq!(one.found.borrow()["gamma.v2"].url, "nats://test/gamma_2ev2");
    assert!(client.rediscover_if_card_changed().await.unwrap().is_some(), "the card can be asked for");

    two.stop().await;
    one.wait_until_gone("beta").await;
    one.wait_until_gone("gamma.v2").await;
    one.stop().await;
}

#[tokio::test]
async fn agents_of_a_node_that_died_expire_and_come_back_with_it() {
    let server = NatsServer::start().await;
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    let one = one.start(&server).await;
    let node = two.start(&server).await;
    one.client_of("beta").await;
    node.kill().await;
    one.wait_until_gone("beta").await;
    let node = two.start(&server).await;
    one.client_of("beta").await;
    node.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn an_agent_stays_while_one_of_its_nodes_does() {
    let server = NatsServer::start().await;
    let homes =
        ["one", "two", "three"].map(|name| NodeHome::new(name, if name == "one" { &[] } else { &["beta"] }));
    let one = homes[0].start(&server).await;
    let two = homes[1].start(&server).await;
    let three = homes[2].start(&server).await;
    one.client_of("beta").await;
    // Each of the two sees that the other offers its agent as well.
    two.client_of("beta").await;
    three.client_of("beta").await;
    two.stop().await;
    three.wait_until_gone("beta").await;
    assert_eq!(names(&one), ["beta"]);
    three.stop().await;
    one.wait_until_gone("beta").await;
    one.stop().await;
}

#[tokio::test]
async fn namespaces_do_not_see_each_other() {
    let server = NatsServer::start().await;
    let homes =
        [NodeHome::new("one", &["alpha"]), NodeHome::new("two", &["beta"]), NodeHome::new("three", &[])];
    let red = homes[0].start_at(&server.url, "team.red").await.unwrap();
    let blue = homes[1].start_at(&server.url, "team_red").await.unwrap();
    let also_blue = homes[2].start_at(&server.url, "team_red").await.unwrap();
    also_blue.client_of("beta").await;
    assert_eq!((names(&red), names(&also_blue)), (vec![], vec!["beta".to_owned()]));
    for node in [red, blue, also_blue] {
        node.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_reported_and_everything_comes_back() {
    let mut server = NatsServer::start().await;
    server.kill();
    let (one, two) = (NodeHome::new("one", &[]), NodeHome::new("two", &["beta"]));
    // Nodes start without it.
    let one = one.start(&server).await;
    let two = two.start(&server).await;
    soon("the report", one.runtime.wait_for_task_health("nats", true)).await;
    server.start_again().await;
    soon("the recovery", one.runtime.wait_for_task_health("nats", false)).await;
    one.client_of("beta").await;
    server.kill();
    soon("the report", one.runtime.wait_for_task_health("nats", true)).await;
    one.wait_until_gone("beta").await;
    server.start_again().await;
    soon("the recovery", one.runtime.wait_for_task_health("nats", false)).await;
    one.client_of("beta").await;
    two.stop().await;
    one.stop().await;
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_at_once() {
    let home = NodeHome::new("one", &[]);
    for (url, namespace) in [("nats://127.0.0.1:1", ""), ("http://127.0.0.1", "x"), ("nats://[", "x")] {
        assert!(home.start_at(url, namespace).await.is_err(), "{url} {namespace}");
    }
}
