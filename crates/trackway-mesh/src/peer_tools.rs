//! Peers as tools (I3–I7): `peer_<name>` sends a message to an agent, `workflow_<name>` runs a workflow.
//!
//! [`PeerTools`] makes the tools from the registry's newest snapshot, per tenant, and keeps them until the
//! registry changes. A call is a recorded step. Its note names the remote task, so that a repetition after a
//! crash asks for the same task, and a run that ends early cancels it ([`PeerTaskReleaser`]).

mod agent_arguments;
mod call_note;
mod call_request;
mod call_result;
mod given_arguments;
mod peer_call;
mod peer_task_release;
mod peer_tool;
mod reconnect_window;
mod remote_question;
mod remote_task;
mod result_artifacts;
mod task_search;
mod workflow_arguments;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::header::{HeaderName, HeaderValue};
use trackway_a2a_client::Client;
use trackway_artifacts::{ArtifactService, ReferenceSigner};
use trackway_domain::{CallChain, Caller};
use trackway_ports::CALL_TOKEN_HEADER;
use trackway_runtime::{SchemaCache, Tool, ToolSource, ToolSourceSnapshot, UnavailableTool};

use self::peer_tool::PeerTool;
use crate::{CallTokenSigner, Peer, PeerRegistry, PeerSnapshot};

pub use peer_task_release::PeerTaskReleaser;

/// What calls of peers need.
#[derive(Debug, Clone)]
pub struct PeerToolsOptions {
    pub registry: PeerRegistry,
    /// Where the inputs and the large results of calls are.
    pub artifacts: Arc<ArtifactService>,
    /// Makes the addresses with which a peer reads an artifact of this node.
    pub references: ReferenceSigner,
    /// Says for whom this node calls.
    pub signer: CallTokenSigner,
    /// The address under which peers reach this node.
    pub base_url: Option<String>,
}

/// The tools of all peers. Cheap to clone; the clones share what they keep.
#[derive(Debug, Clone)]
pub struct PeerTools {
    services: Arc<PeerCallServices>,
    /// The newest tools, by tenant. Locked only to look up or insert.
    kept: Arc<Mutex<KeptTools>>,
}

/// The tools of one generation of the registry.
#[derive(Debug, Default)]
struct KeptTools {
    generation: u64,
    /// Tenants without peers of their own share an entry, the empty name. There are as many as the registry
    /// has, which bounds them.
    by_tenant: BTreeMap<String, Arc<ToolSourceSnapshot>>,
}

/// What one call needs of its surroundings.
#[derive(Debug)]
pub(crate) struct PeerCallServices {
    registry: PeerRegistry,
    artifacts: Arc<ArtifactService>,
    references: ReferenceSigner,
    signer: CallTokenSigner,
    base_url: Option<String>,
    schemas: SchemaCache,
}

impl PeerTools {
    pub fn new(options: PeerToolsOptions) -> Self {
        let PeerToolsOptions { registry, artifacts, references, signer, base_url } = options;
        let base_url = base_url.map(|url| url.trim_end_matches('/').to_owned());
        let schemas = SchemaCache::default();
        let services = PeerCallServices { registry, artifacts, references, signer, base_url, schemas };
        Self { services: Arc::new(services), kept: Arc::default() }
    }

    /// Cancels remote tasks whose runs ended early; for [`trackway_runtime::Options::step_notes`].
    pub fn task_releaser(&self) -> PeerTaskReleaser {
        PeerTaskReleaser::new(self.services.clone())
    }

    fn build_tools(&self, snapshot: &PeerSnapshot, tenant: &str) -> ToolSourceSnapshot {
        let mut built =
            ToolSourceSnapshot { generation: snapshot.generation, ..ToolSourceSnapshot::default() };
        for peer in snapshot.peers_of_tenant(tenant) {
            let Some(name) = peer.tool_name() else { continue };
            match self.build_tool(peer) {
                Ok(tool) => built.tools.push(Arc::new(tool)),
                Err(reason) => {
                    let peer = peer.name.to_string();
                    built.unavailable.insert(name, UnavailableTool { peer, reason });
                }
            }
        }
        built
    }

    fn build_tool(&self, peer: &Peer) -> Result<PeerTool, String> {
        if !peer.is_callable() {
            return Err(peer.error.clone().unwrap_or_else(|| "it does not answer".to_owned()));
        }
        PeerTool::from_peer(self.services.clone(), peer)
    }
}

impl ToolSource for PeerTools {
    fn tools_for_caller(&self, caller: &Caller) -> Arc<ToolSourceSnapshot> {
        let snapshot = self.services.registry.snapshot();
        let has_own = snapshot.by_tenant.contains_key(&*caller.tenant);
        let key = if has_own { &*caller.tenant } else { "" };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.generation != snapshot.generation {
            *kept = KeptTools { generation: snapshot.generation, ..KeptTools::default() };
        }
        if let Some(tools) = kept.by_tenant.get(key) {
            return tools.clone();
        }
        let tools = Arc::new(self.build_tools(&snapshot, key));
        kept.by_tenant.insert(key.to_owned(), tools.clone());
        tools
    }

    fn find_peer_tool(&self, caller: &Caller, peer: &str) -> Option<Arc<dyn Tool>> {
        let snapshot = self.services.registry.snapshot();
        let known = snapshot.find_peer(&caller.tenant, peer).filter(|known| known.card.is_some());
        let tool = known.and_then(|known| PeerTool::from_peer(self.services.clone(), known).ok());
        // After a start the registry may not know it yet: then the call itself waits for it.
        Some(Arc::new(tool.unwrap_or_else(|| PeerTool::without_card(self.services.clone(), peer))))
    }
}

impl PeerCallServices {
    /// A client for one request to a peer, signed for this caller and chain.
    async fn connect_signed(&self, caller: &Caller, peer: &str, chain: &CallChain) -> Result<Client, String> {
        let client = self.registry.connect(&caller.tenant, peer).await.map_err(|error| error.to_string())?;
        let token = self.signer.sign_call(client.agent_url(), caller, chain).await;
        let token = token.map_err(|error| format!("this node cannot sign its calls: {error}"))?;
        let value = HeaderValue::from_str(&token).map_err(|error| error.to_string())?;
        let name = HeaderName::from_static(CALL_TOKEN_HEADER);
        // Whether a repetition makes sense is known only here.
        Ok(client.without_retries().with_header(name, value))
    }

    /// The address of one of this node's agents.
    fn agent_address(&self, name: &str) -> String {
        format!("{}/a2a/agents/{name}", self.base_url.as_deref().unwrap_or_default())
    }
}

/// A UUID (version 8) that is the same for every repetition of a call.
fn derived_uuid(idempotency_key: &str, purpose: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let hash = Sha256::digest(format!("{idempotency_key}\n{purpose}"));
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests;
