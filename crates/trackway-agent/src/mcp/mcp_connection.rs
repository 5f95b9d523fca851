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
use trackway_outgoing::build_operator_client;

use super::{
    client_handler::McpClientHandler,
    mcp_config::{McpServerConfig, McpServerTransport},
    mcp_error_text,
    mcp_http_client::McpHttpClient,
    mcp_server_process::{ServerProcess, ServerProcessOptions},
    remote_tool_name::is_valid_tool_name,
    server_stdout_filter::filter_server_stdout,
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
pub(super) enum McpServerStartError {
    #[error("it cannot be started: {0}")]
    Spawn(#[source] io::Error),
    #[error("a header cannot be sent")]
    Header,
    #[error("its address is not a URL")]
    Address,
    #[error("no HTTP client can be made: {0}")]
    Client(#[source] reqwest::Error),
    #[error("it does not answer as an MCP server: {}", mcp_error_text::describe_initialize_error(.0))]
    Greeting(#[source] Box<ClientInitializeError>),
    #[error("it exited with {status} before it answered{words}")]
    Exited { status: ExitStatus, words: String },
    #[error("its tools cannot be listed: {}", mcp_error_text::describe_service_error(.0))]
    Tools(#[source] Box<ServiceError>),
    #[error("it was not ready within {} s", .0.as_secs())]
    Late(Duration),
}

impl McpConnection {
    /// Starts or connects to a server and initializes the session.
    pub(super) async fn connect_to_server(
        config: &McpServerConfig,
        folder: &Path,
        client: impl Fn() -> McpClientHandler,
    ) -> Result<Self, McpServerStartError> {
        let greeted = Self::initialize_connection(config, folder, client(), Lifecycle::Initialize).await;
        match greeted {
            // Servers that support only the newest protocol reject the older handshake.
            Err(McpServerStartError::Greeting(error)) if is_initialize_refusal(&error) => {
                let preferred_versions = vec![ProtocolVersion::LATEST];
                let newest = Lifecycle::Discover { preferred_versions };
                Self::initialize_connection(config, folder, client(), newest).await
            }
            greeted => greeted,
        }
    }

    async fn initialize_connection(
        config: &McpServerConfig,
        folder: &Path,
        client: McpClientHandler,
        lifecycle: Lifecycle,
    ) -> Result<Self, McpServerStartError> {
        let (command, args, env, cwd) = match &config.transport {
            McpServerTransport::Stdio { command, args, env, cwd } => (command, args, env, cwd),
            McpServerTransport::Http { url, headers } => {
                let transport = build_http_transport(url, headers)?;
                let greeted = client.serve_with_lifecycle(transport, lifecycle).await;
                let service = greeted.map_err(|error| McpServerStartError::Greeting(Box::new(error)))?;
                return Ok(Self { service, process: None });
            }
        };
        let folder = cwd.as_ref().map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd));
        let server = client.server.clone();
        let start = ServerProcessOptions { server: &server, command, args, env, folder: &folder };
        let (mut process, output, input) =
            ServerProcess::spawn_process(&start).map_err(McpServerStartError::Spawn)?;
        match client.serve_with_lifecycle((filter_server_stdout(output), input), lifecycle).await {
            Ok(service) => Ok(Self { service, process: Some(process) }),
            Err(error) if is_initialize_refusal(&error) => {
                Err(McpServerStartError::Greeting(Box::new(error)))
            }
            // The exit status of a process says more than a broken pipe.
            Err(error) => match timeout(CLOSE_WAIT, process.wait_for_exit_status()).await {
                Ok(Ok(status)) => {
                    Err(McpServerStartError::Exited { status, words: process.last_log_line().await })
                }
                _ => Err(McpServerStartError::Greeting(Box::new(error))),
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
            _ = &mut closed => ConnectionCloseReason::Closed,
            status = wait_for_process_exit(&mut process) => ConnectionCloseReason::Exited(status),
            reason = &mut stop => ConnectionCloseReason::Stopped(reason),
        };
        if !matches!(ended, ConnectionCloseReason::Closed) {
            close.cancel();
            // If it takes longer, it is dropped at the end of this function.
            let _late = timeout(CLOSE_WAIT, closed).await;
        }
        let (status, words) = match process {
            Some(process) => process.terminate().await,
            None => (None, String::new()),
        };
        match (ended, status) {
            (ConnectionCloseReason::Stopped(reason), _) => reason,
            (ConnectionCloseReason::Exited(reason), _) => Some(format!("{reason}{words}")),
            (ConnectionCloseReason::Closed, Some(status)) => Some(format!("it exited with {status}{words}")),
            (ConnectionCloseReason::Closed, None) => Some("it closed the connection".to_owned()),
        }
    }
}

/// How a connection ended.
enum ConnectionCloseReason {
    Closed,
    Exited(String),
    Stopped(Option<String>),
}

fn is_initialize_refusal(error: &ClientInitializeError) -> bool {
    matches!(error, ClientInitializeError::JsonRpcError(_))
}

fn build_http_transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<McpHttpClient>, McpServerStartError> {
    let mut sent = HashMap::new();
    for (name, value) in headers {
        let name = HeaderName::try_from(name).map_err(|_| McpServerStartError::Header)?;
        let value = HeaderValue::try_from(value).map_err(|_| McpServerStartError::Header)?;
        sent.insert(name, value);
    }
    let address = Url::parse(url).map_err(|_| McpServerStartError::Address)?;
    let client = build_operator_client(&address).map_err(McpServerStartError::Client)?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(sent);
    Ok(StreamableHttpClientTransport::with_client(McpHttpClient(client), config))
}

async fn wait_for_process_exit(process: &mut Option<ServerProcess>) -> String {
    match process {
        Some(process) => match process.wait_for_exit_status().await {
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

pub(super) async fn list_remote_tools(
    peer: &Peer<RoleClient>,
) -> Result<RemoteToolList, McpServerStartError> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..TOOL_PAGES_MAX {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = peer.list_tools(Some(params)).await;
        let page = page.map_err(|error| McpServerStartError::Tools(Box::new(error)))?;
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
