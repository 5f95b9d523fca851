//! Peers that people add and remove.

use super::*;

/// Proves I1 and X2: what was added is there after a restart, and gone after a removal.
#[tokio::test]
async fn added_peers_survive_a_restart() {
    let world = World::default();
    let agent = FakeAgent::named("orders").await;
    let registry = world.start_and_ask(MeshConfiguration::default()).await;
    let mut generations = registry.subscribe();
    generations.mark_unchanged();
    let AddedOutcome::Created(peer) = registry.add_peer(&caller("acme"), new_peer(&agent)).await.unwrap()
    else {
        panic!("it is new");
    };
    assert_eq!((peer.name.as_str(), peer.health, peer.is_callable()), ("orders", PeerHealth::Up, true));
    assert!(generations.has_changed().unwrap());
    drop(registry);
    // The card may be called differently by now; the name stays.
    agent.answers(Answer::Card(agent_card("renamed")));
    let registry = world.start_and_ask(MeshConfiguration::default()).await;
    assert_eq!(visible_peers(&registry, "acme"), ["orders up"]);
    registry.remove_peer("acme", "orders").await.unwrap();
    assert_eq!(visible_peers(&registry, "acme"), [""; 0]);
    let error = registry.remove_peer("acme", "orders").await.unwrap_err();
    assert_eq!(error.code().as_str(), "unknown-peer");
    assert_eq!(visible_peers(&world.start_and_ask(MeshConfiguration::default()).await, "acme"), [""; 0]);
}

/// Proves X6: a peer that one tenant added does not exist for another.
#[tokio::test]
async fn tenants_do_not_see_each_others_peers() {
    let world = World::default();
    let (shared, ours, theirs) = (
        FakeAgent::named("shared").await,
        FakeAgent::named("orders").await,
        FakeAgent::named("orders").await,
    );
    let registry = world.start_and_ask(configuration(&[(&shared, None)])).await;
    registry.add_peer(&caller("acme"), new_peer(&ours)).await.unwrap();
    registry.add_peer(&caller("umbrella"), new_peer(&theirs)).await.unwrap();
    assert_eq!(visible_peers(&registry, "acme"), ["orders up", "shared up"]);
    assert_eq!(visible_peers(&registry, "umbrella"), ["orders up", "shared up"]);
    assert_eq!(visible_peers(&registry, "third"), ["shared up"]);
    let of = |tenant: &str| registry.snapshot().find_peer(tenant, "orders").map(|peer| peer.url.clone());
    assert_eq!(
        [of("acme"), of("umbrella"), of("third")],
        [Some(ours.url.clone()), Some(theirs.url.clone()), None]
    );
    // The same words as for a name that nobody has.
    for name in ["orders", "nobody"] {
        let missing = format!("there is no peer {name:?}");
        assert_eq!(registry.remove_peer("third", name).await.unwrap_err().to_string(), missing);
        assert_eq!(registry.ping("third", name).await.unwrap_err().to_string(), missing);
        assert_eq!(registry.connect("third", name).await.unwrap_err().to_string(), missing);
    }
    registry.remove_peer("umbrella", "orders").await.unwrap();
    assert_eq!(visible_peers(&registry, "acme"), ["orders up", "shared up"]);
    let error = registry.remove_peer("acme", "shared").await.unwrap_err();
    assert!(matches!(error, PeerError::NotAdded { .. }), "{error}");
}

/// Proves X2: equal requests at once add one peer.
#[tokio::test]
async fn equal_requests_add_one_peer() {
    let world = World::default();
    let agent = FakeAgent::named("orders").await;
    let registry = world.start_and_ask(MeshConfiguration::default()).await;
    let acme = caller("acme");
    let adds = (0..16).map(|_| registry.add_peer(&acme, new_peer(&agent)));
    let outcomes = futures_util::future::try_join_all(adds).await.unwrap();
    let created = outcomes.iter().filter(|outcome| matches!(outcome, AddedOutcome::Created(_))).count();
    assert_eq!((created, visible_peers(&registry, "acme")), (1, vec!["orders up".to_owned()]));
    assert_eq!(AddedPeers::in_store(Arc::new(world.keys.clone())).load().await.unwrap().len(), 1);
}

