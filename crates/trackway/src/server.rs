//! The server: an embedded store, an engine, and the front doors behind one listener.

mod bound_server;
mod connections;
mod data_folder;
mod engine_guard;
mod mcp_door;
mod metrics;
mod replay_check;
mod server_agents;
mod server_definitions;
mod server_doors;
mod server_error;
mod session_retention;

use std::{
    any::Any,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::watch;
use trackway_a2a::{
    AddressPolicy, BLOCKING_TIMEOUT_DEFAULT, CardSigner, PushNotifier, PushSender, PushSenderOptions,
};
use trackway_http::ProtocolDoor;
use trackway_ports::{Authenticator, FaultInjector, KeyStore, NoFaultInjection, Store, StoreOpener};
use trackway_runtime::{
    ChildLimits, MonotonicClock, Options, Program, ProgramRegistry, RegistryError, Runtime, SystemClock, Tool,
};
use trackway_sqlite::SqliteStore;

use crate::{Auth, AuthError, Secret, Workflow, auth::ServerAuthenticator, program};

pub use bound_server::BoundServer;
pub use connections::ConnectionLimits;
pub(crate) use connections::mark_caller_authenticated;
pub use data_folder::{DataFolder, DataFolderError};
pub use engine_guard::EngineGuard;
pub use mcp_door::McpOptions;
use metrics::Metrics;
pub use replay_check::ReplayCheckResult;
pub use server_agents::AgentSet;
use server_agents::RunningAgents;
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
    allow_loopback_targets: bool,
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
            allow_loopback_targets: false,
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
        }
    }
}

impl Server {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a workflow. Several versions of one name may be added, the newest last.
    #[must_use]
    pub fn workflow<W: Workflow>(mut self, workflow: W) -> Self {
        self.workflows.push(program(workflow));
        self
    }

    /// The address to listen on; port 0 takes a free one. Loopback only, unless auth is required.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// The store of the runs. The default is a database in the data folder.
    #[must_use]
    pub fn store(mut self, store: impl StoreOpener + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// The folder for all data that is not in another store.
    #[must_use]
    pub fn data(mut self, folder: impl AsRef<Path>) -> Self {
        self.data = folder.as_ref().to_owned();
        self
    }

    /// Who may use it. The default is every caller that reaches it.
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Does not continue the runs that an earlier process left unfinished.
    #[must_use]
    pub fn without_recovery(mut self) -> Self {
        self.recover = false;
        self
    }

    /// Fault points, for crash tests.
    #[must_use]
    pub fn faults(mut self, faults: Arc<dyn FaultInjector>) -> Self {
        self.faults = faults;
        self
    }

    /// The workflow that is also served at the addresses that name no workflow: its card at the server's
    /// well-known address, its operations at `/a2a` and `/a2a/rest`. The default is the first one added.
    #[must_use]
    pub fn default_agent(mut self, name: impl Into<String>) -> Self {
        self.default_agent = Some(name.into());
        self
    }

    /// Offers an extended card to authenticated callers: it says which scopes a call needs.
    #[must_use]
    pub fn extended_card(mut self, offer: bool) -> Self {
        self.extended_card = offer;
        self
    }

    /// Writes cards in the form that A2A's conformance suites need, because those do not name the version
    /// that they mean: see decision 9.
    #[must_use]
    pub fn conformance_cards(mut self, on: bool) -> Self {
        self.conformance = on;
        self
    }

    /// Treats every message as new, even if its id was used before. A client that repeats a message
    /// because it got no answer then starts a second run. This is for test suites that reuse ids.
    #[must_use]
    pub fn accept_repeated_messages(mut self, repeat: bool) -> Self {
        self.repeat_messages = repeat;
        self
    }

    /// Allows loopback addresses for push notifications and for the tool `http_fetch`. A caller that sets
    /// a push target, or an author of a text that a model reads, can then reach services that are meant
    /// for this machine only.
    #[must_use]
    pub fn allow_loopback_targets(mut self, allow: bool) -> Self {
        self.allow_loopback_targets = allow;
        self
    }

    /// Signs push notifications: an HMAC-SHA256 of the body in `X-Trackway-Signature`.
    #[must_use]
    pub fn push_secret(mut self, secret: Secret) -> Self {
        self.push_secret = Some(secret);
        self
    }

    /// The largest request body that is read; the default is 10 MiB.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// How many connections may be open at once, and the time limits of each.
    #[must_use]
    pub fn connections(mut self, limits: ConnectionLimits) -> Self {
        self.connections = limits;
        self
    }

    /// How long a blocking A2A send waits for its task at most. It then answers with the current state of
    /// the task.
    #[must_use]
    pub fn blocking_timeout(mut self, limit: Duration) -> Self {
        self.blocking_timeout = limit;
        self
    }

    /// The public address of this server, for example `https://agents.example.com`. Every address in a
    /// card begins with it. The default is the host name of the request.
    #[must_use]
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_url = Some(url.into().trim_end_matches('/').to_owned());
        self
    }

