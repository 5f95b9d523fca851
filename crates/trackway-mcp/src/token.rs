//! Tokens that an agent carries between calls. A `stateToken` names a node of a run, an `ackToken` names
//! one attempt at it.
//!
//! `token_codec` writes and reads them, `key_ring` holds the keys that sign them, `token_keys` is their
//! document in the store.

mod key_ring;
mod token_codec;
mod token_error;
mod token_keys;

pub use key_ring::{BundleSigner, KeyRing, KeyRotation, PurposeKey};
pub(crate) use token_codec::looks_like_token;
pub use token_codec::{AttemptRef, NodeRef};
pub use token_error::TokenError;
pub use token_keys::KeyRingError;
