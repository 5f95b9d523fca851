//! The API keys of a store: one document, of which nothing lets anybody in.
//! Commands change it while a server reads it.

use std::{io, sync::Arc};

use serde::{Deserialize, Serialize};
use trackway_domain::{Caller, Scopes};
use trackway_ports::{Clock, KeyDocumentName, KeyRevision, KeyStore, KeyStoreError};
use trackway_runtime::SystemClock;

use super::api_key::{self, ApiKey, ApiKeyConfigError, ApiKeyHash, Secret};

const DOCUMENT: KeyDocumentName = KeyDocumentName::ApiKeys;
const FORMAT: u32 = 1;
/// Keys of one store. All of them are in memory, and the document is written whole.
/// Limit (HTTP): API keys of one store.
const KEYS_MAX: usize = 10_000;

/// The API keys of a store.
#[derive(Debug, Clone)]
pub struct ApiKeys(Arc<dyn KeyStore>);

/// A key to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewKey {
    /// By which it is revoked; one is made up where absent.
    pub id: Option<String>,
    pub caller: Caller,
    pub scopes: Scopes,
}

/// A key of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredKey {
    pub key: ApiKey,
    pub created_at: String,
}

#[derive(Debug, thiserror::Error)]
pub enum ApiKeysError {
    #[error("the keys in {path} cannot be read")]
    Read { path: String, source: KeyStoreError },
    #[error("the keys in {path} cannot be read: {reason}")]
    Damaged { path: String, reason: String },
    #[error("the keys in {path} cannot be written")]
    Write { path: String, source: KeyStoreError },
    #[error("there is a key with the id {id:?} already")]
    Taken { id: String },
    #[error("there is no key with the id {id:?}")]
    Unknown { id: String, known: Vec<String> },
    #[error("there are {KEYS_MAX} keys already; revoke some first")]
    Full,
    #[error(transparent)]
    InvalidKey(#[from] ApiKeyConfigError),
    #[error("the operating system gives no random numbers")]
    Random(#[source] io::Error),
}

/// The document as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKeys {
    format: u32,
    keys: Vec<StoredKeyRow>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredKeyRow {
    id: String,
    sha256: String,
    tenant: String,
    user: String,
    scopes: Scopes,
    created_at: String,
}

impl ApiKeys {
    pub fn in_store(store: Arc<dyn KeyStore>) -> Self {
        Self(store)
    }

    /// Every key, oldest first.
    pub async fn load(&self) -> Result<Vec<StoredKey>, ApiKeysError> {
        let (_, keys) = self.load_revision().await?;
        keys
    }

    pub(super) async fn revision(&self) -> Result<Option<KeyRevision>, KeyStoreError> {
        self.0.revision(DOCUMENT).await
    }

    /// The revision, and its keys unless they are damaged.
    pub(super) async fn load_revision(
        &self,
    ) -> Result<(Option<KeyRevision>, Result<Vec<StoredKey>, ApiKeysError>), ApiKeysError> {
        let path = || self.0.location(DOCUMENT);
        let document = self.0.load(DOCUMENT).await;
        let document = document.map_err(|source| ApiKeysError::Read { path: path(), source })?;
        let Some(document) = document else { return Ok((None, Ok(Vec::new()))) };
        let keys = parse_keys(&document.bytes);
        let keys = keys.map_err(|reason| ApiKeysError::Damaged { path: path(), reason });
        Ok((Some(document.revision), keys))
    }

    /// Creates a key. It is shown once, here: what is stored does not tell it.
    pub async fn create(&self, new: NewKey) -> Result<(Secret, StoredKey), ApiKeysError> {
        let secret = Secret::generate_api_key().map_err(ApiKeysError::Random)?;
        let id = match new.id {
            Some(id) => id,
            None => api_key::generate_key_id().map_err(ApiKeysError::Random)?,
        };
        let Caller { tenant, user } = &new.caller;
        let key =
            ApiKey::new(&id, ApiKeyHash::from_api_key(secret.expose_secret()), tenant, user, new.scopes)?;
        let stored = StoredKey { key, created_at: SystemClock.now().to_string() };
        self.update(|keys| {
            if keys.iter().any(|known| known.key.id == id) {
                return Err(ApiKeysError::Taken { id: id.clone() });
            }
            if keys.len() >= KEYS_MAX {
                return Err(ApiKeysError::Full);
            }
            keys.push(stored.clone());
            Ok(())
        })
        .await?;
        Ok((secret, stored))
    }

    /// Forgets a key: it is refused from the next request on.
    pub async fn revoke(&self, id: &str) -> Result<StoredKey, ApiKeysError> {
        self.update(|keys| match keys.iter().position(|known| known.key.id == id) {
            Some(at) => Ok(keys.remove(at)),
            None => Err(ApiKeysError::Unknown {
                id: id.to_owned(),
                known: keys.iter().map(|known| known.key.id.clone()).collect(),
            }),
        })
        .await
    }

    /// Changes the keys. The change is made again if another process was faster.
    async fn update<T>(
        &self,
        change: impl Fn(&mut Vec<StoredKey>) -> Result<T, ApiKeysError>,
    ) -> Result<T, ApiKeysError> {
        let write_error = |source| ApiKeysError::Write { path: self.0.location(DOCUMENT), source };
        loop {
            let (revision, keys) = self.load_revision().await?;
            let mut keys = keys?;
            let changed = change(&mut keys)?;
            let rows = StoredKeys { format: FORMAT, keys: keys.iter().map(StoredKeyRow::from).collect() };
            let bytes = serde_json::to_vec_pretty(&rows)
                .map_err(|error| write_error(KeyStoreError::Broken { reason: error.to_string() }))?;
            match self.0.replace(DOCUMENT, revision, bytes).await {
                Ok(_) => return Ok(changed),
                Err(KeyStoreError::Conflict) => {}
                Err(source) => return Err(write_error(source)),
            }
        }
    }
}

fn parse_keys(bytes: &[u8]) -> Result<Vec<StoredKey>, String> {
    let contents: StoredKeys = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if contents.format != FORMAT {
        return Err(format!("it has the format {}, not {FORMAT}", contents.format));
    }
    let rows = contents.keys.into_iter().map(StoredKey::try_from);
    rows.collect::<Result<_, _>>().map_err(|error: ApiKeyConfigError| error.to_string())
}

impl TryFrom<StoredKeyRow> for StoredKey {
    type Error = ApiKeyConfigError;

    fn try_from(row: StoredKeyRow) -> Result<Self, ApiKeyConfigError> {
        let key = ApiKey::new(&row.id, row.sha256.parse()?, &row.tenant, &row.user, row.scopes)?;
        Ok(Self { key, created_at: row.created_at })
    }
}

impl From<&StoredKey> for StoredKeyRow {
    fn from(stored: &StoredKey) -> Self {
        let ApiKey { id, caller, scopes, .. } = &stored.key;
        Self {
            id: id.clone(),
            sha256: stored.key.key_hash_hex(),
            tenant: caller.tenant.to_string(),
            user: caller.user.to_string(),
            scopes: scopes.clone(),
            created_at: stored.created_at.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