    /// Whether cards contain the address of gRPC; the default is yes. Some clients refuse a card with an
    /// address of another origin.
    #[must_use]
    pub fn grpc_in_card(mut self, show: bool) -> Self {
        self.grpc_in_card = show;
        self
    }

    /// Signs agent cards. It needs a [`Self::public_url`], because text from a request is never signed.
    #[must_use]
    pub fn sign_cards(mut self, signer: CardSigner) -> Self {
        self.signer = Some(Arc::new(signer));
        self
    }

    /// The address of the gRPC listener; by default there is none. Port 0 takes a free one.
    #[must_use]
    pub fn grpc_listen(mut self, address: Option<String>) -> Self {
        self.grpc_listen = address;
        self
    }

    /// Enables gRPC reflection: tools can list the services and messages.
    #[must_use]
    pub fn grpc_reflection(mut self, reflect: bool) -> Self {
        self.grpc_reflection = reflect;
        self
    }

    /// Serves the workflow definitions at `/mcp`, to agents that walk them with tokens.
    #[must_use]
    pub fn mcp(mut self, mcp: McpOptions) -> Self {
        self.mcp = Some(mcp);
        self
    }

    /// Adds a door of the embedding program to the built-in ones. It is opened when the engine runs, and
    /// has the same listener, origin check and error answers.
    #[must_use]
    pub fn door(mut self, open: impl FnOnce(&DoorContext) -> ProtocolDoor + Send + Sync + 'static) -> Self {
        self.doors.push(DoorFactory::new(open));
        self
    }

    /// How deep runs may be nested, and how many agents and dispatched workflows there may be below one
    /// run.
    #[must_use]
    pub fn child_limits(mut self, limits: ChildLimits) -> Self {
        self.child_limits = limits;
        self
    }

    /// Removes finished sessions that have had no new event for this time, at the start and once a day. By
    /// default nothing is removed.
    #[must_use]
    pub fn retention(mut self, older_than: Option<Duration>) -> Self {
        self.retention = older_than;
        self
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
        let OpenedEngine { runtime, folder, staff, .. } = self.open_engine(self.build_push_sender()).await?;
        Ok((runtime.clone(), EngineGuard::new(runtime, folder, staff)))
    }

