//! Requests to addresses that others chose: a client that wants notifications, or a model that wants to
//! read a page. The policy applies to the address of the connection, not to the text that names it.
//!
//! Addresses that the operator configured have no policy: [`operator_client`] calls them directly.
//!
//! [`sse`] parses responses that are a stream of events.

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
