//! The MCP door: it receives calls, identifies the caller, passes each call to its tool, and answers.

use std::{borrow::Cow, sync::Arc};

use axum::http;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, ConstString as _, CustomRequest, CustomResult, ErrorCode as JsonRpcErrorCode,
        Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
        ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{ErrorCode, ReplyRenderStamp};
use trackway_ports::Identity;
use trackway_runtime::{GuidedRunError, GuidedRuns, WorkflowLookupError};

use crate::{
    arguments::{self, CheckedToolArguments},
    confirmation::RetriedCallInputs,
    http::SessionCallLimit,
    position_answer,
    refusal::ToolRefusal,
    token::{KeyRing, NodeRef},
    tools::{
        self, CheckpointSwitches, ToolName, advance_tool, checkpoint_tool, inspect_tool, list_tool,
        resume_tool, start_tool,
    },
    unparsed_messages::CALL_METHOD,
};

/// The instructions that a client gets about the whole server.
const SERVER_INSTRUCTIONS: &str = "Trackway walks you through workflows step by step and never loses the place. Call workflow_list, then workflow_start; do what `pending.prompt` says; then call workflow_advance with the stateToken and the ackToken of the same answer, copied exactly. Repeat until `isComplete` is true. Tokens are opaque and durable. Only advance with tokens from an answer that you see in this conversation; after a rewind use the ones that you see, earlier ones still work. Without any token, call workflow_resume to find the run again; workflow_advance with a stateToken alone shows the step with a recap of the notes so far.";

/// The MCP door. Cheap to clone; every connection has one.
#[derive(Debug, Clone)]
pub struct McpDoor {
    inner: Arc<McpDoorState>,
    /// Becomes true when the one client of this connection disconnects. Stays false if a connection is not
    /// a client.
    disconnected: watch::Receiver<bool>,
}

#[derive(Debug)]
struct McpDoorState {
    guide: GuidedRuns,
    ring: Arc<KeyRing>,
    switches: CheckpointSwitches,
    /// Keeps the channel of `disconnected` open if no transport reports when a client disconnects.
    _present: watch::Sender<bool>,
}

impl McpDoor {
    pub fn new(guide: GuidedRuns, ring: Arc<KeyRing>, switches: CheckpointSwitches) -> Self {
        let (present, gone) = watch::channel(false);
        Self {
            inner: Arc::new(McpDoorState { guide, ring, switches, _present: present }),
            disconnected: gone,
        }
    }

    /// The same door for one client, with a signal that reports when it disconnects.
    pub(crate) fn with_client_disconnect_signal(&self, client_disconnected: watch::Receiver<bool>) -> Self {
        Self { inner: self.inner.clone(), disconnected: client_disconnected }
    }

    pub(crate) fn guided_runs(&self) -> &GuidedRuns {
        &self.inner.guide
    }

    pub(crate) fn key_ring(&self) -> &KeyRing {
        &self.inner.ring
    }

    /// The key and the text version that answers are rendered with from now on.
    pub(crate) fn current_stamp(&self) -> ReplyRenderStamp {
        position_answer::current_stamp(self.key_ring())
    }

    /// Returns when the client of this connection disconnects.
    pub(crate) async fn wait_for_client_disconnect(&self) {
        let mut gone = self.disconnected.clone();
        if gone.wait_for(|gone| *gone).await.is_err() {
            std::future::pending().await
        }
    }

    /// Whether these scopes allow work on the run of a token. Only a caller without full scopes needs a
    /// lookup.
    pub(crate) async fn authorize_run(&self, identity: &Identity, node: NodeRef) -> Result<(), ToolRefusal> {
        if identity.scopes.is_all_workflows_and_agents() {
            return Ok(());
        }
        let position = self
            .guided_runs()
            .inspect_node(&identity.access(), node.run, node.node, self.current_stamp())
            .await?;
        ToolRefusal::check_can_run_workflow(identity, &position.workflow)
    }

