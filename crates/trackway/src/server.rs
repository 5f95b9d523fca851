//! The server: an embedded store, an engine, and the front doors behind one listener.

mod agents;
mod connections;
mod data;
mod doors;
mod error;
mod held;
mod http;
mod mcp;
mod metrics;
mod replay;
mod retention;
mod written;

use std::{
    any::Any,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::watch;
use trackway_a2a::{
    AddressPolicy, BLOCKING_TIMEOUT_DEFAULT, Notifier, Outgoing, OutgoingOptions, Signer,
};
use trackway_http::Door;
use trackway_ports::{Faults, Gatekeeper, NoFaults, OpenStore, Store};
use trackway_runtime::{
    ChildLimits, Options, Program, Registry, RegistryError, Runtime, SteadyClock, SystemClock, Tool,
};
use trackway_sqlite::SqliteStore;

use crate::{Auth, AuthError, Secret, Workflow, auth::Gate, program};

pub use agents::Agents;
use agents::Employed;
pub use connections::ConnectionLimits;
pub(crate) use connections::mark_known;
pub use data::{DataFolder, DataFolderError};
pub use doors::DoorContext;
use doors::{Doors, OpenDoor};
pub use error::ServerError;
pub use held::Held;
pub use http::Bound;
pub use mcp::Mcp;
use metrics::Metrics;
pub use replay::ReplayCheck;
use retention::Retention;
use written::Written;

/// Where a server listens unless told otherwise.
const LISTEN_DEFAULT: &str = "127.0.0.1:7420";
/// Where a server keeps everything unless told otherwise.
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
    /// Somebody named them, and would miss one that is not there.
    folders_named: bool,
    agents: Option<watch::Receiver<Agents>>,
    /// What keeps the agents in step with their files.
    kept: Option<Arc<dyn Any + Send + Sync>>,
    child_limits: ChildLimits,
    listen: String,
    data: PathBuf,
    store: Option<Arc<dyn OpenStore>>,
    auth: Auth,
    recover: bool,
    faults: Arc<dyn Faults>,
    default_agent: Option<String>,
    extended_card: bool,
    conformance: bool,
    repeat_messages: bool,
    allow_loopback_targets: bool,
    push_secret: Option<Secret>,
    body_bytes_max: usize,
    signer: Option<Arc<Signer>>,
    grpc_listen: Option<String>,
    grpc_reflection: bool,
    grpc_in_card: bool,
    public_url: Option<String>,
    connections: ConnectionLimits,
    blocking_timeout: Duration,
    mcp: Option<Mcp>,
    doors: Vec<OpenDoor>,
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
            kept: None,
            child_limits: ChildLimits::default(),
            listen: LISTEN_DEFAULT.to_owned(),
            data: DATA_DEFAULT.into(),
            store: None,
            auth: Auth::default(),
            recover: true,
            faults: Arc::new(NoFaults),
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

    /// Where runs are kept. Without one, that is a database in the data folder.
    #[must_use]
    pub fn store(mut self, store: impl OpenStore + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// The folder that holds everything, except what is in another store.
    #[must_use]
    pub fn data(mut self, folder: impl AsRef<Path>) -> Self {
        self.data = folder.as_ref().to_owned();
        self
    }

    /// Who may use it; everybody who reaches it unless given.
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Leaves runs that an earlier process did not finish where they are.
    #[must_use]
    pub fn without_recovery(mut self) -> Self {
        self.recover = false;
        self
    }

    /// Fault points, for crash tests.
    #[must_use]
    pub fn faults(mut self, faults: Arc<dyn Faults>) -> Self {
        self.faults = faults;
        self
    }

    /// The workflow that is also served at the addresses that name none: its card at the well-known
    /// place of the whole server, its operations at `/a2a` and `/a2a/rest`. The first one added, unless
    /// another is named.
    #[must_use]
    pub fn default_agent(mut self, name: impl Into<String>) -> Self {
        self.default_agent = Some(name.into());
        self
    }

    /// Offers an extended card to callers who are known: it says which scopes a call needs.
    #[must_use]
    pub fn extended_card(mut self, offer: bool) -> Self {
        self.extended_card = offer;
        self
    }

    /// Writes cards as A2A's conformance suites need them, who do not say which version they mean: see
    /// decision 9.
    #[must_use]
    pub fn conformance(mut self, on: bool) -> Self {
        self.conformance = on;
        self
    }

    /// Takes every message as a new one, also one whose id was used before. A client that repeats a
    /// message because it saw no answer then starts a second run: for test suites that reuse ids.
    #[must_use]
    pub fn repeat_messages(mut self, repeat: bool) -> Self {
        self.repeat_messages = repeat;
        self
    }

    /// Lets push notifications go to loopback addresses, and the tool `http_fetch` read them. A stranger
    /// who may set a target, or who writes what a model reads, could then reach services that only this
    /// machine is meant to reach.
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

    /// The largest request body that is read, 10 MiB unless told otherwise.
    #[must_use]
    pub fn body_bytes_max(mut self, bytes: usize) -> Self {
        self.body_bytes_max = bytes;
        self
    }

    /// How many connections there may be at once, and how long each thing may take on them.
    #[must_use]
    pub fn connections(mut self, limits: ConnectionLimits) -> Self {
        self.connections = limits;
        self
    }

    /// How long an A2A send that waits for its task waits at the most; it is answered with the task as it
    /// is then.
    #[must_use]
    pub fn blocking_timeout(mut self, limit: Duration) -> Self {
        self.blocking_timeout = limit;
        self
    }

    /// The address under which others reach it, for example `https://agents.example.com`. It begins every
    /// address in cards; without one, the name under which a request came does.
    #[must_use]
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_url = Some(url.into().trim_end_matches('/').to_owned());
        self
    }

    /// Whether cards name the address of gRPC, as they do unless told otherwise. Some clients refuse a
    /// card with an address of another origin than its own.
    #[must_use]
    pub fn grpc_in_card(mut self, show: bool) -> Self {
        self.grpc_in_card = show;
        self
    }

    /// Signs agent cards. It needs a [`Self::public_url`]: nothing that a request says is signed.
    #[must_use]
    pub fn sign_cards(mut self, signer: Signer) -> Self {
        self.signer = Some(Arc::new(signer));
        self
    }

    /// The address that gRPC is served on; none unless given. Port 0 takes a free one.
    #[must_use]
    pub fn grpc_listen(mut self, address: Option<String>) -> Self {
        self.grpc_listen = address;
        self
    }

    /// Lets tools ask the gRPC listener which services and messages there are.
    #[must_use]
    pub fn grpc_reflection(mut self, reflect: bool) -> Self {
        self.grpc_reflection = reflect;
        self
    }

    /// Serves the written workflows at `/mcp`, to agents that walk them with tokens.
    #[must_use]
    pub fn mcp(mut self, mcp: Mcp) -> Self {
        self.mcp = Some(mcp);
        self
    }

    /// Serves a door of the program's own beside those that are always there. It is opened when the engine
    /// runs, and is behind the same listener, origin check and errors.
    #[must_use]
    pub fn door(mut self, open: impl FnOnce(&DoorContext) -> Door + Send + Sync + 'static) -> Self {
        self.doors.push(OpenDoor::new(open));
        self
    }

    /// How deep runs may start each other, and how many agents and dispatched workflows there may be below
    /// one run.
    #[must_use]
    pub fn child_limits(mut self, limits: ChildLimits) -> Self {
        self.child_limits = limits;
        self
    }

    /// Removes finished sessions in which nothing was recorded for that long, at the start and once a
    /// day. Nothing is ever removed unless this is said.
    #[must_use]
    pub fn retention(mut self, older_than: Option<Duration>) -> Self {
        self.retention = older_than;
        self
    }

    /// The workflows alone, for checks that need no server: the programs, the agents, and the written
    /// ones that the engine can drive.
    pub fn registry(&self) -> Result<Registry, RegistryError> {
        let registry = self.programs()?;
        self.enlist(&registry);
        self.written(&registry)?.renew(&registry);
        Ok(registry)
    }

    fn programs(&self) -> Result<Registry, RegistryError> {
        let registry = Registry::new();
        for workflow in &self.workflows {
            registry.add(workflow.clone())?;
        }
        Ok(registry)
    }

    /// Opens the store and starts the engine without any door, for programs that embed it. What it
    /// needs is held for as long as the second value lives, which also ends it.
    pub async fn engine(&self) -> Result<(Runtime, Held), ServerError> {
        let Opened { runtime, folder, staff, .. } = self.engine_with(self.outgoing()).await?;
        Ok((runtime.clone(), Held::new(runtime, folder, staff)))
    }

    async fn engine_with(&self, outgoing: Outgoing) -> Result<Opened, ServerError> {
        let registry = Arc::new(self.programs()?);
        let folder = DataFolder::hold(&self.data)?;
        // Before the written workflows, so that no file takes the name of an agent.
        let staff = self.staff(&registry).await?;
        let written = Arc::new(self.written(&registry)?);
        written.renew(&registry);
        if let Some(staff) = &staff {
            staff.work_on(&written);
        }
        let store = self.runs_store().open(self.faults.clone()).await?;
        let servers = staff.as_ref().map(Employed::servers).unwrap_or_default();
        let metrics = Arc::new(Metrics::new(registry.clone(), servers));
        let mut options = Options::new(store.journal.clone(), registry);
        options.lease = store.lease;
        options.wakeups = store.wakeups.clone();
        let newest = store.journal.newest_time().await.map_err(ServerError::Read)?;
        options.clock = Arc::new(SteadyClock::from(newest));
        options.observer = Some(metrics.clone());
        options.recover = self.recover;
        options.child_limits = self.child_limits;
        options.tools = written.tools().clone();
        options.faults = self.faults.clone();
        options.recognise_messages = !self.repeat_messages;
        options.messenger = Some(Arc::new(Notifier::new(outgoing)));
        let runtime = Runtime::start(options);
        Ok(Opened { runtime, folder, store, written, staff, metrics })
    }

    fn runs_store(&self) -> Arc<dyn OpenStore> {
        self.store.clone().unwrap_or_else(|| Arc::new(SqliteStore::new(&self.data)))
    }

    /// What calls to addresses that clients choose go through.
    fn outgoing(&self) -> Outgoing {
        let addresses = AddressPolicy { allow_loopback: self.allow_loopback_targets };
        let secret = self.push_secret.as_ref().map(|secret| secret.expose().as_bytes().to_vec());
        Outgoing::new(OutgoingOptions { addresses, secret })
    }

    /// A name that nobody has would answer nothing at the addresses that most clients try first.
    fn check_default_agent(&self) -> Result<(), ServerError> {
        let registry = self.registry()?;
        match self.default_agent.clone().or_else(|| self.first_agent()) {
            Some(name) if registry.get(&name).is_none() && !self.has_agent(&name) => {
                let known = registry.list().into_iter().map(|known| known.info().name.clone());
                Err(ServerError::DefaultAgent { name, known: known.collect() })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Takes the addresses and the folder; nothing is answered before [`Bound::serve`].
    pub async fn bind(self) -> Result<Bound, ServerError> {
        self.check_default_agent()?;
        if self.signer.is_some() && self.public_url.is_none() {
            return Err(ServerError::SignedWithoutAddress);
        }
        let limits = self.connections;
        let listener = http::listen(&self.listen, &self.auth).await?;
        let grpc = match &self.grpc_listen {
            Some(address) => Some(http::listen(address, &self.auth).await?),
            None => None,
        };
        let outgoing = self.outgoing();
        let opened = self.engine_with(outgoing.clone()).await?;
        let mcp = self.mcp.as_ref().map(|mcp| mcp.door(&opened, &self.faults)).transpose()?;
        let Opened { runtime, folder, store, written, staff, metrics } = opened;
        let watching = written::watch(&written, &runtime);
        let retention = self
            .retention
            .map(|older_than| Retention { journal: store.journal.clone(), older_than });
        let required = self.auth.is_required();
        let a2a = self.a2a_options(outgoing);
        let gate = gatekeeper(self.auth, folder.path())?;
        let a2a = trackway_a2a::Options {
            gatekeeper: gate.clone(),
            secured: required,
            // With keys around, there is somebody to tell more.
            extended_card: a2a.extended_card || gate.is_some(),
            base_url: listener.url(),
            grpc_address: grpc.as_ref().map(|grpc| grpc.address().to_string()),
            ..a2a
        };
        let entrance = Entrance { required, everybody_is_known: gate.is_none() };
        let context = DoorContext {
            runtime: runtime.clone(),
            store,
            gate,
            frames: a2a.frames.clone(),
            body_bytes_max: a2a.body_bytes_max,
        };
        let grpc = grpc.map(|grpc| (grpc, trackway_a2a::grpc(runtime.clone(), a2a.clone())));
        let doors = Doors { metrics, a2a, mcp, added: self.doors }.open(&context);
        let bound = Bound::new(listener, grpc, runtime, folder, entrance, doors)?;
        Ok(bound.limiting(limits).keeping(retention).watching(watching).employing(staff))
    }

    /// Serves until Ctrl-C or a termination signal.
    pub async fn serve(self) -> Result<(), ServerError> {
        self.bind().await?.serve_until_interrupted().await
    }
}

/// A store, and the engine on it.
#[derive(Debug)]
struct Opened {
    runtime: Runtime,
    folder: DataFolder,
    store: Store,
    written: Arc<Written>,
    /// Its agents, where it has any.
    staff: Option<Employed>,
    metrics: Arc<Metrics>,
}

/// How a server lets callers in.
#[derive(Debug, Clone, Copy)]
struct Entrance {
    /// Nobody enters without being recognised.
    required: bool,
    /// Nobody is asked for a key: everybody is the local caller.
    everybody_is_known: bool,
}

fn gatekeeper(auth: Auth, data: &Path) -> Result<Option<Arc<dyn Gatekeeper>>, AuthError> {
    if auth.is_off() {
        return Ok(None);
    }
    Ok(Some(Arc::new(Gate::open(auth, data, Arc::new(SystemClock))?)))
}

#[cfg(test)]
mod tests;
