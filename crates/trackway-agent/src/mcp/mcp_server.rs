//! One server for the whole process: started once, watched, restarted when it ends.

use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use rmcp::{
    Peer, RoleClient,
    model::{PaginatedRequestParams, ServerPeerInfo, SubscriptionFilter, Tool as RemoteTool},
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, timeout},
};
use trackway_domain::Failure;

use super::{
    client_handler::McpClientHandler,
    elicitation::ActiveServerCalls,
    mcp_config::McpServerConfig,
    mcp_connection::{McpConnection, McpServerStartError, RemoteToolList, list_remote_tools},
};

/// How long a server may take from its start to its list of tools. Launchers that first download a
/// package are slow.
/// Limit (Tools): time from the start of a tool server to its list of tools.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a server may take to list its tools again.
/// Limit (Tools): time in which a tool server lists its tools again.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server may take to respond to anything after one of its calls timed out. A server that
/// stays silent is restarted.
///
/// Limit (Tools): time in which an MCP server has to answer at all after a call timed out.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call may take unless the workspace sets another time. The time in which the user is asked
/// does not count.
/// Limit (Tools): time of one call to a tool server, unless `timeout` of the server's entry says otherwise.
const CALL_TIMEOUT_DEFAULT: Duration = Duration::from_secs(120);

/// The wait after a first failure. Most servers that end once do not end again immediately.
/// Limit (Tools): pause before a tool server is restarted the first time.
const RESTART_PAUSE_FIRST: Duration = Duration::from_millis(500);

/// The longest wait. A server that was repaired is available again within this time.
/// Limit (Tools): pause before a tool server is restarted.
const RESTART_PAUSE_MAX: Duration = Duration::from_secs(60);

/// After this uptime the failure count starts again.
const STEADY: Duration = Duration::from_secs(60);

/// The phase of a server's lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpServerPhase {
    Starting,
    Ready,
    /// It ended or did not start, and is restarted after a pause.
    Down,
    /// It is no longer needed.
    Stopped,
}

const HUNG: &str = "it stopped answering and is restarting";

/// The current state of a server.
#[derive(Debug, Clone)]
pub(super) struct McpServerState {
    pub(super) phase: McpServerPhase,
    /// Present while it is ready.
    peer: Option<Peer<RoleClient>>,
    /// Kept while it is down, so that a call reports that instead of an unknown tool.
    pub(super) tools: Arc<[RemoteTool]>,
    /// Names of tools that are not offered, because the protocol does not allow these names.
    pub(super) left_out: Arc<[String]>,
    /// Why it is down.
    pub(super) reason: Option<String>,
    /// How often it was started, including this time.
    pub(super) starts: u32,
}

/// A server of the workspace.
#[derive(Debug)]
pub(super) struct McpServer {
    pub(super) name: String,
    pub(super) config: McpServerConfig,
    folder: PathBuf,
    pub(super) active_calls: Arc<ActiveServerCalls>,
    tools_changed: Arc<Notify>,
    state: watch::Sender<McpServerState>,
    stop: watch::Sender<bool>,
    /// Notified when it hangs: it is ended and restarted.
    hung: Notify,
    /// Incremented when the visible state of any server changes; shared by all of them.
    generation: watch::Sender<u64>,
    /// Locked only to take or set it.
    task: RwLock<Option<tokio::task::JoinHandle<()>>>,
}

impl McpServer {
    /// Begins to start it.
    pub(super) fn spawn_supervised_server(
        name: String,
        config: McpServerConfig,
        folder: PathBuf,
        generation: watch::Sender<u64>,
    ) -> Arc<Self> {
        let shown = McpServerState {
            phase: McpServerPhase::Starting,
            peer: None,
            tools: Arc::new([]),
            left_out: Arc::new([]),
            reason: None,
            starts: 0,
        };
        let server = Arc::new(Self {
            name,
            config,
            folder,
            active_calls: Arc::default(),
            tools_changed: Arc::default(),
            state: watch::Sender::new(shown),
            stop: watch::Sender::new(false),
            hung: Notify::new(),
            generation,
            task: RwLock::new(None),
        });
        let task = tokio::spawn(server.clone().supervise_until_stopped());
        *server.task.write().unwrap_or_else(PoisonError::into_inner) = Some(task);
        server
    }

