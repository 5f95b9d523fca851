//! One lifetime of a server, from its start to its end.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::Path,
    process::ExitStatus,
    time::Duration,
};

use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
};
use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{PaginatedRequestParams, ProtocolVersion, Tool as RemoteTool},
    service::{
        ClientInitializeError, ClientLifecycleMode as Lifecycle, ClientServiceExt as _, RunningService,
    },
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use tokio::time::timeout;
use trackway_outgoing::operator_client;

use super::{
    client_handler::McpClientHandler,
    error_text,
    http_client::McpHttpClient,
    mcp_config::{McpServerConfig, ServerTransport},
    remote_tool_name::is_valid_tool_name,
    server_process::{ProcessOptions, ServerProcess},
    stdio_filter::filter_output,
};

/// How long closing a connection may take. Anything still open then is dropped.
/// Limit (Tools): time to close a connection to a tool server.
const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// Most pages of a tool list that are requested. A server with more is probably in a loop.
/// Limit (Tools): pages of a tool server's list of tools.
const TOOL_PAGES_MAX: usize = 64;

/// Most tools of one server. No model chooses well among more.
/// Limit (Tools): tools of one server.
const TOOLS_MAX: usize = 512;

/// A connected server.
#[derive(Debug)]
pub(super) struct McpConnection {
    service: RunningService<RoleClient, McpClientHandler>,
    /// None if the server is not our process.
    process: Option<ServerProcess>,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum ServerStartError {
    #[error("it cannot be started: {0}")]
    Spawn(#[source] io::Error),
    #[error("a header cannot be sent")]
    Header,
    #[error("its address is not a URL")]
    Address,
    #[error("no HTTP client can be made: {0}")]
    Client(#[source] reqwest::Error),
    #[error("it does not answer as an MCP server: {}", error_text::describe_initialize_error(.0))]
    Greeting(#[source] Box<ClientInitializeError>),
    #[error("it exited with {status} before it answered{words}")]
    Exited { status: ExitStatus, words: String },
    #[error("its tools cannot be listed: {}", error_text::describe_service_error(.0))]
    Tools(#[source] Box<ServiceError>),
    #[error("it was not ready within {} s", .0.as_secs())]
    Late(Duration),
}

impl McpConnection {
    /// Starts or connects to a server and initializes the session.
    pub(super) async fn connect(
        config: &McpServerConfig,
        folder: &Path,
        client: impl Fn() -> McpClientHandler,
    ) -> Result<Self, ServerStartError> {
        let greeted = Self::initialize(config, folder, client(), Lifecycle::Initialize).await;
        match greeted {
            // Servers that support only the newest protocol reject the older handshake.
            Err(ServerStartError::Greeting(error)) if is_protocol_refusal(&error) => {
                let preferred_versions = vec![ProtocolVersion::LATEST];
                let newest = Lifecycle::Discover { preferred_versions };
                Self::initialize(config, folder, client(), newest).await
            }
            greeted => greeted,
        }
    }

    async fn initialize(
        config: &McpServerConfig,
        folder: &Path,
        client: McpClientHandler,
        lifecycle: Lifecycle,
    ) -> Result<Self, ServerStartError> {
        let (command, args, env, cwd) = match &config.transport {
            ServerTransport::Stdio { command, args, env, cwd } => (command, args, env, cwd),
            ServerTransport::Http { url, headers } => {
                let transport = http_transport(url, headers)?;
                let greeted = client.serve_with_lifecycle(transport, lifecycle).await;
                let service = greeted.map_err(|error| ServerStartError::Greeting(Box::new(error)))?;
                return Ok(Self { service, process: None });
            }
        };
        let folder = cwd.as_ref().map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd));
        let server = client.server.clone();
        let start = ProcessOptions { server: &server, command, args, env, folder: &folder };
        let (mut process, output, input) = ServerProcess::spawn(&start).map_err(ServerStartError::Spawn)?;
        match client.serve_with_lifecycle((filter_output(output), input), lifecycle).await {
            Ok(service) => Ok(Self { service, process: Some(process) }),
            Err(error) if is_protocol_refusal(&error) => Err(ServerStartError::Greeting(Box::new(error))),
            // The exit status of a process says more than a broken pipe.
            Err(error) => match timeout(CLOSE_WAIT, process.wait()).await {
                Ok(Ok(status)) => {
                    Err(ServerStartError::Exited { status, words: process.last_log_line().await })
                }
                _ => Err(ServerStartError::Greeting(Box::new(error))),
            },
        }
    }

    pub(super) fn server_peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// Runs until the server ends or `stop` resolves, which may carry a reason for a restart. Returns
    /// the reason if the server must be restarted. Everything is cleaned up afterwards.
    pub(super) async fn run_until_closed(self, stop: impl Future<Output = Option<String>>) -> Option<String> {
        let Self { service, mut process } = self;
        let close = service.cancellation_token();
        let mut closed = std::pin::pin!(service.waiting());
        let mut stop = std::pin::pin!(stop);
        let ended = tokio::select! {
            _ = &mut closed => CloseReason::Closed,
            status = wait_for_exit(&mut process) => CloseReason::Exited(status),
            reason = &mut stop => CloseReason::Stopped(reason),
        };
        if !matches!(ended, CloseReason::Closed) {
            close.cancel();
            // If it takes longer, it is dropped at the end of this function.
            let _late = timeout(CLOSE_WAIT, closed).await;
        }
        let (status, words) = match process {
            Some(process) => process.terminate().await,
            None => (None, String::new()),
        };
        match (ended, status) {
            (CloseReason::Stopped(reason), _) => reason,
            (CloseReason::Exited(reason), _) => Some(format!("{reason}{words}")),
            (CloseReason::Closed, Some(status)) => Some(format!("it exited with {status}{words}")),
            (CloseReason::Closed, None) => Some("it closed the connection".to_owned()),
        }
    }
}

/// How a connection ended.
enum CloseReason {
    Closed,
    Exited(String),
    Stopped(Option<String>),
}

fn is_protocol_refusal(error: &ClientInitializeError) -> bool {
    matches!(error, ClientInitializeError::JsonRpcError(_))
}

fn http_transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<McpHttpClient>, ServerStartError> {
    let mut sent = HashMap::new();
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(|_| ServerStartError::Header)?;
        let value = HeaderValue::try_from(value).map_err(|_| ServerStartError::Header)?;
        sent.insert(name, value);
    }
    let address = Url::parse(url).map_err(|_| ServerStartError::Address)?;
    let client = operator_client(&address).map_err(ServerStartError::Client)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(sent);
    Ok(StreamableHttpClientTransport::with_client(McpHttpClient(client), config))
}

async fn wait_for_exit(process: &mut Option<ServerProcess>) -> String {
    match process {
        Some(process) => match process.wait().await {
            Ok(status) => format!("it exited with {status}"),
            Err(error) => format!("it was lost: {error}"),
        },
        None => std::future::pending().await,
    }
}

/// The tools of a server.
#[derive(Debug)]
pub(super) struct RemoteToolList {
    pub(super) tools: Vec<RemoteTool>,
    /// Names that the protocol does not allow. Offering the tool under another name would bypass the
    /// names that an operator wrote in `approvals`, so these tools are not offered.
    pub(super) left_out: Vec<String>,
}

pub(super) async fn list_remote_tools(peer: &Peer<RoleClient>) -> Result<RemoteToolList, ServerStartError> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..TOOL_PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await;
        let page = page.map_err(|error| ServerStartError::Tools(Box::new(error)))?;
        tools.extend(page.tools);
        cursor = page.next_cursor;
        if cursor.is_none() || tools.len() >= TOOLS_MAX {
            break;
        }
    }
    if cursor.is_some() || tools.len() > TOOLS_MAX {
        tracing::warn!("an MCP server has more than {TOOLS_MAX} tools; the rest are ignored");
        tools.truncate(TOOLS_MAX);
    }
    let (tools, odd) = tools.into_iter().partition(|tool: &RemoteTool| is_valid_tool_name(&tool.name));
    let left_out = Vec::into_iter(odd).map(|tool: RemoteTool| tool.name.into_owned()).collect();
    Ok(RemoteToolList { tools, left_out })
}
