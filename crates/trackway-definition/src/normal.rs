//! The normal form as text, and its hash.

use crate::Definition;

impl Definition {
    /// Canonical JSON (RFC 8785): what is hashed and pinned.
    pub fn normal(&self) -> String {
        todo!("the normal form")
    }

    /// `sha256-` and the digest of the normal form in hex.
    pub fn hash(&self) -> String {
        todo!("the normal form")
    }

    /// A definition as it was pinned.
    pub fn pinned(text: &str) -> Result<Self, String> {
        let _ = text;
        todo!("the normal form")
    }
}
