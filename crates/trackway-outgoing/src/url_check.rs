//! Checks of an address before any request: its form, and its number if it is numeric.

use std::net::IpAddr;

use reqwest::Url;

use crate::AddressPolicy;

/// Longest address. Servers and proxies refuse longer ones anyway.
/// Limit (HTTP): address that we call.
const URL_BYTES_MAX: usize = 8 * 1024;

/// Why an address is refused, independent of the server there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the address is refused: {reason}")]
pub struct UrlRefusal {
    pub reason: String,
}

impl AddressPolicy {
    /// Whether an address may be requested. A name is checked by its addresses when it is connected
    /// to.
    pub fn check_url(&self, url: &str) -> Result<Url, UrlRefusal> {
        let refused = |reason: &str| UrlRefusal { reason: reason.to_owned() };
        if url.len() > URL_BYTES_MAX {
            return Err(refused("it is longer than 8 KiB"));
        }
        let url = Url::parse(url).map_err(|_| refused("it is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("it is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it contains credentials; send them separately"));
        }
        let host = url.host_str().unwrap_or_default();
        // The URL parser has already normalised every form of numeric address.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match literal.ok().and_then(|address| self.address_refusal_reason(address)) {
            Some(what) => Err(UrlRefusal { reason: format!("it is {what}") }),
            None => Ok(url),
        }
    }
}
