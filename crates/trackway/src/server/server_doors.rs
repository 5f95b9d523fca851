//! The doors of a server. The server sees a list of routes; only this file knows which doors there are.

use std::{fmt, sync::Arc};

use trackway_a2a::{FileFetcher, PushSender};
use trackway_artifacts::{ArtifactService, ReferenceSigner};
use trackway_http::{OptionalAuthenticator, ProtocolDoor, sse::SharedFrameCache};
use trackway_mcp::McpHttpDoor;
use trackway_mesh::PeerRegistry;
use trackway_ports::{SharedAuditRecorder, Store};
use trackway_runtime::Runtime;

use super::{Server, bound_server, metrics, metrics::Metrics};

/// What a door needs to open.
#[derive(Debug, Clone)]
pub struct DoorContext {
    pub runtime: Runtime,
    pub store: Store,
    pub gate: OptionalAuthenticator,
    /// Refusals on their way to the audit log of the store.
    pub audit: SharedAuditRecorder,
    /// Agents of other processes.
    pub peers: PeerRegistry,
    pub artifacts: Arc<ArtifactService>,
    /// Makes addresses with which other nodes read an artifact.
    pub references: ReferenceSigner,
    /// Encoded events that slow readers share.
    pub frames: SharedFrameCache,
    /// The largest request body that is read.
    pub body_bytes_max: usize,
}

/// Opens a door of the embedding program, once there is an engine.
pub(super) struct DoorFactory(Box<dyn FnOnce(&DoorContext) -> ProtocolDoor + Send + Sync>);

impl DoorFactory {
    pub(super) fn new(open: impl FnOnce(&DoorContext) -> ProtocolDoor + Send + Sync + 'static) -> Self {
        Self(Box::new(open))
    }
}

impl fmt::Debug for DoorFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenDoor")
    }
}

impl Server {
    /// The options of the A2A door.
    pub(super) fn a2a_options(&self, push_sender: PushSender) -> trackway_a2a::Options {
        let first = self.workflows.first().map(|program| program.info().name.clone());
        let mesh = self.agents.as_ref().map(|agents| agents.borrow().mesh.options.clone());
        trackway_a2a::Options {
            default_agent: self.default_agent.clone().or_else(|| self.default_agent_name()).or(first),
            extended_card: self.extended_card,
            grpc_reflection: self.grpc_reflection,
            conformance: self.conformance,
            outgoing: Some(push_sender),
            files: Some(FileFetcher::new(self.addresses.clone())),
            call_depth_max: mesh.unwrap_or_default().max_depth,
            body_bytes_max: self.body_bytes_max,
            blocking_timeout: self.blocking_timeout,
            signer: self.signer.clone(),
            public_url: self.public_url.clone(),
            grpc_in_card: self.grpc_in_card,
            ..Default::default()
        }
    }
}

/// The built-in doors, and those that the settings and the embedding program add.
#[derive(Debug)]
pub(super) struct ServerDoors {
    pub(super) metrics: Arc<Metrics>,
    pub(super) a2a: trackway_a2a::Options,
    pub(super) mcp: Option<trackway_mcp::McpDoor>,
    pub(super) added: Vec<DoorFactory>,
}

impl ServerDoors {
    pub(super) fn open_doors(self, context: &DoorContext) -> Vec<ProtocolDoor> {
        let Self { metrics, a2a, mcp, added } = self;
        let DoorContext { runtime, store, gate, audit, artifacts, references, peers, frames, body_bytes_max } =
            context.clone();
        let health = bound_server::health_router(runtime.clone());
        let metrics = metrics::metrics_router(gate.clone(), metrics);
        let mcp = mcp.map(|mcp| {
            let door = McpHttpDoor::new(mcp, gate.clone(), body_bytes_max);
            ProtocolDoor::new("mcp", door.router()).with_stop_hook(move || door.end_open_streams())
        });
        let a2a = trackway_a2a::a2a_router(runtime.clone(), a2a);
        let artifacts = trackway_api::ArtifactApiOptions { artifacts, references, gate: gate.clone() };
        let api = trackway_api::ApiOptions {
            runtime,
            journal: store.journal,
            gate,
            audit_log: store.audit,
            audit,
            peers,
            frames,
            body_bytes_max,
        };
        let mut doors = vec![
            ProtocolDoor::new("health", health),
            ProtocolDoor::new("metrics", metrics),
            ProtocolDoor::new("api", trackway_api::runs_api_router(api)),
            ProtocolDoor::new("artifacts", trackway_api::artifacts_api_router(artifacts)),
            ProtocolDoor::new("a2a", a2a),
        ];
        doors.extend(mcp);
        doors.extend(added.into_iter().map(|DoorFactory(open)| open(context)));
        doors
    }
}

#[cfg(test)]
mod tests;
