//! The listeners and their routes: the doors, health, and a JSON error for every other path.

use std::{
    future::{Future, IntoFuture},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
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
use trackway_a2a::Grpc;
use trackway_domain::Code;
use trackway_http::{Door, Refusal, catch_panics, origin, problem};
use trackway_runtime::{Runtime, Watching};

use super::{
    ConnectionLimits, DataFolder, Entrance, ServerError,
    agents::Employed,
    connections::{Connections, Guarded, Info, info, track},
    retention::Retention,
};
use crate::Auth;

/// A server that has bound its addresses and locked its folder.
#[derive(Debug)]
pub struct Bound {
    listener: Listener,
    grpc: Option<(Listener, Grpc)>,
    runtime: Runtime,
    folder: DataFolder,
    entrance: Entrance,
    doors: Vec<Door>,
    retention: Option<Retention>,
    /// Ends with the server.
    watching: Option<Watching>,
    staff: Option<Employed>,
    limits: ConnectionLimits,
}

impl Bound {
    pub(super) fn new(
        listener: Listener,
        grpc: Option<(Listener, Grpc)>,
        runtime: Runtime,
        folder: DataFolder,
        entrance: Entrance,
        doors: Vec<Door>,
    ) -> Result<Self, ServerError> {
        folder.note(&listener.url())?;
        Ok(Self {
            listener,
            grpc,
            runtime,
            folder,
            entrance,
            doors,
            retention: None,
            watching: None,
            staff: None,
            limits: ConnectionLimits::default(),
        })
    }

    /// Sets the limits of connections.
    pub(super) fn limiting(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits.within_descriptors();
        self
    }

    /// Sets what it removes while it serves.
    pub(super) fn keeping(mut self, retention: Option<Retention>) -> Self {
        self.retention = retention;
        self
    }

    /// Sets the watch on the workflow folders.
    pub(super) fn watching(mut self, watching: Option<Watching>) -> Self {
        self.watching = watching;
        self
    }

    /// Sets its agents.
    pub(super) fn employing(mut self, staff: Option<Employed>) -> Self {
        self.staff = staff;
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.listener.address
    }

    /// The address of gRPC for clients on this machine, if it is served.
    pub fn grpc_address(&self) -> Option<SocketAddr> {
        self.grpc.as_ref().map(|(listener, _)| reachable(listener.address))
    }

    /// The address for clients on this machine.
    pub fn url(&self) -> String {
        self.listener.url()
    }

    /// Whether every caller needs a key or token.
    pub fn requires_auth(&self) -> bool {
        self.entrance.required
    }

    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Serves until Ctrl-C or a termination signal.
    pub async fn serve_until_interrupted(self) -> Result<(), ServerError> {
        self.serve(interrupted()).await
    }

    /// Serves until `end` resolves or the store fails. Streams are closed, the store is closed last.
    pub async fn serve(
        self,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ServerError> {
        let Self {
            listener,
            grpc,
            runtime,
            folder,
            entrance,
            doors,
            retention,
            watching: _watching,
            staff,
            limits,
            ..
        } = self;
        let keeper = retention.map(|retention| {
            let supervisor = runtime.supervise("retention");
            tokio::spawn(retention.run(supervisor))
        });
        let Entrance { required, everybody_is_known } = entrance;
        let app = track(router(&doors, required), everybody_is_known);
        let app = app.into_make_service_with_connect_info::<Info>();
        let connections = Connections::new(limits);
        // Dropped when the runtime has stopped, which ends gRPC too.
        let (stopped, has_stopped) = oneshot::channel::<()>();
        let grpc = {
            let connections = connections.clone();
            async move {
                let Some((listener, services)) = grpc else { return Ok(()) };
                let end = async { drop(has_stopped.await) };
                let listener = Guarded::new(listener.socket, connections);
                let accepted = stream::unfold(listener, |mut listener| async {
                    let (stream, _) = listener.next().await;
                    let info = info(stream.connection());
                    Some(((stream, info), listener))
                });
                let wrap = |router| track(guarded(router, required), everybody_is_known);
                services.serve_connections(accepted, wrap, end).await
            }
        };
        let listener = Guarded::new(listener.socket, connections);
        let stopping = {
            let runtime = runtime.clone();
            async move {
                tokio::select! {
                    () = end => {}
                    () = runtime.failed() => {}
                }
                doors.into_iter().for_each(Door::stop);
                if let Some(keeper) = keeper {
                    keeper.abort();
                }
                runtime.stop().await;
                if let Some(staff) = staff {
                    staff.dismiss().await;
                }
                drop(stopped);
            }
        };
        let http = axum::serve(listener, app).with_graceful_shutdown(stopping).into_future();
        let served = tokio::try_join!(http, grpc);
        drop(folder);
        served.map_err(ServerError::Serve)?;
        match runtime.broken() {
            Some(reason) => Err(ServerError::StoreFailed { reason }),
            None => Ok(()),
        }
    }
}

/// A socket that connections come to.
#[derive(Debug)]
pub(super) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for clients on this machine.
    pub(super) fn url(&self) -> String {
        format!("http://{}", reachable(self.address))
    }
}

/// Takes the address. Without auth only loopback is safe.
pub(super) async fn listen(listen: &str, auth: &Auth) -> Result<Listener, ServerError> {
    let bad = |source| ServerError::Address { listen: listen.to_owned(), source };
    let mut addresses = tokio::net::lookup_host(listen).await.map_err(bad)?;
    let address = addresses.next().ok_or_else(|| bad(io::ErrorKind::AddrNotAvailable.into()))?;
    if !address.ip().is_loopback() && !auth.is_required() {
        return Err(ServerError::Exposed { address });
    }
    let socket = TcpListener::bind(address).await;
    let socket = socket.map_err(|source| ServerError::Listen { address, source })?;
    let address = socket.local_addr().map_err(ServerError::Serve)?;
    Ok(Listener { socket, address })
}

/// For a server that listens on every address, clients on the same machine use loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    address
}

