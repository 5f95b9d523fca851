//! Names that several peers want, and patterns that leave peers out.

use super::*;

/// Proves I1: two peers that want one name get different ones, the same after a restart.
#[tokio::test]
async fn second_peer_of_a_name_gets_a_stable_suffix() {
    let world = World::default();
    let (one, two) = (FakeAgent::named("orders").await, FakeAgent::named("Orders").await);
    let both = configuration(&[(&one, None), (&two, None)]);
    let registry = world.start_and_ask(both.clone()).await;
    let names = |registry: &PeerRegistry| -> Vec<(String, String)> {
        let snapshot = registry.snapshot();
        snapshot
            .peers_of_tenant("acme")
            .iter()
            .map(|peer| (peer.name.to_string(), peer.url.clone()))
            .collect()
    };
    let first = names(&registry);
    assert_eq!(first[0], ("orders".to_owned(), one.url.clone()));
    let (suffixed, url) = &first[1];
    assert!(suffixed.starts_with("orders-") && suffixed.len() == "orders-".len() + 8 && *url == two.url);
    assert_eq!(find(&registry, suffixed).renamed_from, Some(PeerName::new("orders").unwrap()));
    assert_eq!(names(&world.start_and_ask(both).await), first);
}

/// Proves X6: a name that a person gave cannot be taken by what others announce, and what one tenant adds
/// does not change the names that another sees.
#[tokio::test]
async fn given_names_stay() {
    let world = World::default();
    let (given, announced) = (FakeAgent::named("something").await, FakeAgent::named("orders").await);
    let registry = world.start_and_ask(configuration(&[(&announced, None)])).await;
    let named = NewPeer { name: Some(PeerName::new("bills").unwrap()), ..new_peer(&given) };
    registry.add_peer(&caller("acme"), named).await.unwrap();
    announced.answers(Answer::Card(agent_card("bills")));
    world.refresh(&registry).await;
    let acme = registry.snapshot().find_peer("acme", "bills").cloned().unwrap();
    assert_eq!(acme.url, given.url);
    assert_eq!(visible_peers(&registry, "acme").len(), 2);
    assert_eq!(visible_peers(&registry, "umbrella"), ["bills up"]);
    assert_eq!(registry.snapshot().find_peer("umbrella", "bills").unwrap().url, announced.url);
}

/// Proves I1: patterns of names and addresses leave peers out, before they are asked if possible.
#[tokio::test]
async fn patterns_leave_peers_out() {
    let (orders, bills) = (FakeAgent::named("orders").await, FakeAgent::named("bills").await);
    for (allow, deny, expected) in [
        (vec![], vec![], vec!["bills up", "orders up"]),
        (vec!["ord*"], vec![], vec!["orders up"]),
        (vec![], vec!["bills"], vec!["orders up"]),
        (vec!["*"], vec!["*"], vec![]),
        (vec!["http://127.0.0.1:*"], vec!["b*"], vec!["orders up"]),
        (vec!["https://*"], vec![], vec![]),
    ] {
        let mut configured = configuration(&[(&orders, None), (&bills, None)]);
        let text = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        (configured.options.allow, configured.options.deny) = (text(&allow), text(&deny));
        let registry = World::default().start_and_ask(configured).await;
        assert_eq!(visible_peers(&registry, "acme"), expected, "{allow:?} {deny:?}");
    }
    let asked = bills.received_requests().len();
    let mut configured = configuration(&[(&bills, Some("bills"))]);
    configured.options.deny = vec!["bills".to_owned()];
    let registry = World::default().start_and_ask(configured.clone()).await;
    assert_eq!((bills.received_requests().len(), visible_peers(&registry, "acme").len()), (asked, 0));
    let error = registry.add_peer(&caller("acme"), new_peer(&bills)).await.unwrap_err();
    assert!(matches!(error, PeerError::Denied { .. }), "{error}");
    // It comes back when the pattern is gone.
    configured.options.deny.clear();
    let mut generations = registry.subscribe();
    registry.configure(configured);
    generations.wait_for(|_| find_by_health(&registry, PeerHealth::Up)).await.unwrap();
}

#[test]
fn slugs_are_names() {
    for (text, name) in [
        ("orders", "orders"),
        ("Order Intake (EU)", "order-intake-eu"),
        ("import_orders", "import_orders"),
        ("Bestellungen für München", "bestellungen-f-r-m-nchen"),
        ("注文", "peer"),
        ("", "peer"),
        ("--", "peer"),
        ("../../etc/passwd", "etc-passwd"),
    ] {
        let slug = PeerName::slug_of(text);
        assert_eq!(slug.as_str(), name);
        assert!(PeerName::new(slug.as_str()).is_ok());
    }
    let long = PeerName::slug_of(&"ab ".repeat(100_000));
    assert!(PeerName::new(long.with_suffix_of("http://a").as_str()).is_ok(), "{long}");
    for name in ["", "a b", "a/b", "ü", ".a", &"a".repeat(65)] {
        assert!(PeerName::new(name).is_err(), "{name}");
    }
}
