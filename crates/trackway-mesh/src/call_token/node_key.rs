//! The key of this node, a document of the store: made by whoever needs it first.

use std::{
    fmt, io,
    sync::{Arc, Mutex, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{SECRET_KEY_LENGTH, Signer as _, SigningKey};
use serde::{Deserialize, Serialize};
use trackway_ports::{KeyDocumentName, KeyRevision, KeyStore, KeyStoreError};

use super::NodePublicKey;

const DOCUMENT: KeyDocumentName = KeyDocumentName::NodeKey;
const FORMAT: u32 = 1;

/// The key of this node in its store. All processes of one store are one node.
#[derive(Debug, Clone)]
pub struct NodeKeys {
    store: Arc<dyn KeyStore>,
    /// The key as it was last loaded. A `std` mutex: it is held for a copy only.
    cached: Arc<Mutex<Option<(KeyRevision, NodeKey)>>>,
}

/// Why the node's key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NodeKeyError {
    #[error("the key of this node in {path} cannot be read")]
    Read { path: String, source: KeyStoreError },
    #[error("the key of this node in {path} cannot be read: {reason}")]
    Damaged { path: String, reason: String },
    #[error("the key of this node in {path} cannot be written")]
    Write { path: String, source: KeyStoreError },
    #[error("the operating system gives no random numbers")]
    Random(#[source] io::Error),
}

/// A node's key. Its secret half is not printed.
#[derive(Clone)]
pub(super) struct NodeKey(SigningKey);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredNodeKey {
    format: u32,
    /// Base64url.
    secret_key: String,
}

impl NodeKeys {
    pub fn in_store(store: Arc<dyn KeyStore>) -> Self {
        Self { store, cached: Arc::default() }
    }

    /// The public half of the key; the key is made if there is none.
    pub async fn public_key(&self) -> Result<NodePublicKey, NodeKeyError> {
        Ok(self.load_or_create().await?.public_key())
    }

    /// The key, made if there is none. Of several that come at once, all get the key of the first.
    pub(super) async fn load_or_create(&self) -> Result<NodeKey, NodeKeyError> {
        let stored = self.store.revision(DOCUMENT).await.map_err(|source| self.read_error(source))?;
        if let (Some(stored), Some((revision, key))) = (stored, self.cached_key())
            && stored == revision
        {
            return Ok(key);
        }
        loop {
            if let Some((revision, key)) = self.load().await? {
                self.remember_key(revision, &key);
                return Ok(key);
            }
            let key = NodeKey::generate()?;
            match self.store.replace(DOCUMENT, None, key.to_document()).await {
                Ok(revision) => {
                    self.remember_key(revision, &key);
                    return Ok(key);
                }
                // Somebody else was faster, or it is not known who was: the stored key counts.
                Err(KeyStoreError::Conflict | KeyStoreError::Unknown { .. }) => {}
                Err(source) => {
                    return Err(NodeKeyError::Write { path: self.store.location(DOCUMENT), source });
                }
            }
        }
    }

    async fn load(&self) -> Result<Option<(KeyRevision, NodeKey)>, NodeKeyError> {
        let document = self.store.load(DOCUMENT).await.map_err(|source| self.read_error(source))?;
        let Some(document) = document else { return Ok(None) };
        let key = NodeKey::from_document(&document.bytes)
            .map_err(|reason| NodeKeyError::Damaged { path: self.store.location(DOCUMENT), reason })?;
        Ok(Some((document.revision, key)))
    }

    fn cached_key(&self) -> Option<(KeyRevision, NodeKey)> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember_key(&self, revision: KeyRevision, key: &NodeKey) {
        *self.cached.lock().unwrap_or_else(PoisonError::into_inner) = Some((revision, key.clone()));
    }

    fn read_error(&self, source: KeyStoreError) -> NodeKeyError {
        NodeKeyError::Read { path: self.store.location(DOCUMENT), source }
    }
}

impl NodeKey {
    fn generate() -> Result<Self, NodeKeyError> {
        let mut secret = [0; SECRET_KEY_LENGTH];
        getrandom::fill(&mut secret).map_err(|error| NodeKeyError::Random(io::Error::other(error)))?;
        Ok(Self::from_secret(secret))
    }

    pub(super) fn from_secret(secret: [u8; SECRET_KEY_LENGTH]) -> Self {
        Self(SigningKey::from_bytes(&secret))
    }

    pub(super) fn public_key(&self) -> NodePublicKey {
        NodePublicKey::new(self.0.verifying_key())
    }

    pub(super) fn sign(&self, text: &[u8]) -> [u8; 64] {
        self.0.sign(text).to_bytes()
    }

    pub(super) fn to_document(&self) -> Vec<u8> {
        let secret_key = URL_SAFE_NO_PAD.encode(self.0.as_bytes());
        // A number and a text always have JSON.
        serde_json::to_vec_pretty(&StoredNodeKey { format: FORMAT, secret_key }).unwrap_or_default()
    }

    pub(super) fn from_document(bytes: &[u8]) -> Result<Self, String> {
        // The parser's message is dropped: it may repeat the secret.
        let stored: StoredNodeKey = serde_json::from_slice(bytes).map_err(|error| {
            format!("it is not of its form at line {}, column {}", error.line(), error.column())
        })?;
        if stored.format != FORMAT {
            return Err(format!("it has the format {}, not {FORMAT}", stored.format));
        }
        let secret = URL_SAFE_NO_PAD.decode(&stored.secret_key).ok();
        let secret = secret.and_then(|secret| secret.try_into().ok());
        secret.map(Self::from_secret).ok_or_else(|| "its key does not have 32 bytes".to_owned())
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeKey").field(&self.public_key()).finish()
    }
}
