//! Keys that sign bundles, and how people name them.

use std::{fmt, str::FromStr};

use data_encoding::HEXLOWER;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256};

/// Prefix of the signed bytes, so that a signature made for another purpose never fits.
const SIGNATURE_DOMAIN: &[u8] = b"trackway-session-1\n";
/// Letters of a fingerprint: 128 bits, so that finding a second key for it is not feasible.
const FINGERPRINT_LETTERS: usize = 32;

/// A signature over a digest, in hex.
pub(super) fn sign_bundle_digest(sign: impl FnOnce(&[u8]) -> [u8; 64], digest: &str) -> String {
    HEXLOWER.encode(&sign(&digest_bytes_to_sign(digest)))
}

/// Whether the signature was made over this digest by the holder of that public key.
pub(super) fn is_digest_signature_valid(public: &[u8; 32], digest: &str, signature: &[u8; 64]) -> bool {
    let Ok(key) = VerifyingKey::from_bytes(public) else { return false };
    key.verify_strict(&digest_bytes_to_sign(digest), &Signature::from_bytes(signature)).is_ok()
}

/// A short name of a public key that people can compare.
pub fn public_key_fingerprint(public: &[u8]) -> String {
    let mut text = HEXLOWER.encode(&Sha256::digest(public));
    text.truncate(FINGERPRINT_LETTERS);
    text
}

fn digest_bytes_to_sign(digest: &str) -> Vec<u8> {
    [SIGNATURE_DOMAIN, digest.as_bytes()].concat()
}

/// Who must have signed: a public key, or its fingerprint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedSigner(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signer is named by its public key (64 hex digits) or the key's fingerprint (32)")]
pub struct ParseSignerError;

impl FromStr for ExpectedSigner {
    type Err = ParseSignerError;

    fn from_str(text: &str) -> Result<Self, ParseSignerError> {
        let text = text.trim().to_ascii_lowercase();
        let length = matches!(text.len(), 64 | FINGERPRINT_LETTERS);
        if length && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            Ok(Self(text))
        } else {
            Err(ParseSignerError)
        }
    }
}

impl ExpectedSigner {
    pub(super) fn matches_public_key(&self, public: &[u8; 32]) -> bool {
        self.0 == HEXLOWER.encode(public) || self.0 == public_key_fingerprint(public)
    }
}

impl fmt::Display for ExpectedSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
