//! The listeners and their routes: the doors, health, and a JSON error for every other path.

use std::{
    future::{Future, IntoFuture},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderValue, Method, StatusCode, Uri, header},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::stream;
use serde_json::json;
use tokio::{net::TcpListener, sync::oneshot};
use trackway_a2a::GrpcServer;
use trackway_domain::ErrorCode;
use trackway_http::{HttpError, ProtocolDoor, catch_panics, origin_checks, problem_response};
use trackway_ports::{NoAuditRecorder, SharedAuditRecorder};
use trackway_runtime::{FolderWatch, Runtime};

use super::{
    AuthMode, ConnectionLimits, DataFolder, ServerError,
    connections::{ConnectionInfo, Connections, GuardedListener, connection_info, track_requests},
    nats_mesh::NatsMesh,
    server_agents::RunningAgents,
    session_retention::RetentionTask,
};
use crate::Auth;

/// A server that has bound its addresses and locked its folder.
#[derive(Debug)]
pub struct BoundServer {
    listener: BoundListener,
    grpc: Option<(BoundListener, GrpcServer)>,
    runtime: Runtime,
    folder: DataFolder,
    auth_mode: AuthMode,
    doors: Vec<ProtocolDoor>,
    retention: Option<RetentionTask>,
    audit: SharedAuditRecorder,
    nats: Option<NatsMesh>,
    /// Ends with the server.
    folder_watch: Option<FolderWatch>,
    staff: Option<RunningAgents>,
    limits: ConnectionLimits,
}

impl BoundServer {
    pub(super) fn new(
        listener: BoundListener,
        grpc: Option<(BoundListener, GrpcServer)>,
        runtime: Runtime,
        folder: DataFolder,
        entrance: AuthMode,
        doors: Vec<ProtocolDoor>,
    ) -> Result<Self, ServerError> {
        folder.write_server_note(&listener.local_url())?;
        Ok(Self {
            listener,
            grpc,
            runtime,
            folder,
            auth_mode: entrance,
            doors,
            retention: None,
            audit: Arc::new(NoAuditRecorder),
            nats: None,
            folder_watch: None,
            staff: None,
            limits: ConnectionLimits::default(),
        })
    }

    /// Sets the limits of connections.
    pub(super) fn with_connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits.cap_to_file_descriptors();
        self
    }

    /// Sets what it removes while it serves.
    pub(super) fn with_retention(mut self, retention: Option<RetentionTask>) -> Self {
        self.retention = retention;
        self
    }

    /// Sets where refusals are recorded: what waits there is stored before the store is closed.
    pub(super) fn with_audit(mut self, audit: SharedAuditRecorder) -> Self {
        self.audit = audit;
        self
    }

    /// Sets the mesh that it joins.
    pub(super) fn with_nats(mut self, nats: Option<NatsMesh>) -> Self {
        self.nats = nats;
        self
    }

    /// Sets the watch on the workflow folders.
    pub(super) fn with_folder_watch(mut self, folder_watch: Option<FolderWatch>) -> Self {
        self.folder_watch = folder_watch;
        self
    }

    /// Sets its agents.
    pub(super) fn with_running_agents(mut self, agents: Option<RunningAgents>) -> Self {
        self.staff = agents;
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// The address of gRPC for clients on this machine, if it is served.
    pub fn grpc_address(&self) -> Option<SocketAddr> {
        self.grpc.as_ref().map(|(listener, _)| loopback_if_unspecified(listener.address))
    }

    /// The address for clients on this machine.
    pub fn local_url(&self) -> String {
        self.listener.local_url()
    }

    /// Whether every caller needs a key or token.
    pub fn requires_auth(&self) -> bool {
        self.auth_mode.required
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Serves until Ctrl-C or a termination signal.
    pub async fn serve_until_interrupted(self) -> Result<(), ServerError> {
        self.serve_until(wait_for_shutdown_signal()).await
    }

    /// Serves until `end` resolves or the store fails. Streams are closed, the store is closed last.
    pub async fn serve_until(
        self,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServerError> {
        let Self {
            listener,
            grpc,
            runtime,
            folder,
            auth_mode: entrance,
            doors,
            retention,
            audit,
            nats,
            folder_watch: _watching,
            staff,
            limits,
            ..
        } = self;
        let keeper = retention.map(|retention| {
            let supervisor = runtime.supervise_background_task("retention");
            tokio::spawn(retention.prune_until_dropped(supervisor))
        });
        let AuthMode { required, is_open_to_all: everybody_is_known } = entrance;
        let app = build_door_router(&doors, required);
        let nats = match nats {
            Some(nats) => Some(nats.join_mesh(app.clone()).await?),
            None => None,
        };
        let app = track_requests(app, everybody_is_known);
        let app = app.into_make_service_with_connect_info::<ConnectionInfo>();
        let connections = Connections::new(limits);
        // Dropped when the runtime has stopped, which ends gRPC too.
        let (stopped, has_stopped) = oneshot::channel::<()>();
        let grpc = {
            let connections = connections.clone();
            async move {
                let Some((listener, services)) = grpc else { return Ok(()) };
                let end = async { drop(has_stopped.await) };
                let listener = GuardedListener::new(listener.socket, connections);
                let accepted = stream::unfold(listener, |mut listener| async {
                    let (stream, _) = listener.next_connection().await;
                    let info = connection_info(stream.connection());
                    Some(((stream, info), listener))
                });
                let wrap = |router| {
                    track_requests(require_loopback_without_auth(router, required), everybody_is_known)
                };
                services.serve_connections(accepted, wrap, end).await
            }
        };
        let listener = GuardedListener::new(listener.socket, connections);
        let stopping = {
            let runtime = runtime.clone();
            async move {
                tokio::select! {
                    () = shutdown => {}
                    () = runtime.wait_for_store_failure() => {}
                }
                doors.into_iter().for_each(ProtocolDoor::run_stop_hook);
                if let Some(keeper) = keeper {
                    keeper.abort();
                }
                if let Some(nats) = nats {
                    nats.stop().await;
                }
                audit.wait_until_recorded().await;
                runtime.stop_runtime().await;
                if let Some(staff) = staff {
                    staff.shutdown_agents().await;
                }
                drop(stopped);
            }
        };
        let http = axum::serve(listener, app).with_graceful_shutdown(stopping).into_future();
        let served = tokio::try_join!(http, grpc);
        drop(folder);
        served.map_err(ServerError::Serve)?;
        match runtime.store_failure_reason() {
            Some(reason) => Err(ServerError::StoreFailed { reason }),
            None => Ok(()),
        }
    }
}

/// A socket that connections come to.
#[derive(Debug)]
pub(super) struct BoundListener {
    socket: TcpListener,
    address: SocketAddr,
}

impl BoundListener {
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for clients on this machine.
    pub(super) fn local_url(&self) -> String {
        format!("http://{}", loopback_if_unspecified(self.address))
    }
}

/// Takes the address. Without auth only loopback is safe.
pub(super) async fn bind_listener(listen: &str, auth: &Auth) -> Result<BoundListener, ServerError> {
    let bad = |source| ServerError::Address { listen: listen.to_owned(), source };
    let mut addresses = tokio::net::lookup_host(listen).await.map_err(bad)?;
    let address = addresses.next().ok_or_else(|| bad(io::ErrorKind::AddrNotAvailable.into()))?;
    if !address.ip().is_loopback() && !auth.is_required() {
        return Err(ServerError::Exposed { address });
    }
    let socket = TcpListener::bind(address).await;
    let socket = socket.map_err(|source| ServerError::Listen { address, source })?;
    let address = socket.local_addr().map_err(ServerError::Serve)?;
    Ok(BoundListener { socket, address })
}

/// For a server that listens on every address, clients on the same machine use loopback.
fn loopback_if_unspecified(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}

/// Resolves on Ctrl-C, and on the signal by which supervisors end a process.
async fn wait_for_shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            },
            Err(_) => drop(tokio::signal::ctrl_c().await),
        }
    }
    #[cfg(not(unix))]
    drop(tokio::signal::ctrl_c().await);
}

