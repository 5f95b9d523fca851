//! Signatures of cards: a JWS over the canonical form, so that a client can verify the author of a
//! card.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Map, Value, json};

/// Signs cards with an elliptic-curve key (ES256).
pub struct CardSigner {
    key: EncodingKey,
    key_id: String,
}

/// Why a key cannot sign.
#[derive(Debug, thiserror::Error)]
#[error("the signing key is not a P-256 private key in PEM (PKCS#8)")]
pub struct SigningKeyError(#[source] jsonwebtoken::errors::Error);

impl std::fmt::Debug for CardSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl CardSigner {
    /// `key_id` tells clients which of your public keys to use.
    pub fn from_pem(pem: &[u8], key_id: impl Into<String>) -> Result<Self, SigningKeyError> {
        let key = EncodingKey::from_ec_pem(pem).map_err(SigningKeyError)?;
        let signer = Self { key, key_id: key_id.into() };
        // A key of another curve fails only at the first signature, so it is tried here and not in a
        // request.
        signer.sign_card_json(&json!({})).map_err(SigningKeyError)?;
        Ok(signer)
    }

    /// The signatures of an unsigned card; any one of them is enough. The first covers the canonical
    /// form of the specification. The official Python client removes every empty text, list and object
    /// before it verifies, even inside schemas, where they may have a meaning. The second covers that
    /// form, if the two differ.
    pub(crate) fn sign_card(&self, card: &Value) -> Vec<Value> {
        let trimmed = without_empty_members(card).filter(|trimmed| trimmed != card);
        let forms = std::iter::once(card).chain(&trimmed);
        forms.map(|form| self.sign_card_json(form).expect("the key has signed before")).collect()
    }

    fn sign_card_json(&self, card: &Value) -> Result<Value, jsonwebtoken::errors::Error> {
        let header = json!({ "alg": "ES256", "kid": self.key_id, "typ": "JOSE" });
        let protected = URL_SAFE_NO_PAD.encode(canonical_json(&header));
        let payload = URL_SAFE_NO_PAD.encode(canonical_json(card));
        let input = format!("{protected}.{payload}");
        let signature = jsonwebtoken::crypto::sign(input.as_bytes(), &self.key, Algorithm::ES256)?;
        Ok(json!({ "protected": protected, "signature": signature }))
    }
}

/// The value without empty parts; none if nothing is left.
fn without_empty_members(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| value.clone()),
        Value::Array(list) => {
            let kept: Vec<Value> = list.iter().filter_map(without_empty_members).collect();
            (!kept.is_empty()).then_some(Value::Array(kept))
        }
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter_map(|(name, value)| without_empty_members(value).map(|value| (name.clone(), value)));
            let kept: Map<String, Value> = kept.collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Bool(_) | Value::Number(_) => Some(value.clone()),
    }
}

/// RFC 8785.
fn canonical_json(value: &Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("JSON values have a canonical form")
}

#[cfg(test)]
mod tests;
