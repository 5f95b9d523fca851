//! This node in a mesh over NATS: it offers its agents, takes requests for them, and learns of others.

use std::{fmt, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};
use trackway_a2a_client::{AgentCard, Client, RequestTransport};
use trackway_domain::Timestamp;
use trackway_runtime::TaskSupervisor;

use crate::{
    NatsError,
    discovery::{CardPublisher, CardWatch},
    mesh_subjects::MeshSubjects,
    nats_connection::{NatsConnection, parse_server_url},
    nats_error::describe_error,
    nats_transport::NatsTransport,
    request_execution::RequestExecutor,
    work_intake::WorkIntake,
};

/// How often a node shows that it is there.
/// Limit (Mesh): time between two announcements of a node over NATS.
const HEARTBEAT_DEFAULT: Duration = Duration::from_secs(5);

/// Several heartbeats: a short pause is not a departure.
/// Limit (Mesh): silence of a node over NATS before its agents are gone.
const CARD_EXPIRY_DEFAULT: Duration = Duration::from_secs(30);

/// How long a node may be silent about a message before another one is given it.
/// Limit (Mesh): silence of a node about a request before NATS delivers it again.
const ACK_WAIT_DEFAULT: Duration = Duration::from_secs(30);

/// How long a stop waits for its cards to be withdrawn; they expire otherwise.
/// Limit (Mesh): wait for NATS when a node stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a missing connection is normal: at a start, and when the server is restarted.
const CONNECT_GRACE: Duration = Duration::from_secs(2);

/// The settings of a node.
#[derive(Clone)]
pub struct NatsOptions {
    /// `nats://host:4222` or `tls://host:4222`, with user and password or a token if needed.
    pub url: String,
    /// Nodes of one namespace find each other.
    pub namespace: String,
    /// Names this node's store: the same after a restart, and different from every other's.
    pub node: String,
    pub started_at: Timestamp,
    pub heartbeat: Duration,
    /// How long a card counts that is not renewed; longer than several heartbeats.
    pub card_expiry: Duration,
    pub ack_wait: Duration,
}

/// What a node brings into the mesh.
#[derive(Debug)]
pub struct NatsNodeParts {
    /// The node's own doors.
    pub local: Arc<dyn RequestTransport>,
    pub agents: Arc<dyn OfferedAgents>,
    pub listener: Arc<dyn DiscoveryListener>,
    /// For the clients of agents that are found.
    pub client_options: trackway_a2a_client::Options,
}

/// The agents and workflows of this node, by name, as they are now.
pub trait OfferedAgents: fmt::Debug + Send + Sync {
    fn names(&self) -> Vec<String>;
}

/// Learns which agents other nodes offer.
pub trait DiscoveryListener: fmt::Debug + Send + Sync {
    /// An agent is new, or its card is.
    fn agent_found(&self, found: DiscoveredAgent);
    /// No other node offers the agent any more.
    fn agent_left(&self, name: &str);
}

/// An agent of other nodes.
#[derive(Debug, Clone)]
pub struct DiscoveredAgent {
    pub name: String,
    /// `nats://NAMESPACE/NAME`: for people, not for connections.
    pub url: String,
    pub card: AgentCard,
    pub client: Client,
}

/// A node in a mesh. It ends when it is stopped or dropped.
#[derive(Debug)]
pub struct NatsNode {
    connection: NatsConnection,
    stopping: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl NatsOptions {
    /// The address that stands for a namespace: those of its agents begin with it.
    pub fn namespace_url(namespace: &str) -> Result<String, NatsError> {
        Ok(MeshSubjects::new(namespace)?.namespace_url())
    }

    /// Whether the settings can work, without a connection.
    pub fn validate(&self) -> Result<(), NatsError> {
        MeshSubjects::new(&self.namespace)?;
        Self::check_url(&self.url)
    }

    /// Whether a text is the address of a NATS server.
    pub fn check_url(url: &str) -> Result<(), NatsError> {
        parse_server_url(url).map(drop)
    }

    pub fn new(
        url: impl Into<String>,
        namespace: impl Into<String>,
        node: impl Into<String>,
        started_at: Timestamp,
    ) -> Self {
        Self {
            url: url.into(),
            namespace: namespace.into(),
            node: node.into(),
            started_at,
            heartbeat: HEARTBEAT_DEFAULT,
            card_expiry: CARD_EXPIRY_DEFAULT,
            ack_wait: ACK_WAIT_DEFAULT,
        }
    }
}

/// Without the address, which may contain a password.
impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions")
            .field("namespace", &self.namespace)
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

impl NatsNode {
    /// Starts the node. The server need not be there: the supervisor is told while it is away. An error means
    /// that the settings cannot work.
    pub async fn start(
        options: NatsOptions,
        parts: NatsNodeParts,
        supervisor: TaskSupervisor,
    ) -> Result<Self, NatsError> {
        let connection = NatsConnection::open(&options).await?;
        let (stopping, stopped) = watch::channel(false);
        let executor = RequestExecutor {
            connection: connection.clone(),
            node: options.node.as_str().into(),
            local: parts.local,
            ack_wait: options.ack_wait,
        };
        let service = NodeService {
            connection: connection.clone(),
            intake: WorkIntake::new(executor.clone()),
            publisher: CardPublisher {
                executor,
                agents: parts.agents,
                started_millis: options.started_at.millis(),
            },
            watch: CardWatch::new(
                connection.clone(),
                &options.node,
                parts.listener,
                parts.client_options,
                options.card_expiry,
            ),
            heartbeat: options.heartbeat,
            announced: Vec::new(),
        };
        let serving = tokio::spawn(service.serve_until_stopped(supervisor, stopped));
        Ok(Self { connection, stopping, serving })
    }

