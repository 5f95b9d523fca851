//! One peer as a tool.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::Failure;
use trackway_runtime::{SchemaCache, Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin, ToolOutput};

use super::{
    PeerCallServices, agent_arguments::AgentArguments, call_note::PeerCallNote, call_request::CallRequest,
    call_result::CallResult, peer_call::PeerCall, workflow_arguments::WorkflowArguments,
};
use crate::{Peer, PeerKind, normalize_peer_url};

/// Longest description of a peer that is kept. Models receive less of it.
/// Limit (Mesh): description of a peer's tool.
const DESCRIPTION_CHARS_MAX: usize = 4_096;

/// The tool of one peer, as its card was when the tool was made.
#[derive(Debug)]
pub(super) struct PeerTool {
    info: ToolInfo,
    peer: String,
    services: Arc<PeerCallServices>,
}

/// How the arguments of a peer's tool are read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PeerArguments {
    Agent(AgentArguments),
    Workflow(WorkflowArguments),
}

impl PeerArguments {
    pub(super) fn of_kind(kind: &PeerKind) -> Self {
        match kind {
            PeerKind::Agent { input_schema } => Self::Agent(AgentArguments::new(input_schema.as_deref())),
            PeerKind::Workflow { input_schema, .. } => Self::Workflow(WorkflowArguments::new(input_schema)),
        }
    }

    fn schema_for_model(&self) -> Value {
        match self {
            Self::Agent(arguments) => arguments.schema_for_model(),
            Self::Workflow(arguments) => arguments.schema_for_model(),
        }
    }
}

impl PeerTool {
    /// The tool of a peer whose card is known, or why the card gives none.
    pub(super) fn from_peer(services: Arc<PeerCallServices>, peer: &Peer) -> Result<Self, String> {
        let name = peer.tool_name().ok_or("its card is not known")?;
        let input_schema = match &peer.kind {
            PeerKind::Agent { input_schema } => input_schema.as_deref(),
            PeerKind::Workflow { input_schema, .. } => Some(&**input_schema),
        };
        if let Some(schema) = input_schema {
            SchemaCache::check_schema_bounds(schema)
                .map_err(|error| format!("its input schema cannot be used: {error}"))?;
        }
        let description = peer.card.as_ref().map(|card| card.description.as_str()).unwrap_or_default();
        let own = peer.name.to_string();
        let info = ToolInfo {
            name,
            description: description.chars().take(DESCRIPTION_CHARS_MAX).collect(),
            input_schema: PeerArguments::of_kind(&peer.kind).schema_for_model(),
            origin: match peer.kind {
                PeerKind::Agent { .. } => ToolOrigin::PeerAgent { peer: own.clone() },
                PeerKind::Workflow { .. } => ToolOrigin::PeerWorkflow { peer: own.clone() },
            },
        };
        Ok(Self { info, peer: own, services })
    }

    /// The tool of a peer whose card is not known now, for calls that have begun.
    pub(super) fn without_card(services: Arc<PeerCallServices>, peer: &str) -> Self {
        let info = ToolInfo {
            name: peer.to_owned(),
            description: String::new(),
            input_schema: Value::Bool(true),
            origin: ToolOrigin::PeerAgent { peer: peer.to_owned() },
        };
        Self { info, peer: peer.to_owned(), services }
    }
}

impl Tool for PeerTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    /// The strict check depends on the mode of input, and its result is an answer of its own form.
    fn checks_own_arguments(&self) -> bool {
        true
    }

    fn call(&self, arguments: Value, call: ToolCallContext) -> ToolFuture {
        Box::pin(call_peer(self.services.clone(), self.peer.clone(), arguments, call))
    }
}

async fn call_peer(
    services: Arc<PeerCallServices>,
    peer: String,
    arguments: Value,
    call: ToolCallContext,
) -> Result<ToolOutput, Failure> {
    let result = match call.load_note().map(PeerCallNote::from_value) {
        Some(None) => {
            CallResult::error("The note of this call cannot be read; whether it was made is not known.")
        }
        Some(Some(PeerCallNote { given_up: Some(message), ignored, .. })) => {
            CallResult::error(message).with_ignored(ignored)
        }
        Some(Some(note)) if note.task.is_some() => PeerCall::new(&services, &call, note).resume().await,
        earlier => {
            let is_repetition = earlier.is_some();
            let noted = earlier.flatten().and_then(CallRequest::from_note);
            let prepared = match noted {
                Some(request) => Ok(request),
                None => prepare_call(&services, &peer, arguments, &call).await,
            };
            match prepared {
                Ok(request) => {
                    let note = PeerCallNote::new(&peer, &request.message.message, request.ignored.clone());
                    PeerCall::new(&services, &call, note).start(request, is_repetition).await
                }
                Err(refused) => refused,
            }
        }
    };
    result.into_output()
}

/// Everything that is checked before anything is sent.
async fn prepare_call(
    services: &PeerCallServices,
    peer: &str,
    arguments: Value,
    call: &ToolCallContext,
) -> Result<CallRequest, CallResult> {
    let tenant = &call.caller.tenant;
    let mut known = services.registry.snapshot().find_peer(tenant, peer).cloned();
    if known.as_ref().is_none_or(|known| known.card.is_none()) {
        // It is asked for its card now.
        let asked = services.registry.connect(tenant, peer).await;
        asked.map_err(|error| CallResult::error(format!("Nothing was called: {error}.")))?;
        known = services.registry.snapshot().find_peer(tenant, peer).cloned();
    }
    let known = known.ok_or_else(|| CallResult::error(format!("There is no peer {peer:?} any more.")))?;
    let chain = call.call_chain();
    let outgoing = chain.extend(&services.agent_address(call.workflow_name().unwrap_or_default()));
    let address = normalize_peer_url(&known.url).unwrap_or_else(|_| known.url.clone());
    let max = services.registry.mesh_options().max_depth;
    let refused = outgoing.check_depth(max).and_then(|()| outgoing.check_not_ancestor(&address));
    refused.map_err(|refusal| {
        CallResult::error(format!(
            "The call depth limit stops this call of {peer}: {refusal}. Nothing was called."
        ))
    })?;
    CallRequest::prepare(services, &known, &PeerArguments::of_kind(&known.kind), arguments, call).await
}
