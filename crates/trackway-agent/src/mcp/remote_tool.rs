//! A server's tool as one of our tools, and one call of it.

use std::sync::Arc;

use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ElicitResult, ElicitationAction,
        InputRequest, InputRequiredResult, InputResponses, Tool as RemoteTool,
    },
};
use serde_json::Value;
use tokio::{sync::mpsc, time::timeout};
use trackway_domain::{Failure, Part};
use trackway_runtime::{Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin, ToolOutput};

use super::{
    call_result_conversion::to_tool_output,
    client_handler::{parse_elicitation_form, to_elicit_result},
    elicitation::{
        ElicitationQuestion, ElicitationReply, parse_elicitation_reply, schema_with_decline_option,
    },
    mcp_error_text,
    mcp_server::McpServer,
};

/// Longest description of a server's tool that is kept. Models receive less of it.
/// Limit (Tools): description of a tool that is kept.
const DESCRIPTION_CHARS_MAX: usize = 4096;

/// One tool of one server.
#[derive(Debug)]
pub(super) struct McpTool {
    info: ToolInfo,
    server: Arc<McpServer>,
    /// The server's own name for it.
    remote: String,
    /// The server declares that a second call changes nothing.
    is_harmless: bool,
}

impl McpTool {
    pub(super) fn new(server: Arc<McpServer>, name: String, tool: &RemoteTool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        let description = description.unwrap_or_default().chars().take(DESCRIPTION_CHARS_MAX);
        let info = ToolInfo {
            name,
            description: description.collect(),
            input_schema: Value::Object((*tool.input_schema).clone()),
            origin: ToolOrigin::Local,
        };
        let hints = tool.annotations.as_ref();
        let is_harmless = hints
            .is_some_and(|hints| hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true));
        Self { info, server, remote: tool.name.to_string(), is_harmless }
    }
}

impl Tool for McpTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    /// The protocol has no idempotency key for calls.
    fn is_repeatable(&self) -> bool {
        self.is_harmless
    }

    fn call(&self, arguments: Value, tool_call: ToolCallContext) -> ToolFuture {
        Box::pin(call_remote_tool(self.server.clone(), self.remote.clone(), arguments, tool_call))
    }
}

/// How often a server may answer a call with questions.
/// Limit (Tools): times that a tool server may answer one call with questions.
const ROUNDS_MAX: usize = 10;

/// Calls a tool. Dropping the future tells the server that the call is cancelled.
async fn call_remote_tool(
    server: Arc<McpServer>,
    tool: String,
    arguments: Value,
    call: ToolCallContext,
) -> Result<ToolOutput, Failure> {
    let peer = server.connected_peer().await?;
    let mut params = CallToolRequestParams::new(tool);
    if let Value::Object(arguments) = arguments {
        params = params.with_arguments(arguments);
    }
    let (_place, questions) =
        server.active_calls.register_active_call(call.caller.clone(), call.session.clone());
    let mut talk = RunningRemoteCall { server: &server, call: &call, questions };
    let result = talk.call_until_result(&peer, params).await?;
    to_tool_output(&server.name, result)
}

/// A running call, with the questions that the server asks meanwhile.
struct RunningRemoteCall<'a> {
    server: &'a Arc<McpServer>,
    call: &'a ToolCallContext,
    questions: mpsc::Receiver<ElicitationQuestion>,
}

