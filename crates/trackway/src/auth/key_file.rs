//! The API keys of a data folder, in one file. It contains hashes only, so nothing in it gives access.
//! Commands write it while a server reads it.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use trackway_domain::{Caller, Scopes};
use trackway_ports::Clock;
use trackway_runtime::{FileStamp, LockedFile, SystemClock};
use trackway_sqlite::create_private_folder;

use super::api_key::{self, ApiKey, KeyHash, ParseKeyError, Secret};

const FILE: &str = "keys.json";
const FORMAT: u32 = 1;
/// Keys of one folder. All of them are in memory, and the file is always written as a whole.
/// Limit (HTTP): API keys of one folder.
const KEYS_MAX: usize = 10_000;
/// Largest file that is read: so many keys with long names and many scopes.
/// Limit (HTTP): file of API keys.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// The file of keys in a data folder.
#[derive(Debug, Clone)]
pub struct KeyFile(LockedFile);

/// A key to create.
#[derive(Debug, Clone, PartialEq)]
pub struct NewKey {
    /// The id that revokes the key; generated if absent.
    pub id: Option<String>,
    pub caller: Caller,
    pub scopes: Scopes,
}

/// A key of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredKey {
    pub key: ApiKey,
    pub created_at: String,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("the keys in {path} cannot be read")]
    Read { path: String, source: io::Error },
    #[error("the keys in {path} cannot be read: {reason}")]
    Damaged { path: String, reason: String },
    #[error("the keys in {path} cannot be written")]
    Write { path: String, source: io::Error },
    #[error("there is a key with the id {id:?} already")]
    Taken { id: String },
    #[error("there is no key with the id {id:?}")]
    Unknown { id: String, known: Vec<String> },
    #[error("there are {KEYS_MAX} keys already; revoke some first")]
    Full,
    #[error(transparent)]
    InvalidKey(#[from] ParseKeyError),
    #[error("the operating system gives no random numbers")]
    Random(#[source] io::Error),
}

/// The format of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFileContents {
    format: u32,
    keys: Vec<KeyFileRow>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyFileRow {
    id: String,
    sha256: String,
    tenant: String,
    user: String,
    scopes: Scopes,
    created_at: String,
}

impl KeyFile {
    pub fn in_folder(data: &Path) -> Self {
        Self(LockedFile::new(data, FILE, FILE_BYTES_MAX))
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// Every key, oldest first; none if there is no file.
    pub fn load_keys(&self) -> Result<Vec<StoredKey>, KeyFileError> {
        self.read_stamped().map(|(_, keys)| keys)
    }

    pub(super) fn stamp(&self) -> Option<FileStamp> {
        self.0.stamp().ok()
    }

    pub(super) fn read_stamped(&self) -> Result<(FileStamp, Vec<StoredKey>), KeyFileError> {
        let path = self.0.path().display().to_string();
        let damaged = |reason: String| KeyFileError::Damaged { path: path.clone(), reason };
        let (stamp, text) =
            self.0.read().map_err(|source| KeyFileError::Read { path: path.clone(), source })?;
        let Some(text) = text else { return Ok((stamp, Vec::new())) };
        let contents: KeyFileContents =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if contents.format != FORMAT {
            return Err(damaged(format!("it has the format {}, not {FORMAT}", contents.format)));
        }
        let rows = contents.keys.into_iter().map(StoredKey::try_from);
        let keys = rows.collect::<Result<_, _>>();
        Ok((stamp, keys.map_err(|error: ParseKeyError| damaged(error.to_string()))?))
    }

    /// Creates a key. The result is the only place where the key itself appears: the file has only its
    /// hash.
    pub fn create(&self, new: NewKey) -> Result<(Secret, StoredKey), KeyFileError> {
        let secret = Secret::generate().map_err(KeyFileError::Random)?;
        let id = match new.id {
            Some(id) => id,
            None => api_key::generate_key_id().map_err(KeyFileError::Random)?,
        };
        let Caller { tenant, user } = &new.caller;
        let key = ApiKey::new(&id, KeyHash::from_key(secret.expose()), tenant, user, new.scopes)?;
        let stored = StoredKey { key, created_at: SystemClock.now().to_string() };
        let _lock = self.lock_file()?;
        let mut keys = self.load_keys()?;
        if keys.iter().any(|known| known.key.id == id) {
            return Err(KeyFileError::Taken { id });
        }
        if keys.len() >= KEYS_MAX {
            return Err(KeyFileError::Full);
        }
        keys.push(stored.clone());
        self.write_keys(&keys)?;
        Ok((secret, stored))
    }

    /// Removes a key: it is refused from the next request on.
    pub fn revoke(&self, id: &str) -> Result<StoredKey, KeyFileError> {
        let unknown = |keys: &[StoredKey]| KeyFileError::Unknown {
            id: id.to_owned(),
            known: keys.iter().map(|known| known.key.id.clone()).collect(),
        };
        // Checked before the lock, because the lock would create the folder.
        let keys = self.load_keys()?;
        if !keys.iter().any(|known| known.key.id == id) {
            return Err(unknown(&keys));
        }
        let _lock = self.lock_file()?;
        let mut keys = self.load_keys()?;
        let Some(at) = keys.iter().position(|known| known.key.id == id) else {
            return Err(unknown(&keys));
        };
        let revoked = keys.remove(at);
        self.write_keys(&keys)?;
        Ok(revoked)
    }

    fn lock_file(&self) -> Result<File, KeyFileError> {
        let folder = self.0.path().parent().map_or(Ok(()), create_private_folder);
        folder.and_then(|()| self.0.lock()).map_err(|source| self.write_error(source))
    }

    /// Only the owner may read the file: it gives no access, but it lists who has which rights.
    fn write_keys(&self, keys: &[StoredKey]) -> Result<(), KeyFileError> {
        let contents = KeyFileContents { format: FORMAT, keys: keys.iter().map(KeyFileRow::from).collect() };
        self.0.replace(&contents).map_err(|source| self.write_error(source))
    }

    fn write_error(&self, source: io::Error) -> KeyFileError {
        KeyFileError::Write { path: self.0.path().display().to_string(), source }
    }
}

impl TryFrom<KeyFileRow> for StoredKey {
    type Error = ParseKeyError;

    fn try_from(row: KeyFileRow) -> Result<Self, ParseKeyError> {
        let key = ApiKey::new(&row.id, row.sha256.parse()?, &row.tenant, &row.user, row.scopes)?;
        Ok(Self { key, created_at: row.created_at })
    }
}

impl From<&StoredKey> for KeyFileRow {
    fn from(stored: &StoredKey) -> Self {
        let ApiKey { id, caller, scopes, .. } = &stored.key;
        Self {
            id: id.clone(),
            sha256: stored.key.hash_hex(),
            tenant: caller.tenant.to_string(),
            user: caller.user.to_string(),
            scopes: scopes.clone(),
            created_at: stored.created_at.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
