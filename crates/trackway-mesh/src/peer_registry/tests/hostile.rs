//! Cards from strangers that want to do harm, and agents that do not speak the protocol.

use super::*;

/// Proves X5: whatever an agent answers, the registry says what is wrong with it and goes on.
#[tokio::test]
async fn hostile_cards_are_refused_with_a_reason() {
    let world = World::default();
    let agent = FakeAgent::named("good").await;
    let registry = world.start_and_ask(configuration(&[(&agent, Some("peer"))])).await;
    let card = |change: fn(&mut Value)| {
        let mut card = agent_card("x");
        change(&mut card);
        Answer::Card(card)
    };
    let million_keys: String = (0..1_000_000).map(|key| format!("\"{key}\":0,")).collect();
    for (answer, says) in [
        (Answer::Text("x".repeat(10 * 1024 * 1024)), "larger than 1048576 bytes"),
        (Answer::Text(format!("{{{million_keys}\"name\":\"x\"}}")), "larger than 1048576 bytes"),
        (Answer::Text("[".repeat(100_000)), "cannot be read"),
        (Answer::Text("<html>Not found</html>".to_owned()), "cannot be read"),
        (Answer::Text("null".to_owned()), "cannot be read"),
        (Answer::Text(String::new()), "cannot be read"),
        (Answer::Redirect("http://127.0.0.1:1/collect"), "302"),
        (Answer::Status(404), "404"),
        (Answer::Status(401), "401"),
        (card(|card| card["name"] = json!(null)), "cannot be read"),
        (card(|card| card["name"] = json!(2.0)), "cannot be read"),
        (card(|card| card["skills"] = json!("all")), "cannot be read"),
        (card(|card| card["capabilities"] = json!([])), "cannot be read"),
        (card(|card| card["capabilities"] = json!({"extensions": [null]})), "cannot be read"),
        (card(|card| card["url"] = json!(null)), "no interface"),
        (card(|card| card["url"] = json!("ftp://a/")), "no interface"),
        (card(|card| *card = workflow_card("x", &json!("string"))), "not an object"),
        (card(|card| *card = workflow_card("x", &json!({"type": 7}))), "cannot be used"),
    ] {
        let shown = format!("{answer:?}").chars().take(100).collect::<String>();
        agent.answers(answer);
        let error = registry.ping("acme", "peer").await.unwrap_err().to_string();
        assert!(error.contains(says) && error.len() < 1_000, "{shown}: {error}");
        let peer = find(&registry, "peer");
        assert_eq!(peer.card.as_ref().unwrap().name, "good", "{shown}: the earlier card stays");
    }
    agent.answers(Answer::Card(agent_card("good")));
    assert!(registry.ping("acme", "peer").await.is_ok());
}

/// Proves X6: keys and headers go to the peer, and to no machine that its card names.
#[tokio::test]
async fn credentials_go_to_the_peer_only() {
    let world = World::default();
    let agent = FakeAgent::named("orders").await;
    let mut configured = configuration(&[(&agent, None)]);
    configured.peers[0].credentials.key = Some("hush-hush".to_owned());
    configured.peers[0].credentials.headers.insert("X-Team".to_owned(), "blue".to_owned());
    let registry = world.start_and_ask(configured).await;
    let asked = agent.received_requests().pop().unwrap();
    assert_eq!(
        (&asked["authorization"], &asked["x-team"]),
        (&"Bearer hush-hush".parse().unwrap(), &"blue".parse().unwrap())
    );
    let shown = format!("{registry:?} {:?} {:?}", registry.snapshot(), registry.shared.lock_state());
    assert!(!shown.contains("hush-hush") && !shown.contains("blue"));
    let mut card = agent_card("orders");
    card["url"] = json!("http://collects.example/");
    agent.answers(Answer::Card(card));
    let error = registry.ping("acme", "orders").await.unwrap_err().to_string();
    assert!(error.contains("no interface"), "{error}");
}

/// Proves X5: a peer that cannot be reached is asked again soon, then less often, and never more often than
/// its refresh time once it was up.
#[test]
fn pauses_grow_and_are_bounded() {
    let now = trackway_domain::Timestamp::from_millis(0);
    let fresh = || {
        let mut state = RegistryState::default();
        let peer = ConfiguredPeer {
            name: None,
            address: PeerAddress::Base("http://127.0.0.1:1".to_owned()),
            credentials: PeerCredentials::default(),
        };
        state.replace_configuration(
            MeshConfiguration { options: MeshOptions::default(), peers: vec![peer] },
            now,
        );
        state
    };
    let mut state = fresh();
    let id = state.entries()[0].id;
    let refresh = Duration::from_secs(30);
    let mut pauses = Vec::new();
    for _ in 0..10 {
        let entry = state.entry_mut(id).unwrap();
        entry.record_failure("no");
        pauses.push(entry.next_pause(refresh, 0).as_secs());
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 240, 240]);
    let entry = state.entry(id).unwrap();
    let shortest = entry.next_pause(refresh, u64::MAX);
    assert!(shortest < Duration::from_secs(240) && shortest > Duration::from_secs(209), "{shortest:?}");
    let day = Duration::from_secs(24 * 60 * 60);
    assert!(entry.next_pause(day, 0) <= day);
}
