//! The door itself: takes calls, finds out who asks, hands them to the tool, and answers.

use std::{borrow::Cow, sync::Arc};

use axum::http;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams,
        CompleteResult, ConstString as _, CustomRequest, CustomResult, ErrorCode, Implementation,
        ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
        ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Code, Seal};
use trackway_ports::Identity;
use trackway_runtime::{Guide, GuideError, NotKnown};

use crate::{
    answer,
    arguments::{self, Arguments},
    confirm::Retry,
    http::SessionCalls,
    refusal::Refusal,
    token::{KeyRing, Place},
    tools::{self, Name, Switches, advance, checkpoint, inspect, list, resume, start},
    unread::CALL,
};

/// What a client is told about the whole.
const INSTRUCTIONS: &str = "Trackway walks you through workflows step by step and never loses the place. Call workflow_list, then workflow_start; do what `pending.prompt` says; then call workflow_advance with the stateToken and the ackToken of the same answer, copied exactly. Repeat until `isComplete` is true. Tokens are opaque and durable. Only advance with tokens from an answer that you see in this conversation; after a rewind use the ones that you see, earlier ones still work. Without any token, call workflow_resume to find the run again; workflow_advance with a stateToken alone shows the step with a recap of the notes so far.";

/// The MCP door. Cheap to clone; every connection has one.
#[derive(Debug, Clone)]
pub struct Door {
    inner: Arc<Inner>,
    /// Says that the one client of this connection is gone; never, where a connection is not a client.
    gone: watch::Receiver<bool>,
}

#[derive(Debug)]
struct Inner {
    guide: Guide,
    ring: Arc<KeyRing>,
    switches: Switches,
    /// Held so that `gone` stays open where nobody else says when a client is gone.
    _present: watch::Sender<bool>,
}

impl Door {
    pub fn new(guide: Guide, ring: Arc<KeyRing>, switches: Switches) -> Self {
        let (present, gone) = watch::channel(false);
        Self { inner: Arc::new(Inner { guide, ring, switches, _present: present }), gone }
    }

    /// The same door for one client whose going away is told.
    pub(crate) fn for_client(&self, gone: watch::Receiver<bool>) -> Self {
        Self { inner: self.inner.clone(), gone }
    }

    pub(crate) fn guide(&self) -> &Guide {
        &self.inner.guide
    }

    pub(crate) fn ring(&self) -> &KeyRing {
        &self.inner.ring
    }

    /// What answers are written with from now on.
    pub(crate) fn seal(&self) -> Seal {
        answer::seal(self.ring())
    }

    /// Returns when the client of this connection is gone.
    pub(crate) async fn client_gone(&self) {
        let mut gone = self.gone.clone();
        if gone.wait_for(|gone| *gone).await.is_err() {
            std::future::pending().await
        }
    }

    /// Whether the run of a token may be worked on with these scopes. Only somebody with less than all
    /// of them has to be looked up.
    pub(crate) async fn permit(&self, identity: &Identity, place: Place) -> Result<(), Refusal> {
        if identity.scopes.is_all() {
            return Ok(());
        }
        let position =
            self.guide().look(&identity.access(), place.run, place.node, self.seal()).await?;
        if identity.scopes.allow_run(&position.workflow) {
            Ok(())
        } else {
            Err(Refusal::forbidden(&position.workflow))
        }
    }

    /// Carries out a call, whatever it is. What is wrong with it is an answer too.
    async fn call(
        &self,
        name: &str,
        raw: Option<Value>,
        context: &RequestContext<RoleServer>,
        retry: Retry,
    ) -> CallToolResponse {
        match self.try_call(name, raw, context, retry).await {
            Ok(response) => response,
            Err(refusal) => refusal.into_result().into(),
        }
    }

    async fn try_call(
        &self,
        name: &str,
        raw: Option<Value>,
        context: &RequestContext<RoleServer>,
        retry: Retry,
    ) -> Result<CallToolResponse, Refusal> {
        let session = extension::<SessionCalls>(context);
        let _room = session.map(|calls| calls.begin(size(context, raw.as_ref()))).transpose()?;
        let switches = self.inner.switches;
        let tool = Name::find(name).ok_or_else(|| unknown_tool(name, switches))?;
        if tool == Name::Checkpoint && !switches.checkpoints {
            return Err(checkpoint::switched_off());
        }
        let names_session = raw.as_ref().is_some_and(|raw| !raw["sessionId"].is_null());
        if tool == Name::Checkpoint && !switches.session_checkpoints && names_session {
            return Err(checkpoint::sessions_switched_off());
        }
        let arguments = tool.arguments(switches, raw)?;
        self.ring().renew();
        let identity = identity(context);
        match tool {
            Name::List => self.list(&identity, arguments).await.map(Into::into),
            Name::Inspect => self.inspect(&identity, arguments).await.map(Into::into),
            Name::Start => start::start(self, &identity, arguments).await.map(Into::into),
            Name::Advance => advance::advance(self, &identity, arguments, context, retry).await,
            Name::Resume => resume::resume(self, &identity, arguments).await.map(Into::into),
            Name::Checkpoint => {
                checkpoint::checkpoint(self, &identity, arguments).await.map(Into::into)
            }
        }
    }

