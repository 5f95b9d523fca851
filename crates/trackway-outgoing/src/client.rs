//! The builders of HTTP clients: one that keeps to the policy, one for addresses of the operator.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{Client, ClientBuilder, Url, redirect::Policy};

use crate::{
    AddressPolicy,
    resolver::{Lookup, Resolver},
};

/// How long a connection may take. A dead machine must not hold anybody up for long.
/// Limit (HTTP): time to connect to somebody else's server.
pub const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// How long a connection to a server of the operator may take. It is needed, so it is waited for longer;
/// one that is there answers within moments, wherever it is.
/// Limit (HTTP): time to connect to a server that the operator configured.
const OPERATOR_CONNECT_WAIT: Duration = Duration::from_secs(10);

/// A client that connects only to what the policy allows. `wait` is for a whole request, its answer's
/// body included. Every address given to it is asked about first, with [`AddressPolicy::check`]: a
/// number is not looked up, so it is not seen here. Fails where the machine has no usable TLS setup.
pub fn client(
    policy: AddressPolicy,
    lookup: Arc<dyn Lookup>,
    wait: Duration,
) -> Result<Client, reqwest::Error> {
    builder(CONNECT_WAIT)
        .dns_resolver(Resolver { policy, lookup })
        // A proxy would look names up by itself.
        .no_proxy()
        .timeout(wait)
        .build()
}

/// The same, built when it is first needed: reading the root certificates of the machine takes
/// milliseconds and megabytes, and most servers call nobody. Clones are the same.
#[derive(Debug, Clone)]
pub struct LazyClient {
    policy: AddressPolicy,
    lookup: Arc<dyn Lookup>,
    wait: Duration,
    client: Arc<OnceLock<Client>>,
}

impl LazyClient {
    pub fn new(policy: AddressPolicy, lookup: Arc<dyn Lookup>, wait: Duration) -> Self {
        Self { policy, lookup, wait, client: Arc::default() }
    }

    /// The client. A machine without a usable TLS setup is looked at again with every request.
    pub fn get(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = client(self.policy, self.lookup.clone(), self.wait)?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// A client for an address that the operator wrote down, whichever it is, and others of the same server.
/// The proxy that the environment names is used for https alone: plain http is for this machine and its
/// neighbours, which no proxy can reach, and a proxy would see the keys that are sent. Answers may stream
/// for as long as they like; whoever asks sets an end.
pub fn operator_client(url: &Url) -> Result<Client, reqwest::Error> {
    // Single words are sent as they are said.
    let client = builder(OPERATOR_CONNECT_WAIT).tcp_nodelay(true);
    if url.scheme() == "http" { client.no_proxy() } else { client }.build()
}

/// Gives this process its cryptography for TLS, once; what another part of it has installed stays. A
/// client that is built without it, and without a TLS feature of its own, panics.
pub fn install_tls() {
    // The only failure: there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[expect(clippy::disallowed_methods, reason = "this is the builder that all others come from")]
fn builder(connect_wait: Duration) -> ClientBuilder {
    install_tls();
    Client::builder()
        // A redirect would lead to where nobody has looked, with what was sent and some keys.
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(connect_wait)
        .user_agent(concat!("trackway/", env!("CARGO_PKG_VERSION")))
}

#[cfg(test)]
mod tests;