/// Proves X5: what cannot be a peer is refused with a reason and stores nothing.
#[tokio::test]
async fn wrong_peers_are_refused() {
    let world = World::default();
    let (agent, other) = (FakeAgent::named("orders").await, FakeAgent::named("other").await);
    let registry = world.start_and_ask(configuration(&[(&other, Some("other"))])).await;
    let acme = caller("acme");
    let url = |url: &str| NewPeer { url: url.to_owned(), ..new_peer(&agent) };
    let named = |name: &str, peer: NewPeer| NewPeer { name: Some(PeerName::new(name).unwrap()), ..peer };
    let with_key = |key: &str| {
        let credentials = PeerCredentials { key: Some(key.to_owned()), ..PeerCredentials::default() };
        NewPeer { credentials, ..new_peer(&agent) }
    };
    let refused_port = "http://127.0.0.1:1";
    for (new, code, says) in [
        (url(""), "invalid-input", "not the address"),
        (url("orders"), "invalid-input", "not the address"),
        (url("ftp://a"), "invalid-input", "only http"),
        (url("http://u:secret@a"), "invalid-input", "name or password"),
        (url("http://a?x=1"), "invalid-input", "without `?`"),
        (url(&format!("http://a/{}", "x".repeat(10 * 1024 * 1024))), "invalid-input", "longer than"),
        (url(refused_port), "peer-unavailable", "no connection"),
        (with_key(""), "invalid-input", "empty or too long"),
        (with_key("a\nb"), "invalid-input", "not plain text"),
        (with_key(&"k".repeat(1024 * 1024)), "invalid-input", "empty or too long"),
        (named("other", new_peer(&agent)), "invalid-input", "there is a peer other already"),
        (named("else", new_peer(&other)), "invalid-input", "this address is the peer other already"),
    ] {
        let error = registry.add_peer(&acme, new).await.unwrap_err();
        assert_eq!(error.code().as_str(), code, "{error}");
        assert!(error.to_string().contains(says) && !error.to_string().contains("secret"), "{error}");
    }
    assert_eq!(visible_peers(&registry, "acme"), ["other up"]);
    // With a name, a peer can be added before it runs.
    registry.add_peer(&acme, named("later", url(refused_port))).await.unwrap();
    let later = find(&registry, "later");
    assert_eq!((later.health, later.is_callable(), later.tool_name()), (PeerHealth::Unknown, false, None));
    let error = registry.connect("acme", "later").await.unwrap_err();
    assert_eq!(error.code().as_str(), "peer-unavailable", "{error}");
}

/// Proves I1: another process that shares the store is noticed, and new keys replace earlier ones.
#[tokio::test]
async fn changes_of_another_process_are_noticed() {
    let world = World::default();
    let agent = FakeAgent::named("orders").await;
    let registry = world.start_and_ask(MeshConfiguration::default()).await;
    let elsewhere = world.start_and_ask(MeshConfiguration::default()).await;
    elsewhere.add_peer(&caller("acme"), new_peer(&agent)).await.unwrap();
    let mut generations = registry.subscribe();
    world.clock.advance(LONG);
    generations.wait_for(|_| find_by_health(&registry, PeerHealth::Up)).await.unwrap();
    let credentials = PeerCredentials { key: Some("newer".to_owned()), ..PeerCredentials::default() };
    let again =
        registry.add_peer(&caller("acme"), NewPeer { credentials, ..new_peer(&agent) }).await.unwrap();
    assert!(matches!(again, AddedOutcome::Existing(_)));
    assert_eq!(agent.received_requests().pop().unwrap()["authorization"], "Bearer newer");
    assert_eq!(visible_peers(&registry, "acme"), ["orders up"]);
}
