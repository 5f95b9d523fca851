//! A server to test with. This very binary is the server when it is started for the one test `serve`.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, Resource, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::watch;

/// Where the server notes that it was started: a line with its process id.
pub(crate) const STARTS: &str = "FIXTURE_STARTS";

/// What makes this binary the server.
pub(crate) const ARGUMENTS: [&str; 5] =
    ["--exact", "fixture::serve", "--ignored", "--nocapture", "--quiet"];

#[tokio::test]
#[ignore = "this is the server that the other tests start"]
async fn serve() {
    if let Some(path) = variable(STARTS) {
        let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
        writeln!(file, "{}", std::process::id()).unwrap();
    }
    eprintln!("the fixture is here");
    let service = Fixture::default().serve((tokio::io::stdin(), tokio::io::stdout())).await;
    // Without a client it ends at once, as it does when all ignored tests are run.
    if let Ok(service) = service {
        let _ended = service.waiting().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the test is about what it was started with")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The server. Clones share what it has seen.
#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    has_grown: Arc<AtomicBool>,
    /// Calls of `hang` that have begun, and those that were cancelled.
    hanging: Arc<watch::Sender<(u32, u32)>>,
    /// Headers of every request that brought a call.
    pub(crate) headers: Arc<Mutex<Vec<axum::http::HeaderMap>>>,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            has_grown: Arc::default(),
            hanging: Arc::new(watch::Sender::new((0, 0))),
            headers: Arc::default(),
        }
    }
}

const TOOLS: [&str; 12] = [
    "about",
    "ask",
    "both",
    "die",
    "fail",
    "grow",
    "hang",
    "look.at it",
    "open",
    "picture",
    "spawn",
    "was_cancelled",
];

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let grown = self.has_grown.load(Ordering::SeqCst).then_some("grown");
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
            "ask" | "open" => self.ask(&request.name, &context).await?,
            "both" => {
                let mut result = text("{\"n\":1}".to_owned());
                result.structured_content = Some(json!({"n": 1}));
                result
            }
            #[expect(clippy::exit, clippy::disallowed_methods, reason = "it dies as servers do")]
            "die" => std::process::exit(3),
            "fail" => CallToolResult::error(vec![ContentBlock::text("no such thing")]),
            "grow" => {
                self.has_grown.store(true, Ordering::SeqCst);
                context.peer.notify_tool_list_changed().await.unwrap();
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
            "spawn" => {
                let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
                text(child.id().to_string())
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
    /// Asks the user for a city, or sends them to an address, and says what came of it.
    async fn ask(
        &self,
        how: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let params = match how {
            "ask" => json!({"mode": "form", "message": "Which city?", "requestedSchema": {
                "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
            }}),
            _ => json!({"mode": "url", "message": "Log in", "url": "https://example.com/",
                        "elicitationId": "1"}),
        };
        let params = serde_json::from_value(params).unwrap();
        let answer = context.peer.create_elicitation(params).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(text(serde_json::to_string(&answer).unwrap()))
    }
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