    pub(super) fn current_state(&self) -> McpServerState {
        self.state.borrow().clone()
    }

    /// Waits until it has answered or failed for the first time.
    pub(super) async fn wait_until_started(&self) {
        let is_settled = |shown: &McpServerState| shown.phase != McpServerPhase::Starting;
        let mut shown = self.state.subscribe();
        // We own the sender, so it cannot be gone.
        let _settled = shown.wait_for(is_settled).await;
    }

    /// The connection for a call. Waits while the server starts, for at most the time of a call.
    pub(super) async fn connected_peer(&self) -> Result<Peer<RoleClient>, Failure> {
        // A server that does not come back still has the reason of its end.
        let _late = timeout(self.call_timeout(), self.wait_until_started()).await;
        let shown = self.current_state();
        shown.peer.ok_or_else(|| {
            let reason = shown.reason.unwrap_or_else(|| match shown.phase {
                McpServerPhase::Starting => "it is still being started".to_owned(),
                McpServerPhase::Ready | McpServerPhase::Down | McpServerPhase::Stopped => {
                    "it was stopped".to_owned()
                }
            });
            Failure::new(format!("the MCP server `{}` is not running: {reason}", self.name))
        })
    }

    /// How long a call may take.
    pub(super) fn call_timeout(&self) -> Duration {
        self.config.call_timeout.unwrap_or(CALL_TIMEOUT_DEFAULT)
    }

