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
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput};

use super::{
    client::{form, said},
    fault,
    question::{Question, Reply, read_reply, with_decline},
    result::outcome,
    server::Server,
};

/// Longest description of a server's tool that is kept. Models receive less of it.
/// Limit (Tools): description of a tool that is kept.
const DESCRIPTION_CHARS_MAX: usize = 4096;

/// One tool of one server.
#[derive(Debug)]
pub(super) struct McpTool {
    info: ToolInfo,
    server: Arc<Server>,
    /// The server's own name for it.
    remote: String,
    /// The server declares that a second call changes nothing.
    is_harmless: bool,
}

impl McpTool {
    pub(super) fn new(server: Arc<Server>, name: String, tool: &RemoteTool) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref());
        let description = description.unwrap_or_default().chars().take(DESCRIPTION_CHARS_MAX);
        let info = ToolInfo {
            name,
            description: description.collect(),
            input_schema: Value::Object((*tool.input_schema).clone()),
        };
        let hints = tool.annotations.as_ref();
        let is_harmless = hints.is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        Self { info, server, remote: tool.name.to_string(), is_harmless }
    }
}

impl Tool for McpTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    /// The protocol has no idempotency key for calls.
    fn can_be_repeated(&self) -> bool {
        self.is_harmless
    }

    fn call(&self, arguments: Value, about: ToolCall) -> ToolFuture {
        Box::pin(call(self.server.clone(), self.remote.clone(), arguments, about))
    }
}

/// How often a server may answer a call with questions.
/// Limit (Tools): times that a tool server may answer one call with questions.
const ROUNDS_MAX: usize = 10;

/// Calls a tool. Dropping the future tells the server that the call is cancelled.
async fn call(
    server: Arc<Server>,
    tool: String,
    arguments: Value,
    call: ToolCall,
) -> Result<ToolOutput, Failure> {
    let peer = server.peer().await?;
    let mut params = CallToolRequestParams::new(tool);
    if let Value::Object(arguments) = arguments {
        params = params.with_arguments(arguments);
    }
    let (_place, questions) = server.desk.sit(call.caller.clone(), call.session.clone());
    let mut talk = Talk { server: &server, call: &call, questions };
    let result = talk.through(&peer, params).await?;
    outcome(&server.name, result)
}

/// A running call, with the questions that the server asks meanwhile.
struct Talk<'a> {
    server: &'a Arc<Server>,
    call: &'a ToolCall,
    questions: mpsc::Receiver<Question>,
}

impl Talk<'_> {
    /// As many rounds as necessary: a server of the newest protocol answers with its questions, and is
    /// called again with the user's answers.
    async fn through(
        &mut self,
        peer: &Peer<RoleClient>,
        mut params: CallToolRequestParams,
    ) -> Result<CallToolResult, Failure> {
        for _ in 0..ROUNDS_MAX {
            match self.once(peer, params.clone()).await? {
                CallToolResponse::Complete(result) => return Ok(result),
                CallToolResponse::InputRequired(asked) => {
                    (params.input_responses, params.request_state) = self.answer_all(asked).await?;
                }
                CallToolResponse::Task(_) => {
                    return Err(self.failure("began a task, which was not asked of it"));
                }
                _ => return Err(self.failure("gave an answer that is not understood")),
            }
        }
        Err(self.failure("asked again and again"))
    }

    /// One request. Older servers ask while they work on it; each answer restarts the timeout.
    async fn once(
        &mut self,
        peer: &Peer<RoleClient>,
        params: CallToolRequestParams,
    ) -> Result<CallToolResponse, Failure> {
        let wait = self.server.call_timeout();
        let mut answered = std::pin::pin!(peer.call_tool_once(params));
        loop {
            let next = async {
                tokio::select! {
                    response = &mut answered => Next::Answered(Box::new(response)),
                    Some(question) = self.questions.recv() => Next::Asked(question),
                }
            };
            match timeout(wait, next).await {
                Ok(Next::Answered(response)) => {
                    return response.map_err(|error| self.broken(&error));
                }
                Ok(Next::Asked(question)) => {
                    let Question { message, schema, reply } = question;
                    let asked = ask(self.server, self.call, message, schema);
                    // The server may give up, or end, before the user answers.
                    let told = tokio::select! {
                        response = &mut answered => {
                            return response.map_err(|error| self.broken(&error));
                        }
                        told = asked => told?,
                    };
                    // The call may no longer wait for it; the server knows that.
                    let _unheard = reply.send(told);
                }
                Err(_) => {
                    let (server, peer) = (self.server.clone(), peer.clone());
                    tokio::spawn(async move { server.check(&peer).await });
                    let text = format!("did not answer within {} s", wait.as_secs());
                    return Err(self.failure(&text));
                }
            }
        }
    }

    async fn answer_all(
        &self,
        asked: InputRequiredResult,
    ) -> Result<(Option<InputResponses>, Option<String>), Failure> {
        let mut responses = InputResponses::new();
        for (key, request) in asked.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else {
                return Err(self.failure("asks for something that only a user can give"));
            };
            let result = match form(request.params) {
                Ok((message, schema)) => said(ask(self.server, self.call, message, schema).await?),
                Err(reason) => {
                    tracing::warn!(server = self.server.name, "a question is declined: {reason}");
                    ElicitResult::new(ElicitationAction::Decline)
                }
            };
            let result = serde_json::to_value(result);
            responses.insert(key, result.map_err(|error| Failure::new(error.to_string()))?);
        }
        if responses.is_empty() && asked.request_state.is_none() {
            return Err(self.failure("asks for something and does not say what"));
        }
        Ok(((!responses.is_empty()).then_some(responses), asked.request_state))
    }

    /// The error of a request.
    fn broken(&self, error: &ServiceError) -> Failure {
        match error {
            ServiceError::McpError(error) => self.failure(&format!("refused: {}", error.message)),
            ServiceError::TransportClosed => {
                let text = "ended while it worked on this call; whether the call was carried out is \
                            not known";
                self.failure(text)
            }
            ServiceError::TransportSend(error) => {
                self.failure(&format!("cannot be reached: {}", fault::transport(error)))
            }
            other => self.failure(&format!("failed: {other}")),
        }
    }

    fn failure(&self, what: &str) -> Failure {
        Failure::new(format!("the MCP server `{}` {what}", self.server.name))
    }
}

enum Next {
    Answered(Box<Result<CallToolResponse, ServiceError>>),
    Asked(Question),
}

/// Asks the user on behalf of the server. The question names the server first, because the text is not
/// ours.
async fn ask(
    server: &Server,
    call: &ToolCall,
    message: String,
    schema: Value,
) -> Result<Reply, Failure> {
    let prompt = vec![Part::text(format!("{} asks: {message}", server.name))];
    let answer = call.ask(prompt, with_decline(schema)).await?;
    Ok(read_reply(answer))
}
