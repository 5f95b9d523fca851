//! Signatures of cards: a JWS over the canonical form, so that a client can tell whose card it is.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

/// Signs cards with an elliptic-curve key (ES256).
pub struct Signer {
    key: EncodingKey,
    key_id: String,
}

/// Why a key cannot sign.
#[derive(Debug, thiserror::Error)]
#[error("the signing key is not a P-256 private key in PEM (PKCS#8)")]
pub struct BadSigningKey(#[source] jsonwebtoken::errors::Error);

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl Signer {
    /// `key_id` tells clients which of your public keys to check with.
    pub fn from_pem(pem: &[u8], key_id: impl Into<String>) -> Result<Self, BadSigningKey> {
        let key = EncodingKey::from_ec_pem(pem).map_err(BadSigningKey)?;
        let signer = Self { key, key_id: key_id.into() };
        // A key of another curve is told at the first signature, and that must not be a request.
        signer.try_sign(&json!({})).map_err(BadSigningKey)?;
        Ok(signer)
    }

    /// The signature of a card that has none yet.
    pub(crate) fn sign(&self, card: &Value) -> Value {
        self.try_sign(card).expect("the key has signed before")
    }

    fn try_sign(&self, card: &Value) -> Result<Value, jsonwebtoken::errors::Error> {
        let header = json!({ "alg": "ES256", "kid": self.key_id, "typ": "JOSE" });
        let protected = URL_SAFE_NO_PAD.encode(canonical(&header));
        let payload = URL_SAFE_NO_PAD.encode(canonical(card));
        let input = format!("{protected}.{payload}");
        let signature = jsonwebtoken::crypto::sign(input.as_bytes(), &self.key, Algorithm::ES256)?;
        Ok(json!({ "protected": protected, "signature": signature }))
    }
}

/// RFC 8785.
fn canonical(value: &Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("JSON values have a canonical form")
}

#[cfg(test)]
mod tests;
