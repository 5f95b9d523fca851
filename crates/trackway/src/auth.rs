//! Who may use a server: keys, tokens, and what each permits.
//!
//! [`Auth`] is the operator's configuration. The server builds a [`gate::Gate`] from it at its start,
//! and the doors ask that gate. A key is recognised by its SHA-256, so stolen key data does not
//! give access.

mod api_key;
mod api_key_ring;
mod api_keys;
mod authenticator;
#[cfg(test)]
mod fake_issuer;
mod jwks;
mod jwks_cache;
mod jwt;
mod jwt_claims;
mod url_fetcher;

pub use api_key::{ApiKey, ApiKeyConfigError, ApiKeyHash, Secret};
pub use api_keys::{ApiKeys, ApiKeysError, NewKey, StoredKey};
pub use jwt::{JwksSource, JwtOptions, JwtOptionsError};

pub(crate) use authenticator::ServerAuthenticator;

/// Who may use a server. Without any configuration, every caller that reaches it: such a server
/// listens on loopback only.
#[derive(Debug, Clone, Default)]
pub struct Auth {
    required: bool,
    keys: Vec<ApiKey>,
    jwt: Option<JwtOptions>,
}

/// Why the server cannot set up its authentication.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("two keys have the id {id:?}")]
    SameId { id: String },
    #[error("the keys {first:?} and {second:?} are the same key")]
    SameKey { first: String, second: String },
    #[error(transparent)]
    Keys(#[from] ApiKeysError),
    #[error("the key set {file} cannot be used: {reason}")]
    KeySet { file: String, reason: String },
    #[error("the HTTP client for key sets cannot be created: {reason}")]
    Client { reason: String },
}

impl Auth {
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses a caller without a key or token. Without this setting such a caller is the local
    /// caller, which may do everything.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Adds a key to those of the store.
    #[must_use]
    pub fn key(mut self, key: ApiKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Accepts tokens of an identity provider.
    #[must_use]
    pub fn jwt(mut self, jwt: JwtOptions) -> Self {
        self.jwt = Some(jwt);
        self
    }

    pub const fn is_required(&self) -> bool {
        self.required
    }

    /// Nothing is configured: the server reads no credentials from requests.
    pub(crate) const fn is_disabled(&self) -> bool {
        !self.required && self.keys.is_empty() && self.jwt.is_none()
    }
}
