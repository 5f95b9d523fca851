//! Requests to addresses that others chose: a client that wants notifications, or a model that wants to
//! read a page. The policy applies to the address of the connection, not to the text that names it.
//!
//! Addresses that the operator configured have no policy: [`operator_client`] calls them directly.
//!
//! [`sse`] parses responses that are a stream of events.

mod address;
mod client;
mod request_error;
mod resolver;
pub mod sse;
mod url;

pub use address::AddressPolicy;
pub use client::{CONNECT_WAIT, LazyClient, install_tls_provider, operator_client, restricted_client};
pub use request_error::describe_request_error;
pub use resolver::{DnsLookup, HostRefusal, SystemDnsLookup, find_host_refusal};
pub use url::UrlRefusal;
