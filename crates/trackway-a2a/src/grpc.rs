//! The gRPC binding: services of both generations on a separate listener.
//!
//! Messages come from our own `.proto` files, compiled to Rust by `cargo xtask generate`. A request
//! becomes an [`AgentCall`](crate::operations::AgentCall), as in every other binding.

mod encoding_macros;
mod grpc_call;
mod grpc_connection;
mod grpc_service;
mod grpc_status;
mod in_flight_limit;
mod pb;
mod protobuf_value;
mod transport_error;
mod v03;
mod v1;

use std::{convert::Infallible, future::Future, io, sync::Arc};

use axum::{Router, serve::Listener};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tonic::{service::Routes, transport};
use tower::util::MapResponseLayer;
use trackway_runtime::Runtime;

use self::grpc_connection::GrpcConnection;
pub(crate) use self::in_flight_limit::InFlightBytesLimit;
use crate::{Options, server::A2aServer};

/// Concurrent requests and streams on one connection. Clients use one connection for everything.
/// Further requests wait for the client's own earlier ones.
/// Limit (A2A): requests and streams at once on one gRPC connection.
const STREAMS_MAX: u32 = 2_000;

/// Serves every registered workflow over gRPC: by tenant in 1.0, the default agent in 0.3.
pub fn grpc_server(runtime: Runtime, options: Options) -> GrpcServer {
    GrpcServer { door: A2aServer::new(runtime, options) }
}

/// The gRPC services, ready to be served.
#[derive(Debug)]
pub struct GrpcServer {
    door: Arc<A2aServer>,
}

impl GrpcServer {
    /// Serves until `end` resolves and the streams that are open then have ended.
    pub async fn serve_listener(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let connections = accept_tcp_connections(listener).map(|stream| (stream, ()));
        self.serve_connections(connections, |router| router, end).await
    }

    /// The same on connections that the caller accepts. The data of a connection becomes an extension
    /// of each of its requests; `wrap` adds layers that see them.
    pub async fn serve_connections<IO, I>(
        self,
        connections: impl Stream<Item = (IO, I)>,
        wrap: impl FnOnce(Router) -> Router,
        end: impl Future<Output = ()>,
    ) -> io::Result<()>
    where
        IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        I: Clone + Send + Sync + Unpin + 'static,
    {
        let options = &self.door.options;
        let body_bytes_max = options.body_bytes_max;
        let server = transport::Server::builder()
            // Pings keep a silent stream alive; they are not messages.
            .http2_keepalive_interval(Some(options.heartbeat))
            .max_concurrent_streams(STREAMS_MAX)
            .layer(MapResponseLayer::new(move |response| {
                transport_error::replace_transport_error(response, body_bytes_max)
            }));
        let routes = Routes::from(wrap(self.grpc_router()));
        let connections = connections.map(|(io, info)| Ok::<_, Infallible>(GrpcConnection { io, info }));
        server
            .serve_with_incoming_shutdown(routes.prepare(), connections, end)
            .await
            .map_err(io::Error::other)
    }

    fn grpc_router(&self) -> Router {
        let mut routes = Routes::default();
        if self.door.options.grpc_reflection {
            routes = add_reflection(routes);
        }
        routes
            .into_axum_router()
            .merge(v1::grpc_v1_router(self.door.clone()))
            .merge(v03::grpc_v03_router(self.door.clone()))
    }
}

/// Lets tools list the services and messages, with the old and the new reflection protocol.
fn add_reflection(routes: Routes) -> Routes {
    let builder = || {
        tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(pb::DESCRIPTORS)
    };
    let ours = "the descriptors are generated from our own files";
    routes.add_service(builder().build_v1().expect(ours)).add_service(builder().build_v1alpha().expect(ours))
}

/// Accepted connections. The listener itself waits after a failure to accept.
fn accept_tcp_connections(listener: TcpListener) -> impl Stream<Item = TcpStream> {
    stream::unfold(listener, |mut listener| async {
        let (connection, _) = Listener::accept(&mut listener).await;
        // Streamed events are small. Without this each event would wait until the previous one is
        // acknowledged.
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        Some((connection, listener))
    })
}
