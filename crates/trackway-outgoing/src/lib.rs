//! Requests to addresses that others chose: a client that wants notifications, or a model that wants to
//! read a page. The policy applies to the address of the connection, not to the text that names it.
//!
//! Addresses that the operator configured have no policy: [`build_operator_client`] calls them directly.
//!
//! [`sse`] parses responses that are a stream of events.

mod address_policy;
mod allowed_targets;
mod outgoing_client;
mod policy_resolver;
mod request_error;
mod restricted_fetcher;
pub mod sse;
mod url_check;

pub use address_policy::AddressPolicy;
pub use allowed_targets::{AllowedTarget, AllowedTargetError, AllowedTargets};
pub use outgoing_client::{
    CONNECT_WAIT, LazyRestrictedClient, build_operator_client, build_restricted_client, install_tls_provider,
};
pub use policy_resolver::{DnsLookup, HostRefusal, SystemDnsLookup, find_host_refusal};
pub use request_error::describe_request_error;
pub use restricted_fetcher::{FetchError, FetchedResponse, RestrictedFetcher};
pub use url_check::UrlRefusal;
