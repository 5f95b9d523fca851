//! The server: an embedded store, an engine, and the front doors behind one listener.

mod audit_queue;
mod bound_server;
mod connections;
mod data_folder;
mod engine_guard;
mod mcp_door;
mod metrics;
mod nats_mesh;
mod replay_check;
mod server_agents;
mod server_artifacts;
mod server_auth;
mod server_builder;
mod server_definitions;
mod server_doors;
mod server_error;
mod session_retention;

use std::{any::Any, path::PathBuf, sync::Arc, time::Duration};

use tokio::sync::watch;
use trackway_a2a::{
    AddressPolicy, BLOCKING_TIMEOUT_DEFAULT, CardSigner, PushNotifier, PushSender, PushSenderOptions,
};
use trackway_artifacts::{ArtifactLimits, ArtifactService, ReferenceSigner};
use trackway_mesh::{
    CallTokenSigner, NodePublicKey, PeerRegistry, PeerRegistryOptions, PeerTools, PeerToolsOptions,
};
use trackway_ports::{Clock, FaultInjector, NoFaultInjection, SharedAuditRecorder, Store, StoreOpener};
use trackway_runtime::{
    ChildLimits, MonotonicClock, Options, Program, ProgramRegistry, RegistryError, Runtime, SystemClock,
    SystemIds, Tool,
};
use trackway_sqlite::SqliteStore;

use crate::{Auth, Secret};

pub(crate) use audit_queue::AuditQueue;
pub use bound_server::BoundServer;
pub use connections::ConnectionLimits;
pub(crate) use connections::mark_caller_authenticated;
pub use data_folder::{DataFolder, DataFolderError};
pub use engine_guard::EngineGuard;
pub use mcp_door::McpOptions;
use metrics::Metrics;
use nats_mesh::NatsMesh;
pub use replay_check::ReplayCheckResult;
pub use server_agents::AgentSet;
use server_agents::RunningAgents;
use server_auth::{AuthMode, AuthenticatorOptions};
use server_definitions::ServerDefinitions;
pub use server_doors::DoorContext;
use server_doors::{DoorFactory, ServerDoors};
pub use server_error::ServerError;
use session_retention::RetentionTask;

/// Default address of the listener.
const LISTEN_DEFAULT: &str = "127.0.0.1:7420";
/// Default data folder.
const DATA_DEFAULT: &str = "trackway-data";

/// The largest request body: room for a document of some megabytes in base64.
/// Limit (HTTP): request body; `[server] body_max_bytes`.
const BODY_BYTES_MAX_DEFAULT: usize = 10 * 1024 * 1024;

/// Builds a server: `Server::new().workflow(MyWorkflow).serve().await`.
#[derive(Debug)]
pub struct Server {
    workflows: Vec<Arc<dyn Program>>,
    tools: Vec<Arc<dyn Tool>>,
    folders: Vec<PathBuf>,
    /// The operator named the folders, so a missing one is reported.
    folders_named: bool,
    agents: Option<watch::Receiver<AgentSet>>,
    /// Keeps the agents up to date with their files.
    keep_alive: Option<Arc<dyn Any + Send + Sync>>,
    child_limits: ChildLimits,
    listen: String,
    data: PathBuf,
    store: Option<Arc<dyn StoreOpener>>,
    auth: Auth,
    recover: bool,
    faults: Arc<dyn FaultInjector>,
    default_agent: Option<String>,
    extended_card: bool,
    conformance: bool,
    repeat_messages: bool,
    addresses: AddressPolicy,
    push_secret: Option<Secret>,
    body_bytes_max: usize,
    signer: Option<Arc<CardSigner>>,
    grpc_listen: Option<String>,
    grpc_reflection: bool,
    grpc_in_card: bool,
    public_url: Option<String>,
    connections: ConnectionLimits,
    blocking_timeout: Duration,
    mcp: Option<McpOptions>,
    doors: Vec<DoorFactory>,
    retention: Option<Duration>,
    trusted_nodes: Vec<NodePublicKey>,
    nats: Option<Secret>,
    artifact_limits: ArtifactLimits,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            workflows: Vec::new(),
            tools: Vec::new(),
            folders: Vec::new(),
            folders_named: false,
            agents: None,
            keep_alive: None,
            child_limits: ChildLimits::default(),
            listen: LISTEN_DEFAULT.to_owned(),
            data: DATA_DEFAULT.into(),
            store: None,
            auth: Auth::default(),
            recover: true,
            faults: Arc::new(NoFaultInjection),
            default_agent: None,
            extended_card: false,
            conformance: false,
            repeat_messages: false,
            addresses: AddressPolicy::default(),
            push_secret: None,
            body_bytes_max: BODY_BYTES_MAX_DEFAULT,
            signer: None,
            grpc_listen: None,
            grpc_reflection: false,
            grpc_in_card: true,
            public_url: None,
            connections: ConnectionLimits::default(),
            blocking_timeout: BLOCKING_TIMEOUT_DEFAULT,
            mcp: None,
            doors: Vec::new(),
            retention: None,
            trusted_nodes: Vec::new(),
            nats: None,
            artifact_limits: ArtifactLimits::default(),
        }
    }
}