    async fn list(
        &self,
        identity: &Identity,
        mut arguments: Arguments,
    ) -> Result<rmcp::model::CallToolResult, Refusal> {
        let wanted =
            list::Wanted { query: arguments.text("query"), cursor: arguments.text("cursor") };
        let (guide, scopes) = (self.guide().clone(), identity.scopes.clone());
        let found = off_the_loop(move || {
            let catalogue = guide.catalogue();
            list::list(catalogue.list(), catalogue.folders(), &scopes, &wanted)
        });
        found.await?
    }

    async fn inspect(
        &self,
        identity: &Identity,
        mut arguments: Arguments,
    ) -> Result<rmcp::model::CallToolResult, Refusal> {
        let workflow = arguments.text("workflowId").unwrap_or_default();
        if !identity.scopes.allow_run(&workflow) {
            return Err(Refusal::forbidden(&workflow));
        }
        let guide = self.guide().clone();
        let wanted = workflow.clone();
        let found = off_the_loop(move || {
            guide.catalogue().get(&wanted).map(|known| {
                let rules = guide.catalogue().rules(&known.definition);
                (known, rules)
            })
        });
        let (known, rules) = found.await?.map_err(|why| match why {
            NotKnown::Unknown { near } => GuideError::UnknownWorkflow { workflow, near },
            NotKnown::Invalid(invalid) => GuideError::InvalidWorkflow {
                workflow,
                file: invalid.file.display().to_string(),
                faults: invalid.errors,
            },
        })?;
        Ok(inspect::inspect(&known, &rules))
    }
}

impl ServerHandler for Door {
    fn get_info(&self) -> ServerConfig {
        let mut us = Implementation::new("trackway", env!("CARGO_PKG_VERSION"));
        us.title = Some("Trackway".to_owned());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(us)
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::offered(self.inner.switches)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let retry = Retry { responses: request.input_responses, state: request.request_state };
        let raw = request.arguments.map(Value::Object);
        Ok(self.call(&request.name, raw, &context, retry).await)
    }

    // Whatever is not declared is not there: an empty list would look like an offer.

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(unknown_method(ListPromptsRequestMethod::VALUE))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(unknown_method(ListResourcesRequestMethod::VALUE))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(unknown_method(ListResourceTemplatesRequestMethod::VALUE))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(unknown_method(CompleteRequestMethod::VALUE))
    }

    /// A call that does not fit the protocol's own types comes here, for example with arguments that are
    /// a text. It is answered like every other.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != CALL {
            return Err(unknown_method(&request.method));
        }
        let name = request.params.as_ref().and_then(|params| params["name"].as_str());
        let Some(name) = name else {
            return Err(ErrorData::invalid_params("the call names no tool", None));
        };
        let raw = request.params.as_ref().and_then(|params| params.get("arguments")).cloned();
        let response = self.call(name, raw, &context, Retry::default()).await;
        let CallToolResponse::Complete(mut result) = response else {
            return Err(ErrorData::invalid_params("the call is not of its form", None));
        };
        let newest =
            |version: ProtocolVersion| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str();
        if !context.protocol_version().is_some_and(newest) {
            result.result_type = None;
        }
        Ok(CustomResult::new(json!(result)))
    }
}

/// Who asks: whoever the HTTP door recognised, and on stdio the local user.
fn identity(context: &RequestContext<RoleServer>) -> Identity {
    extension::<Identity>(context).cloned().unwrap_or_else(Identity::local)
}

/// What the HTTP door has found out about a request; nothing on stdio.
fn extension<T: Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<&T> {
    context.extensions.get::<http::request::Parts>()?.extensions.get()
}

/// Bytes of a call over HTTP. In a batch it does not come with them.
fn size(context: &RequestContext<RoleServer>, raw: Option<&Value>) -> usize {
    let parts = context.extensions.get::<http::request::Parts>();
    let length = parts.and_then(|parts| parts.headers.get(http::header::CONTENT_LENGTH));
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or_else(|| raw.map_or(0, |raw| raw.to_string().len()))
}

/// A method that is not served, and what is.
fn unknown_method(method: &str) -> ErrorData {
    let method: String = method.chars().take(64).collect();
    let message = format!(
        "{method} is not served: this server has tools, which tools/list shows and tools/call calls"
    );
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn unknown_tool(name: &str, switches: Switches) -> Refusal {
    let offered: Vec<_> = tools::offered(switches).into_iter().map(|tool| tool.name).collect();
    let next = match arguments::meant(name, offered.iter().map(AsRef::as_ref)) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => format!("There are: {}.", offered.join(", ")),
    };
    let name: String = name.chars().take(64).collect();
    Refusal::new(Code::InvalidRequest, format!("there is no tool {name:?}"), next)
}

/// Files are read away from the threads that serve everybody else.
async fn off_the_loop<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Refusal::new(Code::Internal, error.to_string(), "Send the same call once more.")
    })
}

#[cfg(test)]
mod tests;
