//! The listeners and what they answer: the doors, health, and a JSON error for everything else.

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
use trackway_domain::Code;
use trackway_http::{Refusal, catch_panics, origin, problem};
use trackway_runtime::{Runtime, Watching};

use super::{
    ConnectionLimits, DataFolder, Doors, Entrance, ServerError,
    agents::Employed,
    connections::{Connections, Guarded, Info, info, track},
    metrics,
    retention::Retention,
};
use crate::Auth;

/// A server that has its address and its folder.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    grpc: Option<(TcpListener, SocketAddr)>,
    runtime: Runtime,
    folder: DataFolder,
    entrance: Entrance,
    doors: Doors,
    retention: Option<Retention>,
    /// Ends with the server.
    watching: Option<Watching>,
    staff: Option<Employed>,
    limits: ConnectionLimits,
}

impl Bound {
    pub(super) fn new(
        listener: TcpListener,
        grpc: Option<TcpListener>,
        runtime: Runtime,
        folder: DataFolder,
        entrance: Entrance,
        doors: Doors,
    ) -> Result<Self, ServerError> {
        let address = listener.local_addr().map_err(ServerError::Serve)?;
        let grpc = match grpc {
            Some(listener) => {
                let address = listener.local_addr().map_err(ServerError::Serve)?;
                Some((listener, address))
            }
            None => None,
        };
        let mut bound = Self {
            listener,
            address,
            grpc,
            runtime,
            folder,
            entrance,
            doors,
            retention: None,
            watching: None,
            staff: None,
            limits: ConnectionLimits::default(),
        };
        bound.doors.a2a.base_url = bound.url();
        bound.doors.a2a.grpc_address = bound.grpc.as_ref().map(|(_, address)| address.to_string());
        bound.folder.note(&bound.url())?;
        Ok(bound)
    }

    /// What connections may take.
    pub(super) fn limiting(mut self, limits: ConnectionLimits) -> Self {
        self.limits = limits.within_descriptors();
        self
    }

    /// What it removes while it serves.
    pub(super) fn keeping(mut self, retention: Option<Retention>) -> Self {
        self.retention = retention;
        self
    }

    /// What tells it of changes in the workflow folders.
    pub(super) fn watching(mut self, watching: Option<Watching>) -> Self {
        self.watching = watching;
        self
    }

    /// Its agents.
    pub(super) fn employing(mut self, staff: Option<Employed>) -> Self {
        self.staff = staff;
        self
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// An address at which this machine reaches gRPC, if it is served.
    pub fn grpc_address(&self) -> Option<SocketAddr> {
        self.grpc.as_ref().map(|(_, address)| reachable(*address))
    }

    /// An address at which this machine reaches it.
    pub fn url(&self) -> String {
        format!("http://{}", reachable(self.address))
    }

    /// Whether nobody enters without a key or token.
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
        let Doors { a2a, mcp, .. } = doors.clone();
        let (required, everybody) = (entrance.required, entrance.gatekeeper.is_none());
        let app = track(router(runtime.clone(), doors, entrance), everybody);
        let app = app.into_make_service_with_connect_info::<Info>();
        let connections = Connections::new(limits);
        // Dropped when the runtime has stopped, which ends gRPC too.
        let (stopped, has_stopped) = oneshot::channel::<()>();
        let grpc = {
            let (runtime, connections) = (runtime.clone(), connections.clone());
            async move {
                let Some((listener, _)) = grpc else { return Ok(()) };
                let end = async { drop(has_stopped.await) };
                let listener = Guarded::new(listener, connections);
                let accepted = stream::unfold(listener, |mut listener| async {
                    let (stream, _) = listener.next().await;
                    let info = info(stream.connection());
                    Some(((stream, info), listener))
                });
                let wrap = |router| track(guarded(router, required), everybody);
                let services = trackway_a2a::grpc(runtime, a2a);
                services.serve_connections(accepted, wrap, end).await
            }
        };
        let listener = Guarded::new(listener, connections);
        let stopping = {
            let runtime = runtime.clone();
            async move {
                tokio::select! {
                    () = end => {}
                    () = runtime.failed() => {}
                }
                if let Some(mcp) = mcp {
                    mcp.stop();
                }
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

/// Takes the address. Without auth only loopback is safe.
pub(super) async fn listen(listen: &str, auth: &Auth) -> Result<TcpListener, ServerError> {
    let bad = |source| ServerError::Address { listen: listen.to_owned(), source };
    let mut addresses = tokio::net::lookup_host(listen).await.map_err(bad)?;
    let address = addresses.next().ok_or_else(|| bad(io::ErrorKind::AddrNotAvailable.into()))?;
    if !address.ip().is_loopback() && !auth.is_required() {
        return Err(ServerError::Exposed { address });
    }
    TcpListener::bind(address).await.map_err(|source| ServerError::Listen { address, source })
}

/// A server that listens on every address is reached at loopback from its own machine.
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

fn router(runtime: Runtime, doors: Doors, entrance: Entrance) -> Router {
    let Doors { a2a: options, mcp, metrics, journal } = doors;
    let Entrance { gatekeeper, required } = entrance;
    let frames = options.frames.clone();
    let body_bytes_max = options.body_bytes_max;
    let gate = gatekeeper.clone();
    let rest =
        trackway_api::Door { runtime: runtime.clone(), journal, gate, frames, body_bytes_max };
    let app = Router::new()
        .merge(health(runtime.clone()))
        .merge(metrics::router(gatekeeper, metrics))
        .merge(trackway_api::router(rest))
        .merge(trackway_a2a::router(runtime, options))
        .merge(mcp.map(|mcp| mcp.router()).unwrap_or_default())
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method);
    // Where a key is needed, a page that has none can do nothing.
    let app = guarded(app, required).layer(middleware::map_response(say_when));
    catch_panics(app)
}

/// What supervisors ask: whether the process lives, and whether it can do its work.
fn health(runtime: Runtime) -> Router {
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
    // Background work that has nothing to do does not notice that the store is away.
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

/// Whoever is told to come back is told when.
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
    let detail = format!("{} does not take {method}", uri.path());
    problem(StatusCode::METHOD_NOT_ALLOWED, Code::InvalidRequest, &detail)
}

#[cfg(test)]
mod tests;
