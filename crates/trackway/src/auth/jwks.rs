//! A set of public keys (RFC 7517), and which algorithm each may be used with.

use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

/// Keys of one set. Providers have a handful: the one in use, the next and the last.
/// Limit (HTTP): keys of one issuer.
const KEYS_MAX: usize = 100;
/// Base64 digits of a modulus of 2048 bits. Shorter RSA keys can be broken.
const MODULUS_DIGITS_MIN: usize = 2_048 / 6;

/// Public keys of an identity provider.
#[derive(Debug)]
pub(super) struct JwksKeySet(Vec<JwksPublicKey>);

#[derive(Debug)]
struct JwksPublicKey {
    kid: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// The result of a search for the key that a token names.
#[derive(Debug)]
pub(super) enum JwksKeyLookup {
    Key(DecodingKey),
    /// The key exists, but for other algorithms.
    OtherAlgorithm,
    Unknown,
    /// The token names no key, and several keys could be meant.
    Ambiguous,
}

#[derive(Debug, Deserialize)]
struct JwksDocument {
    keys: Vec<Value>,
}

impl JwksKeySet {
    /// The keys that can check a signature. Other keys in the set are not an error.
    pub(super) fn parse_jwks(text: &[u8]) -> Result<Self, String> {
        let document: JwksDocument =
            serde_json::from_slice(text).map_err(|error| format!("it is not a set of keys: {error}"))?;
        if document.keys.len() > KEYS_MAX {
            return Err(format!("it holds more than {KEYS_MAX} keys"));
        }
        let keys: Vec<JwksPublicKey> = document.keys.into_iter().filter_map(parse_jwk_public_key).collect();
        if keys.is_empty() {
            return Err("it holds no key that can check a signature".to_owned());
        }
        Ok(Self(keys))
    }

    pub(super) fn find_token_key(&self, kid: Option<&str>, algorithm: Algorithm) -> JwksKeyLookup {
        let fits = |key: &&JwksPublicKey| key.algorithms.contains(&algorithm);
        let Some(kid) = kid else {
            let mut fitting = self.0.iter().filter(fits);
            return match (fitting.next(), fitting.next()) {
                (Some(only), None) => JwksKeyLookup::Key(only.key.clone()),
                (Some(_), Some(_)) => JwksKeyLookup::Ambiguous,
                (None, _) => JwksKeyLookup::Unknown,
            };
        };
        let named = || self.0.iter().filter(|key| key.kid.as_deref() == Some(kid));
        match named().find(fits) {
            Some(key) => JwksKeyLookup::Key(key.key.clone()),
            None if named().next().is_some() => JwksKeyLookup::OtherAlgorithm,
            None => JwksKeyLookup::Unknown,
        }
    }
}

fn parse_jwk_public_key(value: Value) -> Option<JwksPublicKey> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    let common = &jwk.common;
    let signs = common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature);
    let verifies = common.key_operations.as_ref();
    let verifies = verifies.is_none_or(|operations| operations.contains(&KeyOperations::Verify));
    if !signs || !verifies {
        return None;
    }
    let mut algorithms = allowed_algorithms(&jwk.algorithm);
    if let Some(only) = common.key_algorithm {
        algorithms.retain(|algorithm| KeyAlgorithm::from(*algorithm) == only);
    }
    if algorithms.is_empty() {
        return None;
    }
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some(JwksPublicKey { kid: common.key_id.clone(), algorithms, key })
}

/// The algorithms that a key of this type may be used with: never one with a shared secret.
fn allowed_algorithms(parameters: &AlgorithmParameters) -> Vec<Algorithm> {
    match parameters {
        AlgorithmParameters::RSA(key) if key.n.len() >= MODULUS_DIGITS_MIN => vec![
            Algorithm::RS256,
            Algorithm::RS384,
            Algorithm::RS512,
            Algorithm::PS256,
            Algorithm::PS384,
            Algorithm::PS512,
        ],
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => vec![Algorithm::ES256],
            EllipticCurve::P384 => vec![Algorithm::ES384],
            _ => Vec::new(),
        },
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            vec![Algorithm::EdDSA]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
