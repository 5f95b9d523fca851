//! The MCP door: workflows that an outside agent walks with tokens.

mod token;

pub use token::{BundleSigner, KeyRing, KeyRingError, Rotated};