    /// Ends it, and waits until it has.
    pub(super) async fn stop_and_wait(&self) {
        self.stop.send_replace(true);
        let task = self.task.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // The task does not panic; if it did, it has ended too.
            let _over = task.await;
        }
    }

    /// A call timed out. Asks the server for its tools. If it does not answer this either, it hangs and
    /// is restarted; until then its calls fail immediately.
    pub(super) async fn probe_after_timeout(&self, peer: &Peer<RoleClient>) {
        let params = PaginatedRequestParams::default();
        let wait = self.call_timeout().min(PROBE_TIMEOUT);
        if timeout(wait, peer.list_tools(Some(params))).await.is_ok() {
            return;
        }
        let mut is_new = false;
        self.update_state_and_notify(|shown| {
            is_new = shown.phase == McpServerPhase::Ready;
            if is_new {
                shown.phase = McpServerPhase::Down;
                shown.peer = None;
                shown.reason = Some(HUNG.to_owned());
            }
        });
        if is_new {
            self.hung.notify_one();
        }
    }

    /// Begins to end it, without waiting.
    pub(super) fn stop_without_waiting(&self) {
        self.stop.send_replace(true);
    }

    async fn wait_for_stop_request(&self) {
        let mut stop = self.stop.subscribe();
        // We own the sender, so it cannot be gone.
        let _stopped = stop.wait_for(|stopped| *stopped).await;
    }

    /// None if it is no longer needed, else the reason for a restart.
    async fn wait_for_stop_or_hang(&self) -> Option<String> {
        tokio::select! {
            () = self.wait_for_stop_request() => None,
            () = self.hung.notified() => Some(HUNG.to_owned()),
        }
    }

    /// The whole lifetime of the server: as many starts as necessary, until it is no longer needed.
    async fn supervise_until_stopped(self: Arc<Self>) {
        let mut failures = 0;
        loop {
            self.update_state_and_notify(|shown| {
                shown.phase = McpServerPhase::Starting;
                shown.starts += 1;
            });
            let started = tokio::select! {
                started = self.connect_and_list_tools() => started,
                () = self.wait_for_stop_request() => break,
            };
            let reason = match started {
                Ok((connection, tools)) => {
                    let began = Instant::now();
                    tracing::info!(server = self.name, tools = tools.tools.len(), "the MCP server is ready");
                    match self.serve_connection(connection, tools).await {
                        Some(reason) => {
                            failures = if began.elapsed() >= STEADY { 0 } else { failures };
                            reason
                        }
                        None => break,
                    }
                }
                Err(error) => error.to_string(),
            };
            failures += 1;
            let wait = restart_backoff(failures);
            tracing::warn!(server = self.name, ?wait, "the MCP server is down: {reason}");
            self.update_state_and_notify(|shown| {
                shown.phase = McpServerPhase::Down;
                shown.peer = None;
                shown.reason = Some(reason);
            });
            tokio::select! {
                () = sleep(wait) => {}
                () = self.wait_for_stop_request() => break,
            }
        }
        self.update_state_and_notify(|shown| {
            shown.phase = McpServerPhase::Stopped;
            shown.peer = None;
            shown.reason = None;
        });
    }

    async fn connect_and_list_tools(&self) -> Result<(McpConnection, RemoteToolList), McpServerStartError> {
        let client = || McpClientHandler {
            server: self.name.clone(),
            active_calls: self.active_calls.clone(),
            tools_changed: self.tools_changed.clone(),
        };
        let start = async {
            let connection = McpConnection::connect_to_server(&self.config, &self.folder, client).await?;
            let tools = list_remote_tools(&connection.server_peer()).await?;
            Ok((connection, tools))
        };
        timeout(START_TIMEOUT, start).await.map_err(|_| McpServerStartError::Late(START_TIMEOUT))?
    }

    /// Serves calls until the server ends, and returns why; or until it is no longer needed.
    async fn serve_connection(&self, connection: McpConnection, tools: RemoteToolList) -> Option<String> {
        let peer = connection.server_peer();
        self.store_tool_list(tools);
        self.update_state_and_notify(|shown| {
            shown.phase = McpServerPhase::Ready;
            shown.peer = Some(peer.clone());
            shown.reason = None;
        });
        tokio::select! {
            ended = connection.run_until_closed(self.wait_for_stop_or_hang()) => ended,
            never = self.watch_tool_list(&peer) => match never {},
        }
    }

    /// Keeps the list of tools up to date.
    async fn watch_tool_list(&self, peer: &Peer<RoleClient>) -> Infallible {
        tokio::join!(self.refresh_tools_on_change(peer), self.subscribe_tool_changes(peer)).0
    }

    /// Servers of the newest protocol announce changed tools only to clients that subscribed.
    async fn subscribe_tool_changes(&self, peer: &Peer<RoleClient>) {
        let has_initialize = |info: Arc<ServerPeerInfo>| info.protocol_version.has_initialize();
        if peer.peer_info().is_none_or(has_initialize) {
            return;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let Ok(mut subscription) = peer.listen(filter).await else { return };
        while let Ok(Some(_)) = subscription.next().await {
            self.tools_changed.notify_one();
        }
    }

    /// Lists the tools again each time the server announces a change.
    async fn refresh_tools_on_change(&self, peer: &Peer<RoleClient>) -> Infallible {
        loop {
            self.tools_changed.notified().await;
            match timeout(LIST_TIMEOUT, list_remote_tools(peer)).await {
                Ok(Ok(tools)) => self.store_tool_list(tools),
                Ok(Err(error)) => tracing::warn!(server = self.name, "{error}"),
                Err(_) => tracing::warn!(server = self.name, "its tools were not listed in time"),
            }
        }
    }

    fn store_tool_list(&self, list: RemoteToolList) {
        let RemoteToolList { tools, left_out } = list;
        if !left_out.is_empty() {
            tracing::warn!(
                server = self.name,
                ?left_out,
                "tools with names that the protocol does not allow are left out"
            );
        }
        self.update_state_and_notify(|shown| {
            shown.tools = tools.into();
            shown.left_out = left_out.into();
        });
    }

    fn update_state_and_notify(&self, change: impl FnOnce(&mut McpServerState)) {
        self.state.send_modify(change);
        self.generation.send_modify(|generation| *generation += 1);
    }
}

/// The wait after this many failures in a row, starting at 1.
fn restart_backoff(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (RESTART_PAUSE_FIRST * 2_u32.pow(doublings)).min(RESTART_PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        assert_eq!(restart_backoff(1), RESTART_PAUSE_FIRST);
        assert_eq!(restart_backoff(2), RESTART_PAUSE_FIRST * 2);
        assert_eq!(restart_backoff(8), RESTART_PAUSE_MAX);
        assert_eq!(restart_backoff(u32::MAX), RESTART_PAUSE_MAX);
    }
}
