//! Large content, stored by its hash.

use std::{fmt, str::FromStr};

use crate::ReadFuture;

/// SHA-256 of a blob's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobHash(pub [u8; 32]);

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is not the hex of a SHA-256");
        if text.len() != 64 || !text.is_ascii() {
            return Err(bad());
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Self(hash))
    }
}

/// A store of bytes by content hash.
///
/// After `put` returns, the blob survives a crash; putting the same bytes again is free. A blob is
/// written before the event that names it, so a named blob exists. `get` checks the hash: bytes that
/// do not match are [`crate::ReadError::Damaged`], never returned.
pub trait Blobs: Send + Sync + fmt::Debug {
    fn store_blob(&self, bytes: Vec<u8>) -> ReadFuture<'_, BlobHash>;
    fn load_blob(&self, hash: BlobHash) -> ReadFuture<'_, Vec<u8>>;
}
