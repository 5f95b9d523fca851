//! Fetches small documents from addresses that the operator configures, with a limit of time and
//! size.

use std::time::Duration;

use reqwest::{Client, Url};
use trackway_outgoing::build_operator_client;

use super::AuthError;

/// A request stays open while it waits for this.
/// Limit (HTTP): time to get an issuer's keys.
const PATIENCE: Duration = Duration::from_secs(5);
/// Largest set of keys: far more than a hundred keys need.
/// Limit (HTTP): set of an issuer's keys.
pub(super) const KEY_SET_BYTES_MAX: usize = 512 * 1024;

/// One address that is fetched from time to time.
#[derive(Debug)]
pub(super) struct UrlFetcher {
    url: Url,
    client: Client,
}

impl UrlFetcher {
    pub(super) fn new(url: Url) -> Result<Self, AuthError> {
        let client =
            build_operator_client(&url).map_err(|error| AuthError::Client { reason: error.to_string() })?;
        Ok(Self { url, client })
    }

    /// The body at the address. Errors name the address, which is no secret.
    pub(super) async fn fetch_body(&self, max_bytes: usize) -> Result<Vec<u8>, String> {
        let failed = |error: reqwest::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error}{}", cause.map(|cause| format!(": {cause}")).unwrap_or_default())
        };
        let mut response =
            self.client.get(self.url.clone()).timeout(PATIENCE).send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(format!("{} answered {}", self.url, response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > max_bytes {
                return Err(format!("{} answered with more than {max_bytes} bytes", self.url));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}
