//! The builders of HTTP clients: one that follows the policy, one for addresses of the operator.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{Client, ClientBuilder, Url, redirect::Policy};

use crate::{
    AddressPolicy,
    policy_resolver::{DnsLookup, PolicyResolver},
};

/// How long a connection may take. A dead machine must not delay callers for long.
/// Limit (HTTP): time to connect to a server of another operator.
pub const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// How long a connection to a server of the operator may take. The server is needed, so the wait is
/// longer; a running server answers within moments.
/// Limit (HTTP): time to connect to a server that the operator configured.
const OPERATOR_CONNECT_WAIT: Duration = Duration::from_secs(10);

/// A client that connects only to addresses that the policy allows. `wait` covers a whole request,
/// including the body of the response. Check every address first with [`AddressPolicy::check_url`]: a numeric
/// address is not resolved, so the client itself does not check it. Fails if the machine has no usable
/// TLS setup.
pub fn build_restricted_client(
    policy: AddressPolicy,
    lookup: Arc<dyn DnsLookup>,
    wait: Duration,
) -> Result<Client, reqwest::Error> {
    client_builder(CONNECT_WAIT)
        .dns_resolver(PolicyResolver { policy, lookup })
        // A proxy would resolve names by itself.
        .no_proxy()
        .timeout(wait)
        .build()
}

/// The same client, built on first use: reading the root certificates of the machine takes milliseconds
/// and megabytes, and most servers make no requests. Clones share the client.
#[derive(Debug, Clone)]
pub struct LazyRestrictedClient {
    policy: AddressPolicy,
    lookup: Arc<dyn DnsLookup>,
    wait: Duration,
    client: Arc<OnceLock<Client>>,
}

impl LazyRestrictedClient {
    pub fn new(policy: AddressPolicy, lookup: Arc<dyn DnsLookup>, wait: Duration) -> Self {
        Self { policy, lookup, wait, client: Arc::default() }
    }

    /// The client. If the machine has no usable TLS setup, every request tries again.
    pub fn get_or_build_client(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = build_restricted_client(self.policy.clone(), self.lookup.clone(), self.wait)?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// A client for any address that the operator configured, and other addresses of the same server. The
/// proxy of the environment is used only for https: plain http is for this machine and its neighbours,
/// which a proxy cannot reach, and a proxy would see the keys in the requests. Responses may stream
/// without a time limit; the caller sets one.
pub fn build_operator_client(url: &Url) -> Result<Client, reqwest::Error> {
    // Small chunks are sent at once.
    let client = client_builder(OPERATOR_CONNECT_WAIT).tcp_nodelay(true);
    if url.scheme() == "http" { client.no_proxy() } else { client }.build()
}

/// Installs the TLS cryptography of this process, once. A provider that is already installed stays. A
/// client that is built without it, and without its own TLS feature, panics.
pub fn install_tls_provider() {
    // It fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[expect(clippy::disallowed_methods, reason = "this is the builder that all others come from")]
fn client_builder(connect_wait: Duration) -> ClientBuilder {
    install_tls_provider();
    Client::builder()
        // A redirect would send the request and some keys to an address that was not checked.
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(connect_wait)
        .user_agent(concat!("trackway/", env!("CARGO_PKG_VERSION")))
}

#[cfg(test)]
mod tests;
