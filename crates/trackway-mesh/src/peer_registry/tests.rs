//! Peers that come, change, fail and leave. Time stands still until a test moves it.

mod added;
mod fake_agent;
mod hostile;
mod names;

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::Caller;
use trackway_testkit::{CountingIds, ManualClock, MemoryKeys};

use super::{peer_entry::Contact, *};
use crate::{PeerAddress, PeerHealth, PeerKind};
use fake_agent::{Answer, FakeAgent, agent_card, workflow_card};

/// Longer than any pause between two questions.
const LONG: Duration = Duration::from_secs(3_600);

/// What outlives a registry.
#[derive(Debug, Clone, Default)]
struct World {
    clock: Arc<ManualClock>,
    keys: MemoryKeys,
}

impl World {
    async fn start(&self, configuration: MeshConfiguration) -> PeerRegistry {
        let options = PeerRegistryOptions {
            configuration,
            keys: Arc::new(self.keys.clone()),
            clock: self.clock.clone(),
            ids: Arc::new(CountingIds::new()),
        };
        PeerRegistry::start(options).await.unwrap()
    }

    /// A registry that has asked all its peers once.
    async fn start_and_ask(&self, configuration: MeshConfiguration) -> PeerRegistry {
        let registry = self.start(configuration).await;
        registry.wait_until_asked().await;
        registry
    }

    /// Lets time pass until every peer was asked once more.
    async fn refresh(&self, registry: &PeerRegistry) {
        let attempts = || -> Vec<(PeerId, u64)> {
            let state = registry.shared.lock_state();
            let asked = state.entries().iter().filter(|entry| matches!(entry.contact, Contact::Http(_)));
            asked.map(|entry| (entry.id, entry.attempts)).collect()
        };
        let before = attempts();
        let mut answers = registry.shared.answers.subscribe();
        self.clock.advance(LONG);
        while attempts().iter().zip(&before).any(|(now, before)| now.1 <= before.1) {
            answers.changed().await.unwrap();
        }
    }
}

fn configuration(peers: &[(&FakeAgent, Option<&str>)]) -> MeshConfiguration {
    let peers = peers.iter().map(|(agent, name)| ConfiguredPeer {
        name: name.map(|name| PeerName::new(name).unwrap()),
        address: PeerAddress::Base(agent.url.clone()),
        credentials: PeerCredentials::default(),
    });
    MeshConfiguration { options: MeshOptions::default(), peers: peers.collect() }
}

fn new_peer(agent: &FakeAgent) -> NewPeer {
    NewPeer { url: agent.url.clone(), name: None, credentials: PeerCredentials::default() }
}

fn caller(tenant: &str) -> Caller {
    Caller::new(tenant, "ann")
}

/// Names and health of the peers that a tenant sees.
fn visible_peers(registry: &PeerRegistry, tenant: &str) -> Vec<String> {
    let snapshot = registry.snapshot();
    let peers = snapshot.peers_of_tenant(tenant).iter();
    peers.map(|peer| format!("{} {}", peer.name, peer.health.as_str())).collect()
}

fn find(registry: &PeerRegistry, name: &str) -> Arc<Peer> {
    registry.snapshot().find_peer("acme", name).cloned().unwrap()
}

/// Proves I1 and I2: a published workflow card is recognised when it arrives, and everybody is told.
#[tokio::test]
async fn arrival_is_notified() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let agent = FakeAgent::start(Answer::Card(workflow_card("Onboarding Workflow", &schema))).await;
    let registry = World::default().start(configuration(&[(&agent, None)])).await;
    let mut generations = registry.subscribe();
    generations.wait_for(|_| find_by_health(&registry, PeerHealth::Up)).await.unwrap();
    let peer = find(&registry, "onboarding-workflow");
    assert_eq!(peer.tool_name().as_deref(), Some("workflow_onboarding-workflow"));
    let PeerKind::Workflow { input_schema, output_schema } = &peer.kind else { panic!("{peer:?}") };
    assert_eq!((&**input_schema, output_schema.is_some()), (&schema, true));
    assert!(peer.is_callable() && peer.last_seen.is_some() && peer.error.is_none());
}

fn find_by_health(registry: &PeerRegistry, health: PeerHealth) -> bool {
    registry.snapshot().peers_of_tenant("acme").iter().any(|peer| peer.health == health)
}

