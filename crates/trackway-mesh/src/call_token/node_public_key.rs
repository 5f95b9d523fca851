//! The public half of a node's key, as operators exchange it.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::VerifyingKey;

/// In front of every key, so that it is recognised in a file and another kind of key could follow.
const PREFIX: &str = "ed25519:";

/// The public key of a node: what `trackway peers key` prints and `[mesh] trust` lists. Its text is
/// `ed25519:` and the key in base64url.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NodePublicKey(VerifyingKey);

/// A text that is not the public key of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not the public key of a node (write what `trackway peers key` prints there: `ed25519:…`)")]
pub struct InvalidNodePublicKey;

impl NodePublicKey {
    pub(super) const fn new(key: VerifyingKey) -> Self {
        Self(key)
    }

    /// Strict: no second signature of the same token, and no weak key, is accepted.
    pub(super) fn is_signature_of(&self, signed: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(signed, &signature.into()).is_ok()
    }
}

impl FromStr for NodePublicKey {
    type Err = InvalidNodePublicKey;

    fn from_str(text: &str) -> Result<Self, InvalidNodePublicKey> {
        let encoded = text.strip_prefix(PREFIX).ok_or(InvalidNodePublicKey)?;
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| InvalidNodePublicKey)?;
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| InvalidNodePublicKey)?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidNodePublicKey)?;
        if key.is_weak() { Err(InvalidNodePublicKey) } else { Ok(Self(key)) }
    }
}

impl fmt::Display for NodePublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl fmt::Debug for NodePublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
