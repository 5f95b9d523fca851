//! The peers that people added, as a document of the key store: they may carry keys.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use trackway_domain::{ErrorCode, Timestamp};
use trackway_ports::{KeyDocumentName, KeyRevision, KeyStore, KeyStoreError};

use crate::{PeerCredentials, PeerError, PeerName};

const DOCUMENT: KeyDocumentName = KeyDocumentName::Peers;
const FORMAT: u32 = 1;

/// The added peers of a store.
#[derive(Debug, Clone)]
pub struct AddedPeers(Arc<dyn KeyStore>);

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedPeer {
    pub name: PeerName,
    /// Without a slash at its end.
    pub url: String,
    /// It is visible to this tenant only.
    pub tenant: String,
    /// The user who added it.
    pub added_by: String,
    pub added_at: Timestamp,
    pub credentials: PeerCredentials,
}

/// Why the added peers cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum AddedPeersError {
    #[error("the peers in {path} cannot be read: {source}")]
    Read { path: String, source: KeyStoreError },
    #[error("the peers in {path} cannot be read: {reason}")]
    Damaged { path: String, reason: String },
    #[error("the peers in {path} cannot be written: {source}")]
    Write { path: String, source: KeyStoreError },
}

impl AddedPeersError {
    /// The code with which doors answer.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Read { .. } | Self::Write { .. } => ErrorCode::StoreBusy,
            Self::Damaged { .. } => ErrorCode::StoreFailed,
        }
    }
}

/// The document as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPeers {
    format: u32,
    peers: Vec<StoredPeerRow>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredPeerRow {
    name: String,
    url: String,
    tenant: String,
    added_by: String,
    added_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
}

impl AddedPeers {
    pub fn in_store(store: Arc<dyn KeyStore>) -> Self {
        Self(store)
    }

    /// All of them, the oldest first.
    pub async fn load(&self) -> Result<Vec<AddedPeer>, AddedPeersError> {
        Ok(self.load_revision().await?.1)
    }

    /// The revision that [`Self::load_revision`] would return; cheap.
    pub(crate) async fn revision(&self) -> Result<Option<KeyRevision>, AddedPeersError> {
        self.0.revision(DOCUMENT).await.map_err(|source| self.read_error(source))
    }

    pub(crate) async fn load_revision(
        &self,
    ) -> Result<(Option<KeyRevision>, Vec<AddedPeer>), AddedPeersError> {
        let document = self.0.load(DOCUMENT).await.map_err(|source| self.read_error(source))?;
        let Some(document) = document else { return Ok((None, Vec::new())) };
        let damaged = |reason| AddedPeersError::Damaged { path: self.0.location(DOCUMENT), reason };
        Ok((Some(document.revision), parse_peers(&document.bytes).map_err(damaged)?))
    }

    /// Changes the peers. The change is made again if another process was faster.
    pub(crate) async fn update<T>(
        &self,
        change: impl Fn(&mut Vec<AddedPeer>) -> Result<(T, DocumentChange), PeerError>,
    ) -> Result<T, PeerError> {
        let write_error = |source| AddedPeersError::Write { path: self.0.location(DOCUMENT), source };
        loop {
            let (revision, mut peers) = self.load_revision().await?;
            let (result, document) = change(&mut peers)?;
            if document == DocumentChange::Unchanged {
                return Ok(result);
            }
            let peers = peers.iter().map(StoredPeerRow::from).collect();
            let bytes = serde_json::to_vec_pretty(&StoredPeers { format: FORMAT, peers })
                .map_err(|error| write_error(KeyStoreError::Broken { reason: error.to_string() }))?;
            match self.0.replace(DOCUMENT, revision, bytes).await {
                Ok(_) => return Ok(result),
                Err(KeyStoreError::Conflict) => {}
                Err(source) => return Err(write_error(source).into()),
            }
        }
    }

    fn read_error(&self, source: KeyStoreError) -> AddedPeersError {
        AddedPeersError::Read { path: self.0.location(DOCUMENT), source }
    }
}

/// Whether a change is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentChange {
    Changed,
    Unchanged,
}

fn parse_peers(bytes: &[u8]) -> Result<Vec<AddedPeer>, String> {
    let stored: StoredPeers = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if stored.format != FORMAT {
        return Err(format!("it has the format {}, not {FORMAT}", stored.format));
    }
    stored.peers.into_iter().map(AddedPeer::try_from).collect()
}

impl TryFrom<StoredPeerRow> for AddedPeer {
    type Error = String;

    fn try_from(row: StoredPeerRow) -> Result<Self, String> {
        let StoredPeerRow { name, url, tenant, added_by, added_at, key, headers } = row;
        Ok(Self {
            name: PeerName::new(&name).map_err(|error| error.to_string())?,
            url,
            tenant,
            added_by,
            added_at: added_at.parse()?,
            credentials: PeerCredentials { key, headers },
        })
    }
}

impl From<&AddedPeer> for StoredPeerRow {
    fn from(peer: &AddedPeer) -> Self {
        Self {
            name: peer.name.to_string(),
            url: peer.url.clone(),
            tenant: peer.tenant.clone(),
            added_by: peer.added_by.clone(),
            added_at: peer.added_at.to_string(),
            key: peer.credentials.key.clone(),
            headers: peer.credentials.headers.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