/// Proves I1 and I3: a new schema is a new generation, the same card is not.
#[tokio::test]
async fn only_a_changed_card_is_a_change() {
    let world = World::default();
    let card = |field: &str| workflow_card("w", &json!({"type": "object", "required": [field]}));
    let agent = FakeAgent::start(Answer::TaggedCard(card("a"), "\"1\"")).await;
    let registry = world.start_and_ask(configuration(&[(&agent, None)])).await;
    let first = registry.snapshot();
    world.refresh(&registry).await;
    assert_eq!((agent.not_modified(), registry.snapshot().generation), (1, first.generation));
    assert!(find(&registry, "w").last_seen > first.find_peer("acme", "w").unwrap().last_seen);

    agent.answers(Answer::TaggedCard(card("b"), "\"2\""));
    let mut generations = registry.subscribe();
    generations.mark_unchanged();
    world.refresh(&registry).await;
    assert!(generations.has_changed().unwrap());
    let changed = registry.snapshot();
    assert!(changed.generation > first.generation);
    let PeerKind::Workflow { input_schema, .. } = &find(&registry, "w").kind else { panic!() };
    assert_eq!(input_schema["required"], json!(["b"]));

    // A server that knows no tags sends the same document again.
    agent.answers(Answer::Card(card("b")));
    world.refresh(&registry).await;
    world.refresh(&registry).await;
    assert_eq!(registry.snapshot().generation, changed.generation);
}

/// Proves I1: three failed refreshes take a peer out of the toolset, and it comes back by itself.
#[tokio::test]
async fn peer_that_fails_three_times_is_down_until_it_answers() {
    let world = World::default();
    let agent = FakeAgent::named("orders").await;
    let registry = world.start_and_ask(configuration(&[(&agent, None)])).await;
    let up = registry.snapshot().generation;
    agent.answers(Answer::Status(503));
    for _ in 0..2 {
        world.refresh(&registry).await;
        let peer = find(&registry, "orders");
        assert!(peer.is_callable() && peer.error.as_ref().unwrap().contains("503"), "{peer:?}");
        assert_eq!(registry.snapshot().generation, up, "nobody needs to know yet");
    }
    world.refresh(&registry).await;
    let peer = find(&registry, "orders");
    assert_eq!((peer.health, peer.is_callable()), (PeerHealth::Down, false));
    assert!(registry.snapshot().generation > up);
    // Whoever holds a remote task there can still try.
    registry.connect("acme", "orders").await.unwrap();
    world.refresh(&registry).await;
    agent.answers(Answer::Card(agent_card("orders")));
    world.refresh(&registry).await;
    let peer = find(&registry, "orders");
    assert_eq!((peer.health, peer.is_callable(), &peer.error), (PeerHealth::Up, true, &None));
}

/// Proves I1: a ping brings a peer back at once, and its failures are no failed refreshes.
#[tokio::test]
async fn ping_asks_now() {
    let world = World::default();
    let agent = FakeAgent::named("orders").await;
    let registry = world.start_and_ask(configuration(&[(&agent, None)])).await;
    agent.answers(Answer::Status(500));
    for _ in 0..5 {
        let error = registry.ping("acme", "orders").await.unwrap_err();
        assert_eq!(error.code().as_str(), "peer-unavailable", "{error}");
    }
    assert_eq!(find(&registry, "orders").health, PeerHealth::Up);
    for _ in 0..3 {
        world.refresh(&registry).await;
    }
    assert_eq!(find(&registry, "orders").health, PeerHealth::Down);
    agent.answers(Answer::Card(agent_card("orders")));
    assert_eq!(registry.ping("acme", "orders").await.unwrap().health, PeerHealth::Up);
    assert!(find(&registry, "orders").is_callable());
    let error = registry.ping("acme", "order").await.unwrap_err();
    assert_eq!(
        (error.code().as_str(), error.to_string().as_str()),
        ("unknown-peer", "there is no peer \"order\"")
    );
}

/// Proves I1: a peer is found by the name of its card although nobody has asked it yet, and is asked once.
#[tokio::test]
async fn connect_waits_for_the_first_card() {
    let agent = FakeAgent::named("orders").await;
    let registry = World::default().start(configuration(&[(&agent, None)])).await;
    let calls = (0..16).map(|_| registry.connect("acme", "orders"));
    futures_util::future::try_join_all(calls).await.unwrap();
    assert_eq!(agent.received_requests().len(), 1);
    let error = registry.connect("acme", "nobody").await.unwrap_err();
    assert!(matches!(error, PeerError::Unknown { .. }), "{error}");
}

