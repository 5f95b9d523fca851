//! Wire types: one folder per generation of the protocol, converted by hand from and to the domain.

mod artifact;
pub(crate) mod details;
pub(crate) mod metadata;
mod object;
pub(crate) mod sent;
pub(crate) mod v03;
pub(crate) mod v1;
