//! Tokens that an agent carries between calls. A `stateToken` names a node of a run, an `ackToken` names
//! one attempt at it.
//!
//! `codec` encodes and decodes them, `key_ring` has the keys that sign them, `key_file` stores those keys.

mod codec;
mod error;
mod key_file;
mod key_ring;

pub(crate) use codec::looks_like_token;
pub use codec::{AttemptRef, NodeRef};
pub use error::TokenError;
pub use key_file::{KeyRingError, TOKEN_KEYS_FILE as KEYS_FILE};
pub use key_ring::{BundleSigner, KeyRing, KeyRotation};
