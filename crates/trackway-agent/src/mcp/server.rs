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
    client::Client,
    config::ServerConfig,
    connection::{Connection, StartError, ToolList, list_tools},
    question::Desk,
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
pub enum Phase {
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
pub(super) struct Shown {
    pub(super) phase: Phase,
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
pub(super) struct Server {
    pub(super) name: String,
    pub(super) config: ServerConfig,
    folder: PathBuf,
    pub(super) desk: Arc<Desk>,
    tools_changed: Arc<Notify>,
    shown: watch::Sender<Shown>,
    stop: watch::Sender<bool>,
    /// Notified when it hangs: it is ended and restarted.
    hung: Notify,
    /// Incremented when the visible state of any server changes; shared by all of them.
    generation: watch::Sender<u64>,
    /// Locked only to take or set it.
    task: RwLock<Option<tokio::task::JoinHandle<()>>>,
}

impl Server {
    /// Begins to start it.
    pub(super) fn start(
        name: String,
        config: ServerConfig,
        folder: PathBuf,
        generation: watch::Sender<u64>,
    ) -> Arc<Self> {
        let shown = Shown {
            phase: Phase::Starting,
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
            desk: Arc::default(),
            tools_changed: Arc::default(),
            shown: watch::Sender::new(shown),
            stop: watch::Sender::new(false),
            hung: Notify::new(),
            generation,
            task: RwLock::new(None),
        });
        let task = tokio::spawn(server.clone().keep());
        *server.task.write().unwrap_or_else(PoisonError::into_inner) = Some(task);
        server
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown.borrow().clone()
    }

    /// Waits until it has answered or failed for the first time.
    pub(super) async fn settled(&self) {
        let is_settled = |shown: &Shown| shown.phase != Phase::Starting;
        let mut shown = self.shown.subscribe();
        // We own the sender, so it cannot be gone.
        let _settled = shown.wait_for(is_settled).await;
    }

    /// The connection for a call. Waits while the server starts, for at most the time of a call.
    pub(super) async fn peer(&self) -> Result<Peer<RoleClient>, Failure> {
        // A server that does not come back still has the reason of its end.
        let _late = timeout(self.call_timeout(), self.settled()).await;
        let shown = self.shown();
        shown.peer.ok_or_else(|| {
            let reason = shown.reason.unwrap_or_else(|| match shown.phase {
                Phase::Starting => "it is still being started".to_owned(),
                Phase::Ready | Phase::Down | Phase::Stopped => "it was stopped".to_owned(),
            });
            Failure::new(format!("the MCP server `{}` is not running: {reason}", self.name))
        })
    }

    /// How long a call may take.
    pub(super) fn call_timeout(&self) -> Duration {
        self.config.call_timeout.unwrap_or(CALL_TIMEOUT_DEFAULT)
    }

    /// Ends it, and waits until it has.
    pub(super) async fn stop(&self) {
        self.stop.send_replace(true);
        let task = self.task.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            // The task does not panic; if it did, it has ended too.
            let _over = task.await;
        }
    }

    /// A call timed out. Asks the server for its tools. If it does not answer this either, it hangs and
    /// is restarted; until then its calls fail immediately.
    pub(super) async fn check(&self, peer: &Peer<RoleClient>) {
        let params = PaginatedRequestParams::default();
        let wait = self.call_timeout().min(PROBE_TIMEOUT);
        if timeout(wait, peer.list_tools(Some(params))).await.is_ok() {
            return;
        }
        let mut is_new = false;
        self.show(|shown| {
            is_new = shown.phase == Phase::Ready;
            if is_new {
                shown.phase = Phase::Down;
                shown.peer = None;
                shown.reason = Some(HUNG.to_owned());
            }
        });
        if is_new {
            self.hung.notify_one();
        }
    }

    /// Begins to end it, without waiting.
    pub(super) fn abandon(&self) {
        self.stop.send_replace(true);
    }

