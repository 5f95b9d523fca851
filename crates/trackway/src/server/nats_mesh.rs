//! This server as a node of a mesh over NATS: its workflows and agents are offered there, and those of other
//! nodes become peers.

use std::{sync::Arc, time::Duration};

use axum::Router;
use reqwest::Url;
use trackway_a2a_client::{ResendPolicy, ServiceTransport};
use trackway_mesh::{CallAudience, DiscoveredPeer, NodeKeys, PeerRegistry};
use trackway_nats::{
    DiscoveredAgent, DiscoveryListener, NatsNode, NatsNodeParts, NatsOptions, OfferedAgents,
};
use trackway_ports::{Clock as _, KeyStore, is_local_host};
use trackway_runtime::{Runtime, SystemClock};

use super::ServerError;
use crate::Secret;

/// The name of this discovery among the sources of peers, and of its work in health checks.
const SOURCE: &str = "nats";

/// Three heartbeats of a stream: a node that died does not say so.
/// Limit (Mesh): silence of a stream over NATS before it is opened again.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// What is needed to join a mesh over NATS.
#[derive(Debug)]
pub(super) struct NatsMesh {
    options: NatsOptions,
    peers: PeerRegistry,
    runtime: Runtime,
}

impl NatsMesh {
    /// Checks the settings. The NATS server need not be there.
    pub(super) async fn prepare(
        url: &Secret,
        is_auth_required: bool,
        keys: Arc<dyn KeyStore>,
        peers: PeerRegistry,
        runtime: Runtime,
    ) -> Result<Self, ServerError> {
        let url = url.expose_secret();
        NatsOptions::check_url(url)?;
        if !is_auth_required && !is_local_url(url) {
            return Err(ServerError::ExposedOverNats);
        }
        // The key is the store's, and so is the name of the node: it has the tasks that are in the store.
        let key = NodeKeys::in_store(keys).public_key().await.map_err(ServerError::NodeKey)?;
        let namespace = peers.mesh_options().namespace.clone();
        let options = NatsOptions::new(url, namespace, key.to_string(), SystemClock.now());
        options.validate()?;
        Ok(Self { options, peers, runtime })
    }

    /// What calls over NATS are for.
    pub(super) fn audience(&self) -> Option<CallAudience> {
        CallAudience::of_url(&NatsOptions::namespace_url(&self.options.namespace).ok()?)
    }

    /// Joins the mesh. Requests from there pass the same doors as those over HTTP.
    pub(super) async fn join_mesh(self, doors: Router) -> Result<NatsNode, ServerError> {
        let Self { options, peers, runtime } = self;
        let mesh = peers.mesh_options();
        let supervisor = runtime.supervise_background_task(SOURCE);
        let parts = NatsNodeParts {
            local: Arc::new(ServiceTransport::new(doors)),
            agents: Arc::new(ServedPrograms(runtime)),
            listener: Arc::new(RegistryUpdates(peers)),
            client_options: client_options(mesh.timeout)?,
        };
        Ok(NatsNode::start(options, parts, supervisor).await?)
    }
}

/// A repeated message is recognised by its id, so one whose answer was lost may be sent again.
fn client_options(timeout: Duration) -> Result<trackway_a2a_client::Options, ServerError> {
    // Nothing is sent over HTTP; the client of another transport has one all the same.
    let unused = Url::parse("http://localhost").expect("it is an address");
    let http = trackway_outgoing::build_operator_client(&unused).map_err(ServerError::HttpClient)?;
    Ok(trackway_a2a_client::Options {
        resend: ResendPolicy::WhenLost,
        idle_timeout: timeout,
        silence_timeout: SILENCE_MAX,
        ..trackway_a2a_client::Options::new(http)
    })
}

/// Whether only this machine is behind the address.
fn is_local_url(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(is_local_host))
}

/// The programs of the engine, as they are now.
#[derive(Debug)]
struct ServedPrograms(Runtime);

impl OfferedAgents for ServedPrograms {
    fn names(&self) -> Vec<String> {
        let programs = self.0.registry().list_current_programs();
        programs.iter().map(|program| program.info().name.clone()).collect()
    }
}

/// Tells the registry of peers.
#[derive(Debug)]
struct RegistryUpdates(PeerRegistry);

impl DiscoveryListener for RegistryUpdates {
    fn agent_found(&self, found: DiscoveredAgent) {
        let DiscoveredAgent { name, url, card, client } = found;
        let peer = DiscoveredPeer { key: name.clone(), url, card, client };
        if let Err(error) = self.0.update_discovered(SOURCE, peer) {
            tracing::warn!(name, %error, "an agent in NATS is not used");
        }
    }

    fn agent_left(&self, name: &str) {
        self.0.remove_discovered(SOURCE, name);
    }
}

#[cfg(test)]
mod tests;
