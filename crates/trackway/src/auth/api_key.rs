//! API keys: how a key is created and recognised.

use std::{fmt, hash, io, str::FromStr};

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use trackway_domain::{Caller, Scopes};

/// The prefix of every key that we create, so that a key that leaked into a file or a log can be
/// found.
const PREFIX: &str = "tw_";
/// Random bytes of a key: as many as its hash has, too many to guess.
const KEY_BYTES: usize = 32;
/// Longest id, tenant or user. They appear in rows and log lines.
/// Limit (HTTP): id, tenant or user of an API key.
const WORD_BYTES_MAX: usize = 256;

/// A value that must not be printed: it has no `Display`, and its `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// SHA-256 of a key. A comparison always takes the same time.
#[derive(Clone, Copy, Eq)]
pub struct ApiKeyHash([u8; 32]);

/// A key that is accepted: its hash, and the identity of its owner.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiKey {
    pub(super) id: String,
    pub(super) hash: ApiKeyHash,
    pub(super) caller: Caller,
    pub(super) scopes: Scopes,
}

/// Why a key cannot be configured like this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyConfigError {
    #[error("the SHA-256 of a key has 64 hex digits")]
    Hash,
    #[error("the {what} of a key {why}")]
    Word { what: &'static str, why: &'static str },
}

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A new key, from the operating system's source of randomness.
    pub fn generate_api_key() -> io::Result<Self> {
        Ok(Self(format!("{PREFIX}{}", HEXLOWER.encode(&random_bytes::<KEY_BYTES>()?))))
    }

    /// The secret itself, for the code that needs it.
    pub fn expose_secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl ApiKeyHash {
    /// The hash by which this key is recognised.
    pub fn from_api_key(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }
}

impl PartialEq for ApiKeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl hash::Hash for ApiKeyHash {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A short key that a person chose could be guessed from its hash, so the hash is hidden too.
impl fmt::Debug for ApiKeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

impl FromStr for ApiKeyHash {
    type Err = ApiKeyConfigError;

    fn from_str(text: &str) -> Result<Self, ApiKeyConfigError> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or(ApiKeyConfigError::Hash)
    }
}

impl ApiKey {
    pub fn new(
        id: &str,
        hash: ApiKeyHash,
        tenant: &str,
        user: &str,
        scopes: Scopes,
    ) -> Result<Self, ApiKeyConfigError> {
        for (what, word) in [("id", id), ("tenant", tenant), ("user", user)] {
            check_loggable_name(word).map_err(|why| ApiKeyConfigError::Word { what, why })?;
        }
        Ok(Self { id: id.to_owned(), hash, caller: Caller::new(tenant, user), scopes })
    }

    pub fn key_id(&self) -> &str {
        &self.id
    }

    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    pub const fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// The hash as it is stored.
    pub(super) fn key_hash_hex(&self) -> String {
        HEXLOWER.encode(&self.hash.0)
    }
}

/// An id for a key without one: short, because people type it to revoke the key.
pub(super) fn generate_key_id() -> io::Result<String> {
    Ok(format!("key_{}", HEXLOWER.encode(&random_bytes::<6>()?)))
}

/// Checks a name that will be in a row or a log line; the error says what is wrong with it.
pub(super) fn check_loggable_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("is empty")
    } else if name.len() > WORD_BYTES_MAX {
        Err("is longer than 256 bytes")
    } else if name.chars().any(char::is_control) {
        Err("holds control characters")
    } else {
        Ok(())
    }
}

fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
