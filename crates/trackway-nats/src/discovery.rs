//! Finds agents of other nodes: each node keeps the cards of its agents in a bucket, and watches those of
//! the others.

mod announcement;
mod card_table;

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::kv::Operation;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::Instant;
use trackway_a2a_client::{AgentCard, Client, Method, RequestPurpose, TransportRequest, Url};

use self::{
    announcement::CardAnnouncement,
    card_table::{CardChange, CardTable},
};
use crate::{
    DiscoveredAgent, DiscoveryListener, NatsError, OfferedAgents,
    mesh_subjects::MeshSubjects,
    nats_connection::NatsConnection,
    nats_error::describe_error,
    nats_transport::NatsTransport,
    request_execution::{self, RequestExecutor},
};

/// Shows the cards of this node to the others.
#[derive(Debug)]
pub(crate) struct CardPublisher {
    pub(crate) executor: RequestExecutor,
    pub(crate) agents: Arc<dyn OfferedAgents>,
    /// Of two nodes with different cards of one name, the later one counts.
    pub(crate) started_millis: i64,
}

/// Learns of the cards of other nodes.
#[derive(Debug)]
pub(crate) struct CardWatch {
    connection: NatsConnection,
    table: CardTable,
    listener: Arc<dyn DiscoveryListener>,
    client_options: trackway_a2a_client::Options,
    /// How long a card counts that is not renewed. NATS does not tell when one expires.
    expiry: Duration,
}

impl CardPublisher {
    /// Puts the cards of all agents, and returns their names.
    pub(crate) async fn announce_cards(&self) -> Result<Vec<String>, NatsError> {
        let agents = self.agents.names();
        let cards = &self.executor.connection.buckets().await?.cards;
        for agent in &agents {
            let Some(card) = self.load_card(agent).await else { continue };
            let node = self.executor.node.to_string();
            let announcement = CardAnnouncement { node, started_millis: self.started_millis, card };
            let key = MeshSubjects::card_key(agent, &self.executor.node);
            let put = cards.put(key, announcement.encode()).await;
            put.map_err(NatsError::request("announcing a card"))?;
        }
        Ok(agents)
    }

    /// Removes the cards of agents that this node does not offer any more.
    pub(crate) async fn withdraw_cards(&self, agents: &[String]) -> Result<(), NatsError> {
        let cards = &self.executor.connection.buckets().await?.cards;
        for agent in agents {
            let removed = cards.purge(MeshSubjects::card_key(agent, &self.executor.node)).await;
            removed.map_err(NatsError::request("withdrawing a card"))?;
        }
        Ok(())
    }

    /// The card as the node's own door shows it, with the address over NATS.
    async fn load_card(&self, agent: &str) -> Option<Value> {
        let mut url = Url::parse("http://localhost/a2a/agents").ok()?;
        url.path_segments_mut().ok()?.push(agent).extend([".well-known", "agent-card.json"]);
        let headers = [(
            trackway_a2a_client::HeaderName::from_static("a2a-version"),
            trackway_a2a_client::HeaderValue::from_static("1.0"),
        )];
        let request = TransportRequest {
            method: Method::GET,
            url,
            headers: headers.into_iter().collect(),
            body: None,
            purpose: RequestPurpose::Agent,
        };
        let response = self.executor.local.send_request(request).await.ok()?;
        if !response.status.is_success() {
            tracing::debug!(agent, status = %response.status, "an agent has no card to announce");
            return None;
        }
        let card = request_execution::read_whole(response.body).await.ok()?;
        let url = self.executor.connection.subjects.agent_url(agent);
        serde_json::from_slice(&request_execution::rewrite_card(&card, &url)).ok()
    }
}

impl CardWatch {
    pub(crate) fn new(
        connection: NatsConnection,
        node: &str,
        listener: Arc<dyn DiscoveryListener>,
        client_options: trackway_a2a_client::Options,
        expiry: Duration,
    ) -> Self {
        Self { connection, table: CardTable::new(node), listener, client_options, expiry }
    }

    /// Watches until the connection is lost. What is known stays, until it expires.
    pub(crate) async fn watch_cards(&mut self) -> Result<(), NatsError> {
        let doing = "watching cards";
        let cards = self.connection.buckets().await?.cards.clone();
        let mut entries = cards.watch_with_history(">").await.map_err(NatsError::request(doing))?;
        loop {
            let expiry = self.table.next_expiry(self.expiry);
            let expired = async {
                match expiry {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let changes = tokio::select! {
                entry = entries.next() => {
                    let Some(entry) = entry else { return Err(NatsError::Disconnected) };
                    let entry = entry.map_err(NatsError::request(doing))?;
                    self.record_entry(&entry.key, entry.operation, &entry.value)
                }
                () = expired => self.table.expire(Instant::now(), self.expiry),
            };
            self.report_changes(changes);
        }
    }

    /// Waits until everything that is known has expired, while there is nothing to watch.
    pub(crate) async fn expire_cards(&mut self) {
        while let Some(at) = self.table.next_expiry(self.expiry) {
            tokio::time::sleep_until(at).await;
            let changes = self.table.expire(Instant::now(), self.expiry);
            self.report_changes(changes);
        }
        std::future::pending().await
    }

    fn record_entry(&mut self, key: &str, operation: Operation, value: &[u8]) -> Vec<CardChange> {
        let Some((agent, node)) = MeshSubjects::parse_card_key(key) else { return Vec::new() };
        match operation {
            Operation::Delete | Operation::Purge => self.table.remove(&agent, &node),
            Operation::Put => match CardAnnouncement::decode(value) {
                Ok(announcement) => self.table.record(&agent, &node, announcement, Instant::now()),
                Err(error) => {
                    tracing::debug!(agent, node, %error, "an announcement cannot be read");
                    Vec::new()
                }
            },
        }
    }

    fn report_changes(&self, changes: Vec<CardChange>) {
        for change in changes {
            match change {
                CardChange::Arrived { agent, card } => match self.discovered_agent(&agent, &card) {
                    Ok(found) => self.listener.agent_found(found),
                    Err(error) => {
                        let error = describe_error(&error);
                        tracing::warn!(agent, error, "the card of an agent in NATS cannot be used");
                        self.listener.agent_left(&agent);
                    }
                },
                CardChange::Left { agent } => self.listener.agent_left(&agent),
            }
        }
    }

    fn discovered_agent(
        &self,
        agent: &str,
        card: &Value,
    ) -> Result<DiscoveredAgent, trackway_a2a_client::ClientError> {
        let card = AgentCard::from_document(card.clone(), None)?;
        let url = self.connection.subjects.agent_url(agent);
        let transport = Arc::new(NatsTransport::new(self.connection.clone(), agent));
        let client = Client::with_transport(&url, card.clone(), transport, self.client_options.clone())?;
        Ok(DiscoveredAgent { name: agent.to_owned(), url, card, client })
    }
}
