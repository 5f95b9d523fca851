//! Wire types: one folder per generation of the protocol, converted by hand from and to the domain.

mod object;
pub(crate) mod v03;
