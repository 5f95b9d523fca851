//! Errors that prevent the start of a server or end it.

use std::net::SocketAddr;

use trackway_runtime::RegistryError;

use super::DataFolderError;
use crate::AuthError;

/// Why a server did not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error("there is no workflow {name:?} to be the default agent")]
    DefaultAgent { name: String, known: Vec<String> },
    #[error(transparent)]
    Data(#[from] DataFolderError),
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error(transparent)]
    Store(#[from] trackway_ports::OpenStoreError),
    #[error("{listen:?} is not an address to listen on (write host:port, for example 127.0.0.1:7420)")]
    Address { listen: String, source: std::io::Error },
    #[error(
        "{address} is not a loopback address; without auth Trackway listens on loopback only (set `[auth] required = true` in trackway.toml)"
    )]
    Exposed { address: SocketAddr },
    #[error("cards are signed for a configured address only, and there is none")]
    SignedWithoutAddress,
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("the runs cannot be read")]
    Read(#[source] trackway_ports::ReadError),
    #[error(transparent)]
    TokenKeys(#[from] trackway_mcp::KeyRingError),
    #[error(transparent)]
    Peers(trackway_mesh::PeerError),
    #[error(transparent)]
    Nats(#[from] trackway_nats::NatsError),
    #[error(
        "the NATS server is not on this machine; without auth, everybody who reaches it could call the agents here (set `[auth] required = true` in trackway.toml)"
    )]
    ExposedOverNats,
    #[error(transparent)]
    NodeKey(#[from] trackway_mesh::NodeKeyError),
    #[error("the client for requests cannot be built")]
    HttpClient(#[source] reqwest::Error),
    #[error("the listener failed")]
    Serve(#[source] std::io::Error),
    #[error("the store has failed: {reason}")]
    StoreFailed { reason: String },
}
