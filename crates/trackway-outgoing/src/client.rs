//! The builders of HTTP clients: one that keeps to the policy, one for addresses of the operator.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, ClientBuilder, redirect::Policy};

use crate::{
    AddressPolicy,
    resolver::{Lookup, Resolver},
};

/// How long a connection may take. A dead machine must not hold anybody up for long.
pub const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// A client that connects only to what the policy allows. `wait` is for a whole request, its answer's
/// body included. Every address given to it is asked about first, with [`AddressPolicy::check`]: a
/// number is not looked up, so it is not seen here. Fails where the machine has no usable TLS setup.
pub fn client(
    policy: AddressPolicy,
    lookup: Arc<dyn Lookup>,
    wait: Duration,
) -> Result<Client, reqwest::Error> {
    builder()
        .dns_resolver(Resolver { policy, lookup })
        // A proxy would look names up by itself.
        .no_proxy()
        .timeout(wait)
        .build()
}

/// A client for addresses that the operator wrote down: any of them, by way of the proxy that the
/// environment names. Answers may stream for as long as they like; whoever asks sets an end.
pub fn operator_client() -> Result<Client, reqwest::Error> {
    builder().build()
}

#[expect(clippy::disallowed_methods, reason = "this is the builder that all others come from")]
fn builder() -> ClientBuilder {
    Client::builder()
        // A redirect would lead to where nobody has looked.
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(CONNECT_WAIT)
        .user_agent(concat!("trackway/", env!("CARGO_PKG_VERSION")))
}
