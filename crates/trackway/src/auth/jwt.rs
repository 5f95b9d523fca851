//! Tokens of an identity provider: which are accepted, and how a token is checked.

use std::{net::IpAddr, path::PathBuf, sync::Arc};

use jsonwebtoken::{Algorithm, AlgorithmFamily, Validation, decode, decode_header};
use reqwest::Url;
use trackway_domain::Object;
use trackway_ports::{Clock, Identity, Unauthenticated};

use super::{AuthError, jwks_cache::JwksCache, jwt_claims};

/// Longest token that is read. Tokens of large providers have some kilobytes.
/// Limit (HTTP): bearer token.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Which tokens are accepted, and what their claims mean.
#[derive(Debug, Clone, PartialEq)]
pub struct JwtOptions {
    pub(super) keys: JwksSource,
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) tenant_claim: String,
    pub(super) user_claim: String,
    pub(super) scope_claim: String,
}

/// Where the provider's public keys are.
#[derive(Debug, Clone, PartialEq)]
pub struct JwksSource(pub(super) JwksLocation);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum JwksLocation {
    File(PathBuf),
    Url(Url),
}

/// Settings with which no token could be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JwtOptionsError {
    #[error("{url:?} is not an address: {reason}")]
    Url { url: String, reason: String },
    #[error("keys are fetched over https, or over http from this machine; not from {url:?}")]
    Insecure { url: String },
    #[error("the {what} is empty")]
    Empty { what: &'static str },
}

impl JwksSource {
    pub fn jwks_file(path: impl Into<PathBuf>) -> Self {
        Self(JwksLocation::File(path.into()))
    }

    /// The URL of the keys. It must be https, except on this machine: an attacker that changes the
    /// keys on their way could act as any user.
    pub fn jwks_url(text: &str) -> Result<Self, JwtOptionsError> {
        let url = Url::parse(text)
            .map_err(|error| JwtOptionsError::Url { url: text.to_owned(), reason: error.to_string() })?;
        let here = url.host_str().is_some_and(|host| {
            let host = host.trim_matches(['[', ']']);
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        });
        match url.scheme() {
            "https" => Ok(Self(JwksLocation::Url(url))),
            "http" if here => Ok(Self(JwksLocation::Url(url))),
            _ => Err(JwtOptionsError::Insecure { url: text.to_owned() }),
        }
    }
}

impl JwtOptions {
    /// Tokens that this issuer made for this audience. Both are required, because a provider signs the
    /// tokens of all its services with the same keys.
    pub fn new(keys: JwksSource, issuer: &str, audience: &str) -> Result<Self, JwtOptionsError> {
        for (what, text) in [("issuer", issuer), ("audience", audience)] {
            if text.is_empty() {
                return Err(JwtOptionsError::Empty { what });
            }
        }
        Ok(Self {
            keys,
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            tenant_claim: "tenant".to_owned(),
            user_claim: "sub".to_owned(),
            scope_claim: "scope".to_owned(),
        })
    }

    /// The claim that names the tenant; the default is `tenant`.
    #[must_use]
    pub fn tenant_claim(mut self, claim: &str) -> Self {
        claim.clone_into(&mut self.tenant_claim);
        self
    }

    /// The claim that names the user; the default is `sub`.
    #[must_use]
    pub fn user_claim(mut self, claim: &str) -> Self {
        claim.clone_into(&mut self.user_claim);
        self
    }

    /// The claim that holds the scopes, as an array or as one string with spaces; the default is
    /// `scope`.
    #[must_use]
    pub fn scope_claim(mut self, claim: &str) -> Self {
        claim.clone_into(&mut self.scope_claim);
        self
    }
}

/// Recognises callers by their tokens.
#[derive(Debug)]
pub(super) struct JwtAuthenticator {
    options: JwtOptions,
    keys: JwksCache,
    clock: Arc<dyn Clock>,
}

impl JwtAuthenticator {
    pub(super) fn open(options: JwtOptions, clock: Arc<dyn Clock>) -> Result<Self, AuthError> {
        let keys = JwksCache::open(options.keys.clone(), clock.clone())?;
        Ok(Self { options, keys, clock })
    }

    /// Whether this looks like a token and not like a key.
    pub(super) fn looks_like_jwt(bearer: &str) -> bool {
        bearer.split('.').count() == 3
    }

    pub(super) async fn authenticate_jwt(&self, token: &str) -> Result<Identity, Unauthenticated> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(invalid_jwt_error("the token is too long"));
        }
        let header = decode_header(token).map_err(|_| invalid_jwt_error("the token cannot be read"))?;
        // With a shared secret, anyone who knows the public key could sign.
        if header.alg.family() == AlgorithmFamily::Hmac {
            return Err(invalid_jwt_error("the token is not signed with a private key"));
        }
        // RFC 7515, 4.1.11: a critical header that is not understood makes a token invalid.
        if header.crit.is_some() {
            return Err(invalid_jwt_error("the token has a critical header that is not supported"));
        }
        let key = self.keys.find_or_fetch_token_key(header.kid.as_deref(), header.alg).await?;
        let checked = decode::<Object>(token, &key, &signature_only_validation(header.alg));
        let claims = checked.map_err(|_| invalid_jwt_error("the token's signature is not valid"))?.claims;
        jwt_claims::identity_from_claims(&claims, &self.options, self.clock.now())
    }
}

/// The library checks only the signature. It would read another clock than ours, and it accepts claims
/// that it cannot read.
fn signature_only_validation(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

pub(super) fn invalid_jwt_error(reason: impl Into<String>) -> Unauthenticated {
    Unauthenticated::Wrong { reason: reason.into() }
}

#[cfg(test)]
mod tests;