    /// The way to an agent of this namespace, whether a node offers it now or later.
    pub fn transport_to(&self, agent: &str) -> Arc<dyn RequestTransport> {
        Arc::new(NatsTransport::new(self.connection.clone(), agent))
    }

    /// Takes no more requests and says that this node leaves. Requests under way are not waited for: their
    /// runs are in the store.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        if timeout(STOP_TIMEOUT, &mut self.serving).await.is_err() {
            tracing::debug!("NATS did not answer when the node stopped; its cards expire");
        }
    }
}

impl Drop for NatsNode {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

struct NodeService {
    connection: NatsConnection,
    intake: WorkIntake,
    publisher: CardPublisher,
    watch: CardWatch,
    heartbeat: Duration,
    /// Agents whose cards are in the bucket.
    announced: Vec<String>,
}

impl NodeService {
    async fn serve_until_stopped(
        mut self,
        mut supervisor: TaskSupervisor,
        mut stopped: watch::Receiver<bool>,
    ) {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => {}
            () = self.serve_with_reconnects(&mut supervisor) => {}
        }
        self.intake.stop_taking();
        if self.connection.is_connected() {
            // A node that stops during its first announcement has not recorded what it announced.
            let mut agents = self.publisher.agents.names();
            agents.extend(self.announced);
            let withdrawn = self.publisher.withdraw_cards(&agents).await;
            let flushed = self.connection.client.flush().await.map_err(NatsError::request("flushing"));
            if let Err(error) = withdrawn.and(flushed) {
                tracing::debug!(error = describe_error(&error), "cards were not withdrawn");
            }
        }
    }

    async fn serve_with_reconnects(&mut self, supervisor: &mut TaskSupervisor) {
        loop {
            let error = match self.prepare_namespace().await {
                Ok(()) => {
                    supervisor.on_task_success();
                    self.serve_while_connected().await
                }
                Err(error) => error,
            };
            let connection = self.connection.clone();
            // Not later than the connection is there again, and meanwhile what is known gets old.
            let back = async {
                if connection.is_connected() {
                    std::future::pending().await
                }
                connection.wait_until_connected().await;
            };
            let text = describe_error(&error);
            let pause = supervisor.back_off_after_failure(&text);
            tokio::select! {
                () = self.watch.expire_cards() => {}
                () = back => {}
                pause = pause => {
                    if pause.is_break() {
                        return;
                    }
                }
            }
        }
    }

    async fn prepare_namespace(&self) -> Result<(), NatsError> {
        let connected = timeout(CONNECT_GRACE, self.connection.wait_until_connected()).await;
        connected.map_err(|_| NatsError::Disconnected)?;
        self.connection.ensure_streams().await
    }

    /// Announces and watches until something fails.
    async fn serve_while_connected(&mut self) -> NatsError {
        let Self { connection, intake, publisher, watch, heartbeat, announced } = self;
        let announce = async {
            let mut ticks = interval(*heartbeat);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let agents = match publisher.announce_cards().await {
                    Ok(agents) => agents,
                    Err(error) => return error,
                };
                intake.serve_agents(&agents);
                let gone: Vec<String> =
                    announced.iter().filter(|agent| !agents.contains(agent)).cloned().collect();
                *announced = agents;
                if let Err(error) = publisher.withdraw_cards(&gone).await {
                    return error;
                }
            }
        };
        tokio::select! {
            error = announce => error,
            outcome = watch.watch_cards() => outcome.err().unwrap_or(NatsError::Disconnected),
            () = connection.wait_until_disconnected() => NatsError::Disconnected,
        }
    }
}
