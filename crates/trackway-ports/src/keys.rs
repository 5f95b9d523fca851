//! Keys: small secret documents that several processes read and change.

use std::fmt;

use crate::PortFuture;

/// Largest document of API keys: ten thousand keys with long names and many scopes.
/// Limit (HTTP): document of API keys.
const API_KEYS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Largest document of token keys: thousands of rotations.
/// Limit (MCP): document of token keys.
const TOKEN_KEYS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Largest document of peers: a thousand peers with their headers.
/// Limit (Mesh): document of added peers.
const PEERS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Largest document of a node's key: one key.
/// Limit (Mesh): document of the node's key.
const NODE_KEY_BYTES_MAX: usize = 4 * 1024;

/// The documents that a [`KeyStore`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyDocumentName {
    /// The callers of a server, each by the hash of its API key.
    ApiKeys,
    /// The keys that sign tokens and session bundles.
    TokenKeys,
    /// The peers that people added; they may carry keys.
    Peers,
    /// The key with which this node signs its calls to other nodes.
    NodeKey,
}

impl KeyDocumentName {
    pub const ALL: [Self; 4] = [Self::ApiKeys, Self::TokenKeys, Self::Peers, Self::NodeKey];

    /// The name under which a store keeps the document. It never changes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKeys => "keys",
            Self::TokenKeys => "token-keys",
            Self::Peers => "peers",
            Self::NodeKey => "node-key",
        }
    }

    /// The size that a document may have.
    pub const fn bytes_max(self) -> usize {
        match self {
            Self::ApiKeys => API_KEYS_BYTES_MAX,
            Self::TokenKeys => TOKEN_KEYS_BYTES_MAX,
            Self::Peers => PEERS_BYTES_MAX,
            Self::NodeKey => NODE_KEY_BYTES_MAX,
        }
    }
}

/// A version of a document. Opaque: documents with equal revisions have equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyRevision(pub [u8; 32]);

/// A document as it was loaded.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyDocument {
    pub bytes: Vec<u8>,
    pub revision: KeyRevision,
}

/// The bytes are secret and are not printed.
impl fmt::Debug for KeyDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyDocument").field("bytes", &self.bytes.len()).finish_non_exhaustive()
    }
}

/// What a store knows about a document beside its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyInspection {
    /// There is no document now, and there probably was one: somebody removed it.
    pub was_removed: bool,
    /// The permissions of the document, if they allow access to others than its owner.
    pub exposed_permissions: Option<String>,
}

/// Why keys could not be loaded or replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyStoreError {
    /// Lost the race: the document has another revision. Load it again and decide again.
    #[error("somebody else has changed the keys")]
    Conflict,
    /// Try again: nothing was written, and a later attempt can succeed.
    #[error("the keys are not available now: {reason}")]
    Unavailable { reason: String },
    /// Unknown: the answer to a replacement was lost. Load the document to see which revision it has.
    #[error("it is not known whether the keys were written: {reason}")]
    Unknown { reason: String },
    /// Never: the document is larger than [`KeyDocumentName::bytes_max`].
    #[error("it is too large")]
    TooLarge,
    /// Never: it fails again until the operator repairs the store.
    #[error("{reason}")]
    Broken { reason: String },
}

/// An answer of a store of keys.
pub type KeyFuture<'a, T> = PortFuture<'a, Result<T, KeyStoreError>>;

/// A store of small secret documents, each replaced as a whole.
///
/// After `replace` returns, the new document survives a crash. A crash, or a caller that stops waiting,
/// leaves the old document or the new one. A reader never sees a part of one. Only the owner of the store
/// can read the documents.
pub trait KeyStore: Send + Sync + fmt::Debug {
    /// The document, or `None` if there is none.
    fn load(&self, name: KeyDocumentName) -> KeyFuture<'_, Option<KeyDocument>>;

    /// The revision that `load` would return. Cheap enough for every request: a change made by any process
    /// is noticed at the next one.
    fn revision(&self, name: KeyDocumentName) -> KeyFuture<'_, Option<KeyRevision>>;

    /// Replaces the document if it still has the expected revision; `None` expects that there is no
    /// document. Of several callers that expect the same revision one succeeds, and the others get
    /// [`KeyStoreError::Conflict`].
    fn replace(
        &self,
        name: KeyDocumentName,
        expected: Option<KeyRevision>,
        bytes: Vec<u8>,
    ) -> KeyFuture<'_, KeyRevision>;

    /// What an operator should know about the document. A store that cannot tell reports nothing.
    fn inspect(&self, _name: KeyDocumentName) -> KeyFuture<'_, KeyInspection> {
        Box::pin(std::future::ready(Ok(KeyInspection::default())))
    }

    /// Where an operator finds the document; for messages.
    fn location(&self, name: KeyDocumentName) -> String;
}