    async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        // We own the sender, so it cannot be gone.
        let _stopped = stop.wait_for(|stopped| *stopped).await;
    }

    /// None if it is no longer needed, else the reason for a restart.
    async fn stopped_or_hung(&self) -> Option<String> {
        tokio::select! {
            () = self.stopped() => None,
            () = self.hung.notified() => Some(HUNG.to_owned()),
        }
    }

    /// The whole lifetime of the server: as many starts as necessary, until it is no longer needed.
    async fn keep(self: Arc<Self>) {
        let mut failures = 0;
        loop {
            self.show(|shown| {
                shown.phase = Phase::Starting;
                shown.starts += 1;
            });
            let started = tokio::select! {
                started = self.open() => started,
                () = self.stopped() => break,
            };
            let reason = match started {
                Ok((connection, tools)) => {
                    let began = Instant::now();
                    tracing::info!(
                        server = self.name,
                        tools = tools.tools.len(),
                        "the MCP server is ready"
                    );
                    match self.serve(connection, tools).await {
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
            let wait = backoff(failures);
            tracing::warn!(server = self.name, ?wait, "the MCP server is down: {reason}");
            self.show(|shown| {
                shown.phase = Phase::Down;
                shown.peer = None;
                shown.reason = Some(reason);
            });
            tokio::select! {
                () = sleep(wait) => {}
                () = self.stopped() => break,
            }
        }
        self.show(|shown| {
            shown.phase = Phase::Stopped;
            shown.peer = None;
            shown.reason = None;
        });
    }

    async fn open(&self) -> Result<(Connection, ToolList), StartError> {
        let client = || Client {
            server: self.name.clone(),
            desk: self.desk.clone(),
            tools_changed: self.tools_changed.clone(),
        };
        let start = async {
            let connection = Connection::open(&self.config, &self.folder, client).await?;
            let tools = list_tools(&connection.peer()).await?;
            Ok((connection, tools))
        };
        timeout(START_TIMEOUT, start).await.map_err(|_| StartError::Late(START_TIMEOUT))?
    }

    /// Serves calls until the server ends, and returns why; or until it is no longer needed.
    async fn serve(&self, connection: Connection, tools: ToolList) -> Option<String> {
        let peer = connection.peer();
        self.keep_list(tools);
        self.show(|shown| {
            shown.phase = Phase::Ready;
            shown.peer = Some(peer.clone());
            shown.reason = None;
        });
        tokio::select! {
            ended = connection.run(self.stopped_or_hung()) => ended,
            never = self.keep_tools(&peer) => match never {},
        }
    }

    /// Keeps the list of tools up to date.
    async fn keep_tools(&self, peer: &Peer<RoleClient>) -> Infallible {
        tokio::join!(self.list_again(peer), self.subscribe(peer)).0
    }

    /// Servers of the newest protocol announce changed tools only to clients that subscribed.
    async fn subscribe(&self, peer: &Peer<RoleClient>) {
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
    async fn list_again(&self, peer: &Peer<RoleClient>) -> Infallible {
        loop {
            self.tools_changed.notified().await;
            match timeout(LIST_TIMEOUT, list_tools(peer)).await {
                Ok(Ok(tools)) => self.keep_list(tools),
                Ok(Err(error)) => tracing::warn!(server = self.name, "{error}"),
                Err(_) => tracing::warn!(server = self.name, "its tools were not listed in time"),
            }
        }
    }

    fn keep_list(&self, list: ToolList) {
        let ToolList { tools, left_out } = list;
        if !left_out.is_empty() {
            tracing::warn!(
                server = self.name,
                ?left_out,
                "tools with names that the protocol does not allow are left out"
            );
        }
        self.show(|shown| {
            shown.tools = tools.into();
            shown.left_out = left_out.into();
        });
    }

    fn show(&self, change: impl FnOnce(&mut Shown)) {
        self.shown.send_modify(change);
        self.generation.send_modify(|generation| *generation += 1);
    }
}

/// The wait after this many failures in a row, starting at 1.
fn backoff(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (RESTART_PAUSE_FIRST * 2_u32.pow(doublings)).min(RESTART_PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_stay_bounded() {
        assert_eq!(backoff(1), RESTART_PAUSE_FIRST);
        assert_eq!(backoff(2), RESTART_PAUSE_FIRST * 2);
        assert_eq!(backoff(8), RESTART_PAUSE_MAX);
        assert_eq!(backoff(u32::MAX), RESTART_PAUSE_MAX);
    }
}
