//! Who may use a server: keys, tokens, and what each permits.
//!
//! [`Auth`] is what an operator says; [`gate::Gate`] is made of it when the server starts and is what
//! the doors ask. A key is recognised by its SHA-256, so that nothing that is stored lets anybody in.

mod cache;
mod claims;
mod fetch;
mod file;
mod gate;
mod jwks;
mod jwt;
mod key;
mod ring;
#[cfg(test)]
mod testing;

pub use file::{KeyFile, KeyFileError, NewKey, StoredKey};
pub use jwt::{BadJwt, JwksSource, Jwt};
pub use key::{ApiKey, BadKey, KeyHash, Secret};

pub(crate) use gate::Gate;

/// Who may use a server. Without anything said, everybody who reaches it, which is why such a server
/// listens on loopback only.
#[derive(Debug, Clone, Default)]
pub struct Auth {
    required: bool,
    keys: Vec<ApiKey>,
    jwt: Option<Jwt>,
}

/// Why nobody could be recognised from the start.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("two keys have the id {id:?}")]
    SameId { id: String },
    #[error("the keys {first:?} and {second:?} are the same key")]
    SameKey { first: String, second: String },
    #[error(transparent)]
    Keys(#[from] KeyFileError),
    #[error("the key set {file} cannot be used: {reason}")]
    KeySet { file: String, reason: String },
    #[error("no client can be made to fetch key sets with: {reason}")]
    Client { reason: String },
}

impl Auth {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whoever brings no key or token is turned away. Without this such a caller is the local one,
    /// who may do everything.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// A key besides those of the data folder.
    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Takes tokens of an identity provider.
    #[must_use]
    pub fn jwt(mut self, jwt: Jwt) -> Self {
        self.jwt = Some(jwt);
        self
    }

    pub const fn is_required(&self) -> bool {
        self.required
    }

    /// Nothing was said: no header is looked at.
    pub(crate) const fn is_off(&self) -> bool {
        !self.required && self.keys.is_empty() && self.jwt.is_none()
    }
}
