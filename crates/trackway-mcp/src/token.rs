//! Tokens: what an agent carries between calls. A `stateToken` names a node of a run, an `ackToken`
//! names one attempt at it.
//!
//! `codec` writes and reads them, `ring` holds the keys that sign them, `file` is where those are kept.

mod codec;
mod error;
mod key_file;
mod key_ring;

pub(crate) use codec::looks_like_token;
pub use codec::{AttemptRef, NodeRef};
pub use error::TokenError;
pub use key_file::{KeyRingError, TOKEN_KEYS_FILE as KEYS_FILE};
pub use key_ring::{BundleSigner, KeyRing, KeyRotation};