    /// Carries out any call. A refused call is an answer too.
    async fn call_tool_or_refuse(
        &self,
        name: &str,
        raw: Option<Value>,
        context: &RequestContext<RoleServer>,
        retry: RetriedCallInputs,
    ) -> CallToolResponse {
        match self.dispatch_tool_call(name, raw, context, retry).await {
            Ok(response) => response,
            Err(refusal) => refusal.into_tool_result().into(),
        }
    }

    async fn dispatch_tool_call(
        &self,
        name: &str,
        raw: Option<Value>,
        context: &RequestContext<RoleServer>,
        retry: RetriedCallInputs,
    ) -> Result<CallToolResponse, ToolRefusal> {
        let session = http_request_extension::<SessionCallLimit>(context);
        let _room = session
            .map(|calls| calls.acquire_call_permit(http_call_size_bytes(context, raw.as_ref())))
            .transpose()?;
        let switches = self.inner.switches;
        let tool = ToolName::find_by_name(name).ok_or_else(|| unknown_tool_refusal(name, switches))?;
        if tool == ToolName::Checkpoint && !switches.checkpoints {
            return Err(checkpoint_tool::checkpoints_disabled_refusal());
        }
        let names_session = raw.as_ref().is_some_and(|raw| !raw["sessionId"].is_null());
        if tool == ToolName::Checkpoint && !switches.session_checkpoints && names_session {
            return Err(checkpoint_tool::session_checkpoints_disabled_refusal());
        }
        let arguments = tool.parse_arguments(switches, raw)?;
        self.key_ring().reload_if_changed().await;
        let identity = caller_identity(context);
        match tool {
            ToolName::List => self.call_workflow_list(&identity, arguments).await.map(Into::into),
            ToolName::Inspect => self.call_workflow_inspect(&identity, arguments).await.map(Into::into),
            ToolName::Start => {
                start_tool::call_workflow_start(self, &identity, arguments).await.map(Into::into)
            }
            ToolName::Advance => {
                advance_tool::call_workflow_advance(self, &identity, arguments, context, retry).await
            }
            ToolName::Resume => {
                resume_tool::call_workflow_resume(self, &identity, arguments).await.map(Into::into)
            }
            ToolName::Checkpoint => {
                checkpoint_tool::call_workflow_checkpoint(self, &identity, arguments).await.map(Into::into)
            }
        }
    }

    async fn call_workflow_list(
        &self,
        identity: &Identity,
        mut arguments: CheckedToolArguments,
    ) -> Result<rmcp::model::CallToolResult, ToolRefusal> {
        let wanted = list_tool::WorkflowListQuery {
            query: arguments.take_string_argument("query"),
            cursor: arguments.take_string_argument("cursor"),
        };
        let (guide, scopes) = (self.guided_runs().clone(), identity.scopes.clone());
        let found = run_blocking(move || {
            let catalogue = guide.catalogue();
            list_tool::workflow_list_result(
                catalogue.list_definitions(),
                catalogue.workflow_folders(),
                &scopes,
                &wanted,
            )
        });
        found.await?
    }

    async fn call_workflow_inspect(
        &self,
        identity: &Identity,
        mut arguments: CheckedToolArguments,
    ) -> Result<rmcp::model::CallToolResult, ToolRefusal> {
        let workflow = arguments.take_string_argument("workflowId").unwrap_or_default();
        ToolRefusal::check_can_run_workflow(identity, &workflow)?;
        let guide = self.guided_runs().clone();
        let wanted = workflow.clone();
        let found = run_blocking(move || {
            guide.catalogue().get_entry(&wanted).map(|known| {
                let rules = guide.catalogue().render_workflow_rules(&known.definition);
                (known, rules)
            })
        });
        let (known, rules) = found.await?.map_err(|why| match why {
            WorkflowLookupError::UnknownId { similar: near } => {
                GuidedRunError::UnknownWorkflow { workflow, similar: near }
            }
            WorkflowLookupError::Invalid(invalid) => GuidedRunError::InvalidWorkflow {
                workflow,
                file: invalid.file.display().to_string(),
                findings: invalid.errors,
            },
        })?;
        Ok(inspect_tool::workflow_inspect_result(&known, &rules))
    }
}

