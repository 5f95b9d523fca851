//! A listener that enforces the connection limits, and continues after a failed accept.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};

use super::{Connections, guarded_stream::GuardedStream};

/// Pause after a failed accept; it ends early when a connection is closed.
const PAUSE: Duration = Duration::from_millis(200);

/// Accepts connections under the limits.
#[derive(Debug)]
pub(in crate::server) struct GuardedListener {
    listener: TcpListener,
    connections: Arc<Connections>,
}

impl GuardedListener {
    pub(in crate::server) fn new(listener: TcpListener, connections: Arc<Connections>) -> Self {
        Self { listener, connections }
    }

    /// The next connection that has a slot.
    pub(in crate::server) async fn next_connection(&mut self) -> (GuardedStream, SocketAddr) {
        loop {
            let (stream, address) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    self.pause_after_accept_error(&error).await;
                    continue;
                }
            };
            // Streamed events are small: without this option each would wait until the previous one is
            // acknowledged.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY could not be set");
            }
            if let Some(stream) = self.admit_stream(stream).await {
                return (stream, address);
            }
            tracing::warn!("a connection was refused: known callers are busy on every one");
        }
    }

    async fn admit_stream(&self, stream: TcpStream) -> Option<GuardedStream> {
        let connection = self.connections.admit_connection().await?;
        Some(GuardedStream::new(stream, connection))
    }

    async fn pause_after_accept_error(&self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        // The client closed it before it was accepted.
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
            return;
        }
        tracing::warn!(%error, "a connection could not be accepted");
        let closed = self.connections.closed.notified();
        self.connections.evict_connection();
        let _ = tokio::time::timeout(PAUSE, closed).await;
    }
}

impl Listener for GuardedListener {
    type Io = GuardedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (GuardedStream, SocketAddr) {
        self.next_connection().await
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
