//! A node in the process of the test: it offers nothing and calls the others.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::sync::watch;
use trackway_a2a_client::{Backoff, Client, Options, ResendPolicy, ServiceTransport};
use trackway_domain::Timestamp;
use trackway_nats::{
    DiscoveredAgent, DiscoveryListener, NatsNode, NatsNodeParts, NatsOptions, OfferedAgents,
};
use trackway_runtime::{ProgramRegistry, Runtime};
use trackway_testkit::MemoryJournal;

use super::nats_server::NatsServer;
use crate::{a2a::support::with_test_timeout, support::http_client};

/// A node without agents.
pub(super) struct CallerNode {
    node: NatsNode,
    found: watch::Receiver<BTreeMap<String, Client>>,
}

impl CallerNode {
    pub(super) async fn start(nats: &NatsServer) -> Self {
        let registry = Arc::new(ProgramRegistry::new());
        let runtime =
            Runtime::start(trackway_runtime::Options::new(Arc::new(MemoryJournal::new()), registry));
        let (listener, found) = watch::channel(BTreeMap::new());
        let parts = NatsNodeParts {
            local: Arc::new(ServiceTransport::new(axum::Router::new())),
            agents: Arc::new(NoAgents),
            listener: Arc::new(FoundClients(listener)),
            client_options: client_options(),
        };
        let options = NatsOptions::new(&nats.url, "trackway", "caller", Timestamp::from_millis(0));
        let node = NatsNode::start(options, parts, runtime.supervise_background_task("nats")).await.unwrap();
        Self { node, found }
    }

    pub(super) async fn client_of(&self, agent: &str) -> Client {
        let mut found = self.found.clone();
        let found = with_test_timeout(agent, found.wait_for(|found| found.contains_key(agent))).await;
        found.unwrap()[agent].clone()
    }

    pub(super) async fn stop(self) {
        self.node.stop().await;
    }
}

/// A process needs seconds to come back.
fn client_options() -> Options {
    let pause = Duration::from_millis(100);
    Options {
        backoff: Backoff { first: pause, longest: pause * 5 },
        timeout: Duration::from_secs(120),
        retries: 100,
        resend: ResendPolicy::WhenLost,
        ..Options::new(http_client())
    }
}

#[derive(Debug)]
struct NoAgents;

impl OfferedAgents for NoAgents {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

#[derive(Debug)]
struct FoundClients(watch::Sender<BTreeMap<String, Client>>);

impl DiscoveryListener for FoundClients {
    fn agent_found(&self, found: DiscoveredAgent) {
        self.0.send_modify(|known| drop(known.insert(found.name, found.client)));
    }

    fn agent_left(&self, _name: &str) {
        // A client stays good: its agent may come back.
    }
}
