//! One client on standard input and output: the process belongs to the client and ends with it.

mod line_transport;
mod stdio_batches;

use rmcp::{
    serve_server,
    service::{QuitReason, ServerInitializeError},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use crate::{McpDoor, stdio::line_transport::JsonLineTransport};

/// Why the connection to a client failed.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the client's greeting was not understood")]
    Handshake(#[source] Box<ServerInitializeError>),
    #[error("serving broke off: {reason}")]
    Disconnected { reason: String },
}

impl McpDoor {
    /// Serves the client at the other end of standard input and output until it closes its side.
    /// Nothing else may be written to standard output.
    pub async fn serve_stdio(self) -> Result<(), StdioError> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.serve_line_streams(read, write).await
    }

    /// Serves one client on a pair of streams, one JSON-RPC message per line.
    pub async fn serve_line_streams<R, W>(self, read: R, write: W) -> Result<(), StdioError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (gone, is_gone) = watch::channel(false);
        let transport = JsonLineTransport::new(read, write, gone);
        let serving = match serve_server(self.with_client_disconnect_signal(is_gone), transport).await {
            Ok(serving) => serving,
            // A client that disconnects before its first request is not an error.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(StdioError::Handshake(Box::new(error))),
        };
        match serving.waiting().await {
            Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
            Ok(other) => Err(StdioError::Disconnected { reason: format!("{other:?}") }),
            Err(error) => Err(StdioError::Disconnected { reason: error.to_string() }),
        }
    }
}

#[cfg(test)]
mod tests;