    async fn open_engine(&self, push_sender: PushSender) -> Result<OpenedEngine, ServerError> {
        let registry = Arc::new(self.registry_of_added_workflows()?);
        let folder = DataFolder::lock(&self.data)?;
        // Before the workflow definitions, so that no file takes the name of an agent.
        let staff = self.start_agents(&registry).await?;
        let written = Arc::new(self.open_definitions(&registry)?);
        written.reload_definitions(&registry);
        if let Some(staff) = &staff {
            staff.set_definitions_to_reload(&written);
        }
        let store = self.store_opener().open_store(self.faults.clone()).await?;
        let servers = staff.as_ref().map(RunningAgents::mcp_servers).unwrap_or_default();
        let metrics = Arc::new(Metrics::new(registry.clone(), servers));
        let mut options = Options::new(store.journal.clone(), registry);
        options.lease = store.lease;
        options.wakeups = store.wakeups.clone();
        let newest = store.journal.newest_event_time().await.map_err(ServerError::Read)?;
        options.clock = Arc::new(MonotonicClock::starting_from_newest_event(newest));
        options.observer = Some(metrics.clone());
        options.resume_unfinished = self.recover;
        options.child_limits = self.child_limits;
        options.tools = written.tools().clone();
        options.faults = self.faults.clone();
        options.deduplicate_messages = !self.repeat_messages;
        options.messenger = Some(Arc::new(PushNotifier::new(push_sender)));
        let runtime = Runtime::start(options);
        Ok(OpenedEngine { runtime, folder, store, written, staff, metrics })
    }

    fn store_opener(&self) -> Arc<dyn StoreOpener> {
        self.store.clone().unwrap_or_else(|| Arc::new(SqliteStore::new(&self.data)))
    }

    /// The HTTP client for calls to addresses that clients choose.
    fn build_push_sender(&self) -> PushSender {
        let addresses = AddressPolicy { allow_loopback: self.allow_loopback_targets };
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
        let opened = self.open_engine(outgoing.clone()).await?;
        let mcp = match &self.mcp {
            Some(mcp) => Some(mcp.door(&opened, &self.faults).await?),
            None => None,
        };
        let OpenedEngine { runtime, folder, store, written, staff, metrics } = opened;
        let watching = server_definitions::watch_definition_folders(&written, &runtime);
        let retention =
            self.retention.map(|older_than| RetentionTask { journal: store.journal.clone(), older_than });
        let required = self.auth.is_required();
        let a2a = self.a2a_options(outgoing);
        let gate = open_authenticator(self.auth, store.keys.clone()).await?;
        let a2a = trackway_a2a::Options {
            gatekeeper: gate.clone(),
            secured: required,
            // With keys configured, some callers are authenticated and can read the extended card.
            extended_card: a2a.extended_card || gate.is_some(),
            base_url: listener.local_url(),
            grpc_address: grpc.as_ref().map(|grpc| grpc.address().to_string()),
            ..a2a
        };
        let entrance = AuthMode { required, is_open_to_all: gate.is_none() };
        let context = DoorContext {
            runtime: runtime.clone(),
            store,
            gate,
            frames: a2a.frames.clone(),
            body_bytes_max: a2a.body_bytes_max,
        };
        let grpc = grpc.map(|grpc| (grpc, trackway_a2a::grpc_server(runtime.clone(), a2a.clone())));
        let doors = ServerDoors { metrics, a2a, mcp, added: self.doors }.open_doors(&context);
        let bound = BoundServer::new(listener, grpc, runtime, folder, entrance, doors)?;
        Ok(bound
            .with_connection_limits(limits)
            .with_retention(retention)
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
    written: Arc<ServerDefinitions>,
    /// Its agents, if it has any.
    staff: Option<RunningAgents>,
    metrics: Arc<Metrics>,
}

/// How a server authenticates callers.
#[derive(Debug, Clone, Copy)]
struct AuthMode {
    /// Every caller must be authenticated.
    required: bool,
    /// No key is needed: every caller is the local caller.
    is_open_to_all: bool,
}

async fn open_authenticator(
    auth: Auth,
    keys: Arc<dyn KeyStore>,
) -> Result<Option<Arc<dyn Authenticator>>, AuthError> {
    if auth.is_disabled() {
        return Ok(None);
    }
    Ok(Some(Arc::new(ServerAuthenticator::open(auth, keys, Arc::new(SystemClock)).await?)))
}

#[cfg(test)]
mod tests;
