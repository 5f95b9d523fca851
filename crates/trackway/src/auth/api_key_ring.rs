//! The keys that a running server takes: those of its configuration, and those of its store as they are
//! now.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use trackway_ports::{Identity, KeyRevision, Unauthenticated};

use super::{
    AuthError,
    api_key::{ApiKey, ApiKeyHash},
    api_keys::{ApiKeys, StoredKey},
};

type IdentityByHash = HashMap<ApiKeyHash, Identity>;

#[derive(Debug)]
pub(super) struct ApiKeyRing {
    configured: IdentityByHash,
    stored: ApiKeys,
    /// A `std` lock: it is held for a moment, and never while the store is asked.
    snapshot: Mutex<KeySnapshot>,
    /// Held while keys are loaded, so that earlier ones do not replace later ones.
    loading: tokio::sync::Mutex<()>,
}

/// The keys of the store when they were loaded last.
#[derive(Debug)]
struct KeySnapshot {
    /// `None` if the store did not answer.
    revision: Option<Option<KeyRevision>>,
    /// `None` if they could not be read: then nobody knows which of them were revoked.
    keys: Option<IdentityByHash>,
}

impl ApiKeyRing {
    pub(super) async fn open(configured: &[ApiKey], stored: ApiKeys) -> Result<Self, AuthError> {
        let mut known = IdentityByHash::new();
        for (at, key) in configured.iter().enumerate() {
            if configured[..at].iter().any(|other| other.id == key.id) {
                return Err(AuthError::SameId { id: key.id.clone() });
            }
            if known.insert(key.hash, identity_of_api_key(key)).is_some() {
                let first = configured.iter().find(|other| other.hash == key.hash).unwrap_or(key);
                let (first, second) = (first.id.clone(), key.id.clone());
                return Err(AuthError::SameKey { first, second });
            }
        }
        let (revision, keys) = stored.load_revision().await?;
        let snapshot =
            Mutex::new(KeySnapshot { revision: Some(revision), keys: Some(index_by_hash(&keys?)) });
        Ok(Self { configured: known, stored, snapshot, loading: tokio::sync::Mutex::default() })
    }

    pub(super) fn has_no_keys(&self) -> bool {
        let snapshot = self.lock_snapshot();
        self.configured.is_empty() && snapshot.keys.as_ref().is_some_and(IdentityByHash::is_empty)
    }

    /// Whose key this is. The store is asked for its revision each time, and its keys are loaded if that has
    /// changed, which only the operator can bring about: a key works from the moment it is made, and not
    /// beyond the moment it is revoked.
    pub(super) async fn find_identity(&self, hash: &ApiKeyHash) -> Result<Option<Identity>, Unauthenticated> {
        if let Some(identity) = self.configured.get(hash) {
            return Ok(Some(identity.clone()));
        }
        // Keys that are damaged are loaded again only when they have changed.
        let revision = self.stored.revision().await.ok();
        if self.lock_snapshot().revision != revision {
            self.reload(revision).await;
        }
        match &self.lock_snapshot().keys {
            Some(keys) => Ok(keys.get(hash).cloned()),
            None => Err(Unauthenticated::Unavailable {
                reason: "the server's file of keys cannot be read".to_owned(),
            }),
        }
    }

    /// Loads the keys, unless another request has just loaded this revision.
    async fn reload(&self, wanted: Option<Option<KeyRevision>>) {
        let _loading = self.loading.lock().await;
        if self.lock_snapshot().revision == wanted {
            return;
        }
        let (revision, keys) = match self.stored.load_revision().await {
            Ok((revision, keys)) => (Some(revision), keys),
            Err(error) => (None, Err(error)),
        };
        let keys = keys.map(|keys| index_by_hash(&keys));
        let mut snapshot = self.lock_snapshot();
        // Once, and not for every request until the store can be read.
        if let (Err(error), Some(_)) = (&keys, &snapshot.keys) {
            tracing::error!(%error, "keys of the data folder are refused until it can be read");
        }
        *snapshot = KeySnapshot { revision, keys: keys.ok() };
    }

    fn lock_snapshot(&self) -> MutexGuard<'_, KeySnapshot> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn index_by_hash(keys: &[StoredKey]) -> IdentityByHash {
    keys.iter().map(|stored| (stored.key.hash, identity_of_api_key(&stored.key))).collect()
}

fn identity_of_api_key(key: &ApiKey) -> Identity {
    Identity::new(key.caller.clone(), key.scopes.clone())
}

#[cfg(test)]
mod tests;
