//! Requests to addresses that others chose: a client that wants to be told, a model that wants to read a
//! page. The policy is applied to the address that is connected to, not to the text that names it.
//!
//! Addresses that the operator wrote down are another matter: [`operator_client`] asks them as they are.
//!
//! [`sse`] reads what comes back where an answer is a stream of events.

mod address;
mod client;
mod failure;
mod resolver;
pub mod sse;
mod url;

pub use address::AddressPolicy;
pub use client::{CONNECT_WAIT, LazyClient, client, install_tls, operator_client};
pub use failure::failure;
pub use resolver::{ForbiddenName, Lookup, SystemLookup, forbidden_name};
pub use url::Forbidden;