impl Server {
    pub fn new() -> Self {
        Self::default()
    }

    /// Only the workflows, for checks that need no server: the programs, the agents, and the definitions
    /// that the engine can drive.
    pub fn workflow_registry(&self) -> Result<ProgramRegistry, RegistryError> {
        let registry = self.registry_of_added_workflows()?;
        self.register_agents_for_inspection(&registry);
        self.open_definitions(&registry)?.reload_definitions(&registry);
        Ok(registry)
    }

    fn registry_of_added_workflows(&self) -> Result<ProgramRegistry, RegistryError> {
        let registry = ProgramRegistry::new();
        for workflow in &self.workflows {
            registry.add_program(workflow.clone())?;
        }
        Ok(registry)
    }

    /// Opens the store and starts the engine without any door, for programs that embed it. The second
    /// value holds the resources of the engine and also stops it.
    pub async fn start_engine(&self) -> Result<(Runtime, EngineGuard), ServerError> {
        let OpenedEngine { runtime, folder, audit, staff, .. } =
            self.open_engine(self.build_push_sender(), None).await?;
        Ok((runtime.clone(), EngineGuard::new(runtime, folder, audit, staff)))
    }

    /// Other nodes reach this one at the address, if it has one.
    async fn open_engine(
        &self,
        push_sender: PushSender,
        base_url: Option<String>,
    ) -> Result<OpenedEngine, ServerError> {
        let registry = Arc::new(self.registry_of_added_workflows()?);
        let folder = DataFolder::lock(&self.data)?;
        let store = self.store_opener().open_store(self.faults.clone()).await?;
        let newest = store.journal.newest_event_time().await.map_err(ServerError::Read)?;
        let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::starting_from_newest_event(newest));
        let audit = AuditQueue::open(store.audit.clone(), Arc::new(SystemClock));
        let artifacts = self.open_artifacts(&store, clock.clone(), audit.clone());
        let references = server_artifacts::open_reference_signer(store.keys.clone(), base_url.clone());
        let peers = self.start_peer_registry(&store).await?;
        let peer_tools = PeerTools::new(PeerToolsOptions {
            registry: peers.clone(),
            artifacts: artifacts.clone(),
            references: references.clone(),
            signer: CallTokenSigner::in_store(store.keys.clone(), Arc::new(SystemClock)),
            base_url,
        });
        // Before the workflow definitions, so that no file takes the name of an agent.
        let staff = self.start_agents(&registry, &artifacts, &peers, &peer_tools).await?;
        let written = Arc::new(self.open_definitions(&registry)?);
        written.reload_definitions(&registry);
        if let Some(staff) = &staff {
            staff.set_definitions_to_reload(&written);
        }
        let servers = staff.as_ref().map(RunningAgents::mcp_servers).unwrap_or_default();
        let metrics = Arc::new(Metrics::new(registry.clone(), servers));
        let mut options = Options::new(store.journal.clone(), registry);
        options.lease = store.lease;
        options.wakeups = store.wakeups.clone();
        options.clock = clock;
        options.observer = Some(metrics.clone());
        options.resume_unfinished = self.recover;
        options.child_limits = self.child_limits;
        options.tools = written.tools().clone();
        options.faults = self.faults.clone();
        options.deduplicate_messages = !self.repeat_messages;
        options.messenger = Some(Arc::new(PushNotifier::new(push_sender)));
        options.step_notes = Some(Arc::new(peer_tools.task_releaser()));
        let runtime = Runtime::start(options);
        Ok(OpenedEngine {
            runtime,
            folder,
            store,
            audit,
            artifacts,
            references,
            peers,
            written,
            staff,
            metrics,
        })
    }

    /// The peers of the configuration and of the store. Their cards are read while the start goes on.
    async fn start_peer_registry(&self, store: &Store) -> Result<PeerRegistry, ServerError> {
        let configuration = self.agents.as_ref().map(|agents| agents.borrow().mesh.clone());
        let options = PeerRegistryOptions {
            configuration: configuration.unwrap_or_default(),
            keys: store.keys.clone(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        };
        PeerRegistry::start(options).await.map_err(ServerError::Peers)
    }

    fn store_opener(&self) -> Arc<dyn StoreOpener> {
        self.store.clone().unwrap_or_else(|| Arc::new(SqliteStore::new(&self.data)))
    }

    /// The HTTP client for calls to addresses that clients choose.
    fn build_push_sender(&self) -> PushSender {
        let addresses = self.addresses.clone();
        let secret = self.push_secret.as_ref().map(|secret| secret.expose_secret().as_bytes().to_vec());
        PushSender::new(PushSenderOptions { addresses, secret })
    }

    /// With an unknown name, the addresses that most clients try first would not answer.
    fn check_default_agent_exists(&self) -> Result<(), ServerError> {
        let registry = self.workflow_registry()?;
        match self.default_agent.clone().or_else(|| self.default_agent_name()) {
            Some(name) if registry.current_program(&name).is_none() && !self.has_agent(&name) => {
                let known =
                    registry.list_current_programs().into_iter().map(|known| known.info().name.clone());
                Err(ServerError::DefaultAgent { name, known: known.collect() })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Binds the addresses and locks the folder. No request is answered before
    /// [`BoundServer::serve_until_interrupted`].
    pub async fn bind(self) -> Result<BoundServer, ServerError> {
        self.check_default_agent_exists()?;
        if self.signer.is_some() && self.public_url.is_none() {
            return Err(ServerError::SignedWithoutAddress);
        }
        let limits = self.connections;
        let listener = bound_server::bind_listener(&self.listen, &self.auth).await?;
        let grpc = match &self.grpc_listen {
            Some(address) => Some(bound_server::bind_listener(address, &self.auth).await?),
            None => None,
        };
        let outgoing = self.build_push_sender();
        let base_url = self.public_url.clone().unwrap_or_else(|| listener.local_url());
        let opened = self.open_engine(outgoing.clone(), Some(base_url)).await?;
        let mcp = match &self.mcp {
            Some(mcp) => Some(mcp.door(&opened, &self.faults).await?),
            None => None,
        };
        let OpenedEngine {
            runtime,
            folder,
            store,
            audit,
            artifacts,
            references,
            peers,
            written,
            staff,
            metrics,
        } = opened;
        let watching = server_definitions::watch_definition_folders(&written, &runtime);
        let retention =
            self.retention.map(|older_than| RetentionTask { journal: store.journal.clone(), older_than });
        let required = self.auth.is_required();
        let nats = match &self.nats {
            Some(url) => Some(
                NatsMesh::prepare(url, required, store.keys.clone(), peers.clone(), runtime.clone()).await?,
            ),
            None => None,
        };
        let a2a = self.a2a_options(outgoing);
        let gate = server_auth::open_authenticator(AuthenticatorOptions {
            auth: self.auth,
            keys: store.keys.clone(),
            audit: audit.clone(),
            trusted_nodes: self.trusted_nodes,
            listens_on: listener.address(),
            public_url: self.public_url.as_deref(),
            mesh_audience: nats.as_ref().and_then(NatsMesh::audience),
        })
        .await?;
        let is_open_to_all = !gate.checks_bearers();
        let a2a = trackway_a2a::Options {
            gatekeeper: Some(gate.clone()),
            secured: required,
            // With keys configured, some callers are authenticated and can read the extended card.
            extended_card: a2a.extended_card || !is_open_to_all,
            base_url: listener.local_url(),
            grpc_address: grpc.as_ref().map(|grpc| grpc.address().to_string()),
            artifacts: Some(artifacts.clone()),
            ..a2a
        };
        let entrance = AuthMode { required, is_open_to_all };
        let context = DoorContext {
            runtime: runtime.clone(),
            store,
            gate: Some(gate),
            audit: audit.clone(),
            peers,
            artifacts,
            references,
            frames: a2a.frames.clone(),
            body_bytes_max: a2a.body_bytes_max,
        };
        let grpc = grpc.map(|grpc| (grpc, trackway_a2a::grpc_server(runtime.clone(), a2a.clone())));
        let doors = ServerDoors { metrics, a2a, mcp, added: self.doors }.open_doors(&context);
        let bound = BoundServer::new(listener, grpc, runtime, folder, entrance, doors)?;
        Ok(bound
            .with_connection_limits(limits)
            .with_retention(retention)
            .with_audit(audit)
            .with_nats(nats)
            .with_folder_watch(watching)
            .with_running_agents(staff))
    }

    /// Serves until Ctrl-C or a termination signal.
    pub async fn serve(self) -> Result<(), ServerError> {
        self.bind().await?.serve_until_interrupted().await
    }
}

/// A store and its engine.
#[derive(Debug)]
struct OpenedEngine {
    runtime: Runtime,
    folder: DataFolder,
    store: Store,
    audit: SharedAuditRecorder,
    peers: PeerRegistry,
    artifacts: Arc<ArtifactService>,
    references: ReferenceSigner,
    written: Arc<ServerDefinitions>,
    /// Its agents, if it has any.
    staff: Option<RunningAgents>,
    metrics: Arc<Metrics>,
}

#[cfg(test)]
mod tests;
