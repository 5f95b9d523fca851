//! Tokens: what an agent carries between calls. A `stateToken` names a node of a run, an `ackToken`
//! names one attempt at it.
//!
//! `codec` writes and reads them, `ring` holds the keys that sign them, `file` is where those are kept.

mod codec;
mod error;
mod file;
mod ring;

pub(crate) use codec::looks_like_one;
pub use codec::{Ack, Place};
pub use error::TokenError;
pub use file::{FILE as KEYS_FILE, KeyRingError};
pub use ring::{BundleSigner, KeyRing, Rotated};