/// Proves I1: a reload keeps what is known of peers that stay, and forgets the others.
#[tokio::test]
async fn configuration_can_be_replaced() {
    let world = World::default();
    let (stays, goes, comes) =
        (FakeAgent::named("stays").await, FakeAgent::named("goes").await, FakeAgent::named("comes").await);
    let registry = world.start_and_ask(configuration(&[(&stays, None), (&goes, None)])).await;
    assert_eq!(visible_peers(&registry, "acme"), ["goes up", "stays up"]);
    registry.configure(configuration(&[(&comes, None), (&stays, None)]));
    registry.wait_until_asked().await;
    assert_eq!(visible_peers(&registry, "acme"), ["comes up", "stays up"]);
    assert_eq!(stays.received_requests().len(), 1);
    let options = MeshOptions { max_depth: 2, ..MeshOptions::default() };
    registry.configure(MeshConfiguration { options, peers: Vec::new() });
    assert_eq!((visible_peers(&registry, "acme").len(), registry.mesh_options().max_depth), (0, 2));
}

/// Proves I1: another source brings peers and takes them away; a wrong card changes nothing.
#[tokio::test]
async fn discovered_peers_come_and_go() {
    let registry = World::default().start_and_ask(MeshConfiguration::default()).await;
    let discovered = |key: &str, card: Value| {
        let card = AgentCard::from_document(card, None).unwrap();
        let options = trackway_a2a_client::Options::new(reqwest_client());
        let client = Client::for_card("http://127.0.0.1:1/", card.clone(), options).unwrap();
        DiscoveredPeer { key: key.to_owned(), url: format!("nats://{key}"), card, client }
    };
    registry.update_discovered("nats", discovered("a", agent_card("a"))).unwrap();
    registry.update_discovered("nats", discovered("b", agent_card("b"))).unwrap();
    let generation = registry.snapshot().generation;
    registry.update_discovered("nats", discovered("b", agent_card("b"))).unwrap();
    assert_eq!(
        (visible_peers(&registry, "acme"), registry.snapshot().generation),
        (vec!["a up".into(), "b up".into()], generation)
    );
    registry.connect("acme", "b").await.unwrap();
    let refused = registry.update_discovered("nats", discovered("b", workflow_card("b", &json!("no"))));
    assert!(refused.unwrap_err().to_string().contains("not an object"));
    assert!(find(&registry, "b").is_callable(), "the earlier card stays");
    let error = registry.remove_peer("acme", "b").await.unwrap_err();
    assert!(error.to_string().contains("its node announces it"), "{error}");
    registry.remove_discovered("other", "b");
    registry.remove_discovered("nats", "none");
    registry.remove_discovered("nats", "b");
    assert_eq!(visible_peers(&registry, "acme"), ["a up"]);
}

fn reqwest_client() -> reqwest::Client {
    trackway_outgoing::build_operator_client(&"http://127.0.0.1/".parse().unwrap()).unwrap()
}

/// Proves I1: a card that the operator wrote down is used as it is.
#[tokio::test]
async fn static_card_is_never_asked_for() {
    let agent = FakeAgent::named("elsewhere").await;
    let mut card = agent_card("Written Down");
    card["url"] = json!(format!("{}/rpc", agent.url));
    let fixed = |card: Value| {
        let address = PeerAddress::StaticCard(card);
        let peers = vec![ConfiguredPeer { name: None, address, credentials: PeerCredentials::default() }];
        MeshConfiguration { options: MeshOptions::default(), peers }
    };
    let registry = World::default().start_and_ask(fixed(card.clone())).await;
    let peer = find(&registry, "written-down");
    assert_eq!(
        (peer.health, peer.is_callable(), agent.received_requests().len()),
        (PeerHealth::Unknown, true, 0)
    );
    assert_eq!(registry.connect("acme", "written-down").await.unwrap().agent_url(), peer.url);
    let registry = World::default().start_and_ask(fixed(json!({"name": "x"}))).await;
    let [peer] = registry.snapshot().peers_of_tenant("acme").to_vec().try_into().unwrap();
    assert!(!peer.is_callable() && peer.error.as_ref().unwrap().contains("no interface"), "{peer:?}");
}

/// The task that asks peers ends with the last clone.
#[tokio::test]
async fn registry_ends_with_its_last_clone() {
    let agent = FakeAgent::named("orders").await;
    let registry = World::default().start_and_ask(configuration(&[(&agent, None)])).await;
    let weak = Arc::downgrade(&registry.shared);
    drop(registry.clone());
    assert!(weak.upgrade().is_some());
    drop(registry);
    assert!(weak.upgrade().is_none());
}
