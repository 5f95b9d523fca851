//! Resolves names to addresses, and returns only addresses that the policy allows. The connection
//! uses exactly these, so changing the address of a name between a check and the connection has no
//! effect.

use std::{
    error::Error,
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::AddressPolicy;

/// How names are looked up.
pub trait DnsLookup: Send + Sync + fmt::Debug {
    fn lookup_host(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// Uses the resolver of the operating system.
#[derive(Debug)]
pub struct SystemDnsLookup;

impl DnsLookup for SystemDnsLookup {
    fn lookup_host(&self, name: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

#[derive(Debug)]
pub(crate) struct PolicyResolver {
    pub(crate) policy: AddressPolicy,
    pub(crate) lookup: Arc<dyn DnsLookup>,
}

/// No address of a name may be connected to.
#[derive(Debug, thiserror::Error)]
#[error("its name resolves to {what}")]
pub struct HostRefusal {
    what: &'static str,
}

impl Resolve for PolicyResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy.clone();
        let found = self.lookup.lookup_host(name.as_str().to_owned());
        Box::pin(async move {
            let mut refused = None;
            let mut allowed = Vec::new();
            for address in found.await? {
                match policy.resolved_address_refusal_reason(name.as_str(), address) {
                    // The client adds the port of the request.
                    None => allowed.push(SocketAddr::new(address, 0)),
                    Some(what) => refused = Some(what),
                }
            }
            match refused {
                Some(what) if allowed.is_empty() => Err(HostRefusal { what }.into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

/// The refusal that made a request fail, if there was one.
pub fn find_host_refusal(error: &reqwest::Error) -> Option<&HostRefusal> {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(forbidden) = error.downcast_ref() {
            return Some(forbidden);
        }
        cause = error.source();
    }
    None
}
