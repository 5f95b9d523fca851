//! The keys that a running server accepts: those of its configuration, and the current ones of its data
//! folder.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use trackway_ports::{Identity, Unauthenticated};
use trackway_runtime::FileStamp;

use super::{
    AuthError,
    api_key::{ApiKey, KeyHash},
    key_file::{KeyFile, KeyFileError},
};

type IdentityByHash = HashMap<KeyHash, Identity>;

#[derive(Debug)]
pub(super) struct ApiKeyRing {
    configured: IdentityByHash,
    file: KeyFile,
    /// A `std` lock: it is held while a small file is read, and only if the file has changed.
    snapshot: Mutex<KeyFileSnapshot>,
}

/// The state of the file when it was last read.
#[derive(Debug)]
struct KeyFileSnapshot {
    stamp: FileStamp,
    /// `None` if it could not be read: then it is unknown which of its keys were revoked.
    keys: Option<IdentityByHash>,
}

impl ApiKeyRing {
    pub(super) fn open(configured: &[ApiKey], file: KeyFile) -> Result<Self, AuthError> {
        let mut known = IdentityByHash::new();
        for (at, key) in configured.iter().enumerate() {
            if configured[..at].iter().any(|other| other.id == key.id) {
                return Err(AuthError::SameId { id: key.id.clone() });
            }
            if known.insert(key.hash, identity_of_key(key)).is_some() {
                let first = configured.iter().find(|other| other.hash == key.hash).unwrap_or(key);
                let (first, second) = (first.id.clone(), key.id.clone());
                return Err(AuthError::SameKey { first, second });
            }
        }
        let (stamp, keys) = read_key_file(&file)?;
        let seen = Mutex::new(KeyFileSnapshot { stamp, keys: Some(keys) });
        Ok(Self { configured: known, file, snapshot: seen })
    }

    pub(super) fn is_empty(&self) -> bool {
        let seen = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        self.configured.is_empty() && seen.keys.as_ref().is_some_and(IdentityByHash::is_empty)
    }

    /// The identity that owns this key. Each call checks the file, which costs one system call, and reads
    /// it if it has changed, which only the operator can cause. A key therefore works from the moment it is
    /// created until the moment it is revoked.
    pub(super) fn find_identity(&self, hash: &KeyHash) -> Result<Option<Identity>, Unauthenticated> {
        if let Some(identity) = self.configured.get(hash) {
            return Ok(Some(identity.clone()));
        }
        let mut seen = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that could not be read is tried again only after it has changed.
        if self.file.stamp() != Some(seen.stamp) {
            *seen = self.reload_snapshot();
        }
        match &seen.keys {
            Some(keys) => Ok(keys.get(hash).cloned()),
            None => Err(Unauthenticated::Unavailable {
                reason: "the server's file of keys cannot be read".to_owned(),
            }),
        }
    }

    fn reload_snapshot(&self) -> KeyFileSnapshot {
        match read_key_file(&self.file) {
            Ok((stamp, keys)) => KeyFileSnapshot { stamp, keys: Some(keys) },
            Err(error) => {
                tracing::error!(%error, "keys of the data folder are refused until it can be read");
                KeyFileSnapshot { stamp: self.file.stamp().unwrap_or(FileStamp::Absent), keys: None }
            }
        }
    }
}

fn read_key_file(file: &KeyFile) -> Result<(FileStamp, IdentityByHash), KeyFileError> {
    let (stamp, keys) = file.read_stamped()?;
    Ok((stamp, keys.iter().map(|stored| (stored.key.hash, identity_of_key(&stored.key))).collect()))
}

fn identity_of_key(key: &ApiKey) -> Identity {
    Identity { caller: key.caller.clone(), scopes: key.scopes.clone() }
}

#[cfg(test)]
mod tests;