/// Resolves on Ctrl-C, and on the signal by which supervisors end a process.
async fn interrupted() {
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

fn router(doors: &[Door], required: bool) -> Router {
    let routes = doors.iter().map(Door::router).fold(Router::new(), Router::merge);
    let app = routes.fallback(not_found).method_not_allowed_fallback(wrong_method);
    // If a key is required, a foreign page without one can do nothing.
    let app = guarded(app, required).layer(middleware::map_response(say_when));
    catch_panics(app)
}

/// The health checks: whether the process is alive, and whether it is ready.
pub(super) fn health(runtime: Runtime) -> Router {
    Router::new()
        .route("/livez", get(async || Json(json!({ "status": "alive" }))))
        .route("/readyz", get(ready))
        .with_state(runtime)
}

fn guarded(app: Router, required: bool) -> Router {
    if required { app } else { app.layer(middleware::from_fn(origin::local_only)) }
}

async fn ready(State(runtime): State<Runtime>) -> Response {
    let mut failing = runtime.failing();
    // Idle background work does not notice that the store is unreachable.
    if runtime.check_store().await.is_err() {
        failing.push("store");
    }
    match runtime.broken() {
        None if failing.is_empty() => Json(json!({ "status": "ready" })).into_response(),
        None => {
            let detail = format!("{} is failing and is tried again", failing.join(", "));
            Refusal::new(Code::StoreBusy, detail).with("failing", json!(failing)).into_response()
        }
        Some(reason) => Refusal::new(Code::StoreFailed, reason).into_response(),
    }
}

/// Adds `Retry-After` to an answer that asks the client to try again.
async fn say_when(mut response: Response) -> Response {
    const SOON: HeaderValue = HeaderValue::from_static("1");
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(SOON);
    }
    response
}

async fn not_found(uri: Uri) -> Response {
    let detail = format!("nothing is served at {}; /a2a/agents lists the agents", uri.path());
    problem(StatusCode::NOT_FOUND, Code::InvalidRequest, &detail)
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    let detail = format!("{} does not accept {method}", uri.path());
    problem(StatusCode::METHOD_NOT_ALLOWED, Code::InvalidRequest, &detail)
}

#[cfg(test)]
mod tests;