impl ServerHandler for McpDoor {
    fn get_info(&self) -> ServerConfig {
        let mut us = Implementation::new("trackway", env!("CARGO_PKG_VERSION"));
        us.title = Some("Trackway".to_owned());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(us)
            .with_instructions(SERVER_INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list_enabled_tools(self.inner.switches)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let retry = RetriedCallInputs { responses: request.input_responses, state: request.request_state };
        let raw = request.arguments.map(Value::Object);
        Ok(self.call_tool_or_refuse(&request.name, raw, &context, retry).await)
    }

    // Features that are not declared are refused: an empty list would look like an offer.

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(method_not_served_error(ListPromptsRequestMethod::VALUE))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(method_not_served_error(ListResourcesRequestMethod::VALUE))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(method_not_served_error(ListResourceTemplatesRequestMethod::VALUE))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(method_not_served_error(CompleteRequestMethod::VALUE))
    }

    /// A call that does not fit the protocol's types comes here, for example with arguments that are a
    /// string. It is answered like every other call.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != CALL_METHOD {
            return Err(method_not_served_error(&request.method));
        }
        let name = request.params.as_ref().and_then(|params| params["name"].as_str());
        let Some(name) = name else {
            return Err(ErrorData::invalid_params("the call names no tool", None));
        };
        let raw = request.params.as_ref().and_then(|params| params.get("arguments")).cloned();
        let response = self.call_tool_or_refuse(name, raw, &context, RetriedCallInputs::default()).await;
        let CallToolResponse::Complete(mut result) = response else {
            return Err(ErrorData::invalid_params("the call is not of its form", None));
        };
        let newest = |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
        if !context.protocol_version().is_some_and(newest) {
            result.result_type = None;
        }
        Ok(CustomResult::new(json!(result)))
    }
}

/// The caller: the one that the HTTP door identified, or the local user on stdio.
fn caller_identity(context: &RequestContext<RoleServer>) -> Identity {
    http_request_extension::<Identity>(context).cloned().unwrap_or_else(Identity::local_user)
}

/// What the HTTP door found out about a request; nothing on stdio.
fn http_request_extension<T: Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<&T> {
    context.extensions.get::<http::request::Parts>()?.extensions.get()
}

/// Bytes of a call over HTTP. Absent for a message of a batch.
fn http_call_size_bytes(context: &RequestContext<RoleServer>, raw: Option<&Value>) -> usize {
    let parts = context.extensions.get::<http::request::Parts>();
    let length = parts.and_then(|parts| parts.headers.get(http::header::CONTENT_LENGTH));
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or_else(|| raw.map_or(0, |raw| raw.to_string().len()))
}

/// The error for a method that is not served; it lists the served ones.
fn method_not_served_error(method: &str) -> ErrorData {
    let method: String = method.chars().take(64).collect();
    let message =
        format!("{method} is not served: this server has tools, which tools/list shows and tools/call calls");
    ErrorData::new(JsonRpcErrorCode::METHOD_NOT_FOUND, message, None)
}

fn unknown_tool_refusal(name: &str, switches: CheckpointSwitches) -> ToolRefusal {
    let offered: Vec<_> = tools::list_enabled_tools(switches).into_iter().map(|tool| tool.name).collect();
    let next = match arguments::suggest_similar_name(name, offered.iter().map(AsRef::as_ref)) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => format!("There are: {}.", offered.join(", ")),
    };
    let name: String = name.chars().take(64).collect();
    ToolRefusal::new(ErrorCode::InvalidRequest, format!("there is no tool {name:?}"), next)
}

/// Reads files on a blocking thread, so that other calls are not delayed.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolRefusal> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolRefusal::new(ErrorCode::Internal, error.to_string(), "Send the same call once more.")
    })
}

#[cfg(test)]
mod tests;
