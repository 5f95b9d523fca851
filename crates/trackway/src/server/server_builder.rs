//! What can be set on a server before it starts.

use std::{path::Path, sync::Arc, time::Duration};

use trackway_a2a::CardSigner;
use trackway_http::ProtocolDoor;
use trackway_mesh::NodePublicKey;
use trackway_outgoing::AllowedTargets;
use trackway_ports::{FaultInjector, StoreOpener};
use trackway_runtime::ChildLimits;

use super::{ConnectionLimits, DoorContext, McpOptions, Server, server_doors::DoorFactory};
use crate::{Auth, Secret, Workflow, program};

impl Server {
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

    /// Allows loopback addresses for push notifications, for files that a message names by address, and
    /// for the tool `http_fetch`. A caller that names an address, or an author of a text that a model
    /// reads, can then reach services that are meant for this machine only.
    #[must_use]
    pub fn allow_loopback_targets(mut self, allow: bool) -> Self {
        self.addresses.allow_loopback = allow;
        self
    }

    /// Allows targets outside the public internet for the same requests: networks, and names of hosts.
    #[must_use]
    pub fn allow_targets(mut self, targets: AllowedTargets) -> Self {
        self.addresses.allow = targets;
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

    /// Believes these nodes when they say for whom they call: `[mesh] trust`. By default, the caller of a
    /// request is whoever presents a key.
    #[must_use]
    pub fn trust_nodes(mut self, keys: impl IntoIterator<Item = NodePublicKey>) -> Self {
        self.trusted_nodes.extend(keys);
        self
    }

    /// Joins a mesh over the NATS server at this address: nodes of one `[mesh] namespace` find each other's
    /// agents and workflows. The server starts and serves without it; `/readyz` tells while it is away.
    #[must_use]
    pub fn nats(mut self, url: Secret) -> Self {
        self.nats = Some(url);
        self
    }
}