impl RunningRemoteCall<'_> {
    /// As many rounds as necessary: a server of the newest protocol answers with its questions, and is
    /// called again with the user's answers.
    async fn call_until_result(
        &mut self,
        peer: &Peer<RoleClient>,
        mut params: CallToolRequestParams,
    ) -> Result<CallToolResult, Failure> {
        for _ in 0..ROUNDS_MAX {
            match self.send_call_request(peer, params.clone()).await? {
                CallToolResponse::Complete(result) => return Ok(result),
                CallToolResponse::InputRequired(asked) => {
                    (params.input_responses, params.request_state) =
                        self.answer_input_requests(asked).await?;
                }
                CallToolResponse::Task(_) => {
                    return Err(self.mcp_server_failure("began a task, which was not asked of it"));
                }
                _ => return Err(self.mcp_server_failure("gave an answer that is not understood")),
            }
        }
        Err(self.mcp_server_failure("asked again and again"))
    }

    /// One request. Older servers ask while they work on it; each answer restarts the timeout.
    async fn send_call_request(
        &mut self,
        peer: &Peer<RoleClient>,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, Failure> {
        let wait = self.server.call_timeout();
        let mut answered = std::pin::pin!(peer.call_tool_once(params));
        loop {
            let next = async {
                tokio::select! {
                    response = &mut answered => RemoteCallEvent::Answered(Box::new(response)),
                    Some(question) = self.questions.recv() => RemoteCallEvent::Asked(question),
                }
            };
            match timeout(wait, next).await {
                Ok(RemoteCallEvent::Answered(response)) => {
                    return response.map_err(|error| self.request_failure(&error));
                }
                Ok(RemoteCallEvent::Asked(question)) => {
                    let ElicitationQuestion { message, schema, reply } = question;
                    let asked = ask_user_for_server(self.server, self.call, message, schema);
                    // The server may give up, or end, before the user answers.
                    let told = tokio::select! {
                        response = &mut answered => {
                            return response.map_err(|error| self.request_failure(&error));
                        }
                        told = asked => told?,
                    };
                    // The call may no longer wait for it; the server knows that.
                    let _unheard = reply.send(told);
                }
                Err(_) => {
                    let (server, peer) = (self.server.clone(), peer.clone());
                    tokio::spawn(async move { server.probe_after_timeout(&peer).await });
                    let text = format!("did not answer within {} s", wait.as_secs());
                    return Err(self.mcp_server_failure(&text));
                }
            }
        }
    }

    async fn answer_input_requests(
        &self,
        required: InputRequiredResult,
    ) -> Result<(Option<InputResponses>, Option<String>), Failure> {
        let mut responses = InputResponses::new();
        for (key, request) in required.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else {
                return Err(self.mcp_server_failure("asks for something that only a user can give"));
            };
            let result = match parse_elicitation_form(request.params) {
                Ok((message, schema)) => {
                    to_elicit_result(ask_user_for_server(self.server, self.call, message, schema).await?)
                }
                Err(reason) => {
                    tracing::warn!(server = self.server.name, "a question is declined: {reason}");
                    ElicitResult::new(ElicitationAction::Decline)
                }
            };
            let result = serde_json::to_value(result);
            responses.insert(key, result.map_err(|error| Failure::new(error.to_string()))?);
        }
        if responses.is_empty() && required.request_state.is_none() {
            return Err(self.mcp_server_failure("asks for something and does not say what"));
        }
        Ok(((!responses.is_empty()).then_some(responses), required.request_state))
    }

    /// The error of a request.
    fn request_failure(&self, error: &ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) => self.mcp_server_failure(&format!("refused: {}", error.message)),
            ServiceError::TransportClosed => {
                let text = "ended while it worked on this call; whether the call was carried out is \
                            not known";
                self.mcp_server_failure(text)
            }
            ServiceError::TransportSend(error) => self.mcp_server_failure(&format!(
                "cannot be reached: {}",
                mcp_error_text::describe_transport_error(error)
            )),
            other => self.mcp_server_failure(&format!("failed: {other}")),
        }
    }

    fn mcp_server_failure(&self, what: &str) -> Failure {
        Failure::new(format!("the MCP server `{}` {what}", self.server.name))
    }
}

enum RemoteCallEvent {
    Answered(Box<Result<CallToolResponse, ServiceError>>),
    Asked(ElicitationQuestion),
}

/// Asks the user on behalf of the server. The question names the server first, because the text is not
/// ours.
async fn ask_user_for_server(
    server: &McpServer,
    call: &ToolCallContext,
    message: String,
    schema: Value,
) -> Result<ElicitationReply, Failure> {
    let prompt = vec![Part::text(format!("{} asks: {message}", server.name))];
    let answer = call.ask_question(prompt, schema_with_decline_option(schema)).await?;
    Ok(parse_elicitation_reply(answer))
}
