//! The normal form as text, and its hash.

#[cfg(test)]
mod tests;

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Definition;

impl Definition {
    /// Canonical JSON (RFC 8785), which is hashed and pinned.
    pub fn to_canonical_json(&self) -> String {
        serde_json_canonicalizer::to_string(self)
            .expect("a definition's keys are texts and its numbers are finite")
    }

    /// `sha256-` and the digest of the normal form in hex.
    pub fn definition_hash(&self) -> String {
        let mut hash = String::from("sha256-");
        for byte in Sha256::digest(self.to_canonical_json()) {
            // Writing to a text cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        hash
    }

    /// Reads a pinned definition.
    pub fn from_pinned_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the pinned definition is not JSON: {error}"))?;
        match value.get("format").and_then(Value::as_u64) {
            Some(format) if format == u64::from(Self::FORMAT) => {}
            Some(format) => {
                return Err(format!(
                    "the definition was pinned in form {format}, and this program reads form {}",
                    Self::FORMAT
                ));
            }
            None => return Err("the pinned definition does not say its form".to_owned()),
        }
        serde_json::from_value(value).map_err(|error| format!("the pinned definition is damaged: {error}"))
    }
}
