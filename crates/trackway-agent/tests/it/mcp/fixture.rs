//! An MCP server for tests. This test binary is the server when it is started for the single test
//! `serve`.

use std::{
    borrow::Cow,
    io::Write as _,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use axum::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, Resource, ServerCapabilities, ServerConfig,
        SubscriptionFilter, Tool,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio::sync::watch;

/// The file in which the server records its start: a line with its process id.
pub(crate) const STARTS: &str = "FIXTURE_STARTS";

/// Set if the server supports only the newest protocol.
pub(crate) const NEWEST: &str = "FIXTURE_NEWEST";

/// The arguments that make this binary the server.
pub(crate) const ARGUMENTS: [&str; 4] = ["--exact", "mcp::fixture::serve", "--nocapture", "--quiet"];

/// Set if it really is the server. As an ordinary test it has no client to serve.
pub(crate) const SERVES: &str = "FIXTURE_SERVES";

#[tokio::test]
async fn serve() {
    if variable(SERVES).is_none() {
        return;
    }
    if let Some(path) = variable(STARTS) {
        let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
        writeln!(file, "{}", std::process::id()).unwrap();
    }
    eprintln!("the fixture is here");
    let service = Fixture::default().serve((tokio::io::stdin(), tokio::io::stdout())).await;
    // A client that disconnects before its first message is not a fault of the server.
    if let Ok(service) = service {
        let _ended = service.waiting().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the test is about what it was started with")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The server. Clones share its observations.
#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    has_grown: Arc<watch::Sender<bool>>,
    /// Calls of `hang` that have started, and those that were cancelled.
    hanging: Arc<watch::Sender<(u32, u32)>>,
    /// Headers of every request that carried a call.
    pub(crate) headers: Arc<Mutex<Vec<axum::http::HeaderMap>>>,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            has_grown: Arc::new(watch::Sender::new(false)),
            hanging: Arc::new(watch::Sender::new((0, 0))),
            headers: Arc::default(),
        }
    }
}

const TOOLS: [&str; 15] = [
    "about",
    "ask",
    "both",
    "die",
    "fail",
    "freeze",
    "garble",
    "grow",
    "hang",
    "look at it",
    "look.at",
    "open",
    "picture",
    "spawn",
    "was_cancelled",
];

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match variable(NEWEST) {
            Some(_) => Cow::Borrowed(&[ProtocolVersion::LATEST]),
            None => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut has_grown = self.has_grown.subscribe();
        drop(has_grown.wait_for(|has_grown| *has_grown).await);
        let told = context.sink().notify_tool_list_changed().await;
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        context.cancelled().await;
        Ok(())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let grown = self.has_grown.borrow().then_some("grown");
        let names = TOOLS.into_iter().chain(grown);
        let schema = json!({"type": "object"}).as_object().cloned().unwrap();
        let tools = names.map(|name| Tool::new(name, format!("Does {name}."), schema.clone()));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(parts) = context.extensions.get::<Parts>() {
            self.headers.lock().unwrap().push(parts.headers.clone());
        }
        let arguments = request.arguments.map(Value::Object).unwrap_or_default();
        let result = match &*request.name {
            "about" => text(about(&arguments).to_string()),
            "ask" if variable(NEWEST).is_some() => match request.input_responses {
                Some(answers) => text(answers["city"].to_string()),
                None => return Ok(input_required().into()),
            },
            "ask" | "open" => self.ask(&request.name, &context).await?,
            "both" => {
                let mut result = text("{\"n\":1}".to_owned());
                result.structured_content = Some(json!({"n": 1}));
                result
            }
            #[expect(clippy::disallowed_methods, reason = "it dies as servers do")]
            "die" => std::process::exit(3),
            "fail" => CallToolResult::error(vec![ContentBlock::text("no such thing")]),
            "freeze" => loop {
                // This blocks the whole process: it has only one thread.
                std::thread::park();
            },
            "garble" => {
                let id = context.id.to_string();
                let deep = "[".repeat(50_000);
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{deep}\n");
                std::io::stdout().write_all(line.as_bytes()).unwrap();
                std::io::stdout().flush().unwrap();
                context.ct.cancelled().await;
                text("nobody reads this".to_owned())
            }
            "grow" => {
                self.has_grown.send_replace(true);
                if variable(NEWEST).is_none() {
                    context.peer.notify_tool_list_changed().await.unwrap();
                }
                text("grown".to_owned())
            }
            "hang" => {
                self.hanging.send_modify(|(begun, _)| *begun += 1);
                context.ct.cancelled().await;
                self.hanging.send_modify(|(_, cancelled)| *cancelled += 1);
                text("nobody reads this".to_owned())
            }
            "picture" => CallToolResult::success(vec![
                ContentBlock::text("a picture"),
                ContentBlock::image("aGk=", "image/png"),
                ContentBlock::resource_link(Resource::new("file:///a.txt", "a.txt")),
            ]),
            #[expect(clippy::zombie_processes, reason = "that nobody waits for it is the point")]
            "spawn" => {
                let port = u16::try_from(arguments["port"].as_u64().unwrap()).unwrap();
                let stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
                let held = Stdio::from(std::os::fd::OwnedFd::from(stream));
                Command::new("sleep").arg("1000").stdin(held).spawn().unwrap();
                text("spawned".to_owned())
            }
            "was_cancelled" => {
                let mut hanging = self.hanging.subscribe();
                hanging.wait_for(|(_, cancelled)| *cancelled > 0).await.unwrap();
                text("yes".to_owned())
            }
            name => text(format!("{name} was called")),
        };
        Ok(result.into())
    }
}

impl Fixture {
    /// Asks the user for a city, or sends them to an address, and returns the outcome.
    async fn ask(
        &self,
        how: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let params = match how {
            "ask" => form(),
            _ => json!({"mode": "url", "message": "Log in", "url": "https://example.com/",
                        "elicitationId": "1"}),
        };
        let params = serde_json::from_value(params).unwrap();
        let answer = context.peer.create_elicitation(params).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(text(serde_json::to_string(&answer).unwrap()))
    }
}

fn form() -> Value {
    json!({"mode": "form", "message": "Which city?", "requestedSchema": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
    }})
}

/// A server of the newest protocol asks by answering with its question.
fn input_required() -> InputRequiredResult {
    let request = json!({"method": "elicitation/create", "params": form()});
    let result = json!({"resultType": "input_required", "inputRequests": {"city": request}});
    serde_json::from_value(result).unwrap()
}

fn about(arguments: &Value) -> Value {
    let name = arguments["variable"].as_str().unwrap_or_default();
    json!({
        "pid": std::process::id(),
        "variable": variable(name),
        "folder": std::env::current_dir().unwrap(),
        "arguments": std::env::args().skip(1).collect::<Vec<_>>(),
    })
}

fn text(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}
