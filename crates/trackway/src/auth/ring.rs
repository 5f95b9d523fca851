//! The keys that a running server takes: those of its configuration, and those of its data folder as
//! the file is now.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use trackway_ports::{Identity, Unrecognised};
use trackway_runtime::FileStamp;

use super::{
    AuthError,
    file::{KeyFile, KeyFileError},
    key::{ApiKey, KeyHash},
};

type Known = HashMap<KeyHash, Identity>;

#[derive(Debug)]
pub(super) struct Ring {
    configured: Known,
    file: KeyFile,
    /// A `std` lock: it is held while a small file is read, and then only when that has changed.
    seen: Mutex<Seen>,
}

/// The file when it was read last.
#[derive(Debug)]
struct Seen {
    stamp: FileStamp,
    /// `None` where it could not be read: then nobody knows which of its keys were revoked.
    keys: Option<Known>,
}

impl Ring {
    pub(super) fn open(configured: &[ApiKey], file: KeyFile) -> Result<Self, AuthError> {
        let mut known = Known::new();
        for (at, key) in configured.iter().enumerate() {
            if configured[..at].iter().any(|other| other.id == key.id) {
                return Err(AuthError::SameId { id: key.id.clone() });
            }
            if known.insert(key.hash, identity(key)).is_some() {
                let first = configured.iter().find(|other| other.hash == key.hash).unwrap_or(key);
                let (first, second) = (first.id.clone(), key.id.clone());
                return Err(AuthError::SameKey { first, second });
            }
        }
        let (stamp, keys) = read(&file)?;
        let seen = Mutex::new(Seen { stamp, keys: Some(keys) });
        Ok(Self { configured: known, file, seen })
    }

    pub(super) fn is_empty(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.configured.is_empty() && seen.keys.as_ref().is_some_and(Known::is_empty)
    }

    /// Whose key this is. The file is looked at each time, which costs one call to the system, and read
    /// when it has changed, which only the operator can bring about: a key works from the moment it is
    /// made, and not beyond the moment it is revoked.
    pub(super) fn find(&self, hash: &KeyHash) -> Result<Option<Identity>, Unrecognised> {
        if let Some(identity) = self.configured.get(hash) {
            return Ok(Some(identity.clone()));
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // A file that could not be read is tried again only when it has changed.
        if self.file.stamp() != Some(seen.stamp) {
            *seen = self.reread();
        }
        match &seen.keys {
            Some(keys) => Ok(keys.get(hash).cloned()),
            None => Err(Unrecognised::Unavailable {
                reason: "the server's file of keys cannot be read".to_owned(),
            }),
        }
    }

    fn reread(&self) -> Seen {
        match read(&self.file) {
            Ok((stamp, keys)) => Seen { stamp, keys: Some(keys) },
            Err(error) => {
                tracing::error!(%error, "keys of the data folder are refused until it can be read");
                Seen { stamp: self.file.stamp().unwrap_or(FileStamp::Absent), keys: None }
            }
        }
    }
}

fn read(file: &KeyFile) -> Result<(FileStamp, Known), KeyFileError> {
    let (stamp, keys) = file.read_stamped()?;
    Ok((stamp, keys.iter().map(|stored| (stored.key.hash, identity(&stored.key))).collect()))
}

fn identity(key: &ApiKey) -> Identity {
    Identity { caller: key.caller.clone(), scopes: key.scopes.clone() }
}

#[cfg(test)]
mod tests;