fn build_door_router(doors: &[ProtocolDoor], is_auth_required: bool) -> Router {
    let routes = doors.iter().map(ProtocolDoor::router).fold(Router::new(), Router::merge);
    let app = routes.fallback(not_found_response).method_not_allowed_fallback(method_not_allowed_response);
    // If a key is required, a foreign page without one can do nothing.
    let app =
        require_loopback_without_auth(app, is_auth_required).layer(middleware::map_response(add_retry_after));
    catch_panics(app)
}

/// The health checks: whether the process is alive, and whether it is ready.
pub(super) fn health_router(runtime: Runtime) -> Router {
    Router::new()
        .route("/livez", get(async || Json(json!({ "status": "alive" }))))
        .route("/readyz", get(get_readiness))
        .with_state(runtime)
}

fn require_loopback_without_auth(app: Router, is_auth_required: bool) -> Router {
    if is_auth_required { app } else { app.layer(middleware::from_fn(origin_checks::local_requests_only)) }
}

async fn get_readiness(State(runtime): State<Runtime>) -> Response {
    let mut failing = runtime.failing_background_tasks();
    // Idle background work does not notice that the store is unreachable.
    if runtime.check_store_readable().await.is_err() {
        failing.push("store");
    }
    match runtime.store_failure_reason() {
        None if failing.is_empty() => Json(json!({ "status": "ready" })).into_response(),
        None => {
            let detail = format!("{} is failing and is tried again", failing.join(", "));
            HttpError::new(ErrorCode::StoreBusy, detail)
                .with_problem_member("failing", json!(failing))
                .into_response()
        }
        Some(reason) => HttpError::new(ErrorCode::StoreFailed, reason).into_response(),
    }
}

/// Adds `Retry-After` to an answer that asks the client to try again.
async fn add_retry_after(mut response: Response) -> Response {
    const SOON: HeaderValue = HeaderValue::from_static("1");
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(SOON);
    }
    response
}

async fn not_found_response(uri: Uri) -> Response {
    let detail = format!("nothing is served at {}; /a2a/agents lists the agents", uri.path());
    problem_response(StatusCode::NOT_FOUND, ErrorCode::InvalidRequest, &detail)
}

async fn method_not_allowed_response(method: Method, uri: Uri) -> Response {
    let detail = format!("{} does not accept {method}", uri.path());
    problem_response(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::InvalidRequest, &detail)
}

#[cfg(test)]
mod tests;
