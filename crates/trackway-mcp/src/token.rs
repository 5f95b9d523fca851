//! Tokens that an agent carries between calls. A `stateToken` names a node of a run, an `ackToken` names
//! one attempt at it.
//!
//! `codec` writes and reads them, `key_ring` holds the keys that sign them, `token_keys` is their document in
//! the store.

mod codec;
mod error;
mod key_ring;
mod token_keys;

pub(crate) use codec::looks_like_token;
pub use codec::{AttemptRef, NodeRef};
pub use error::TokenError;
pub use key_ring::{BundleSigner, KeyRing, KeyRotation};
pub use token_keys::KeyRingError;
