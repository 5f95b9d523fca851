//! Why a peer cannot be used or changed.

use trackway_domain::ErrorCode;

use crate::{AddedPeersError, InvalidPeerName, PeerName};

/// Why a peer cannot be used or changed. Each prints as one sentence that is safe to show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// There is none, or none that the caller may see.
    #[error("there is no peer {name:?}")]
    Unknown { name: String },
    /// It does not answer, or its card cannot be used. It may work later.
    #[error("the peer {name} is not available: {reason}")]
    Unavailable { name: PeerName, reason: String },
    /// A new peer does not answer, or its card cannot be used.
    #[error("there is no usable agent at {url}: {reason}")]
    Unusable { url: String, reason: String },
    #[error("{url:?} is not the address of an agent: {reason}")]
    InvalidUrl { url: String, reason: String },
    #[error(transparent)]
    InvalidName(#[from] InvalidPeerName),
    #[error("the header {name:?} cannot be sent: {reason}")]
    InvalidHeader { name: String, reason: &'static str },
    #[error("there is a peer {name} already, at another address")]
    NameTaken { name: PeerName },
    #[error("this address is the peer {name} already")]
    UrlTaken { name: PeerName },
    /// A configured peer is removed from the file, a discovered one by its own node.
    #[error("the peer {name} was not added: {advice}")]
    NotAdded { name: PeerName, advice: &'static str },
    #[error("[mesh] allow and deny exclude {subject:?}")]
    Denied { subject: String },
    #[error("there are {limit} peers already; remove some first")]
    TooMany { limit: usize },
    #[error(transparent)]
    Store(#[from] AddedPeersError),
}

/// Longest unknown name that an error repeats.
/// Limit (Mesh): name in the error about an unknown peer.
const NAME_CHARS_MAX: usize = 100;

impl PeerError {
    /// There is no peer of this name, which may be any text.
    pub fn unknown(name: &str) -> Self {
        Self::Unknown { name: name.chars().take(NAME_CHARS_MAX).collect() }
    }

    /// The code with which doors answer.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown { .. } => ErrorCode::UnknownPeer,
            Self::Unavailable { .. } | Self::Unusable { .. } => ErrorCode::PeerUnavailable,
            Self::InvalidUrl { .. }
            | Self::InvalidName(_)
            | Self::InvalidHeader { .. }
            | Self::NameTaken { .. }
            | Self::UrlTaken { .. }
            | Self::TooMany { .. } => ErrorCode::InvalidInput,
            Self::NotAdded { .. } | Self::Denied { .. } => ErrorCode::InvalidRequest,
            Self::Store(error) => error.code(),
        }
    }
}
