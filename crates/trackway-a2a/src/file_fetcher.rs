//! Reads a file that a message names by its address. The sender chose the address, so the outgoing policy
//! decides whether it may be called.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{StatusCode, header::CONTENT_TYPE};
use trackway_outgoing::{AddressPolicy, DnsLookup, FetchError, RestrictedFetcher, SystemDnsLookup};

/// How long the whole fetch may take, redirects and content included. The sender of the message waits.
/// Limit (A2A): time to read a file at an address that a message names.
const FETCH_WAIT: Duration = Duration::from_secs(30);

/// Reads files. Clones share the client.
#[derive(Debug, Clone)]
pub struct FileFetcher(RestrictedFetcher);

#[derive(Debug)]
pub(crate) struct FetchedFile {
    /// As the server named it.
    pub(crate) media_type: Option<String>,
    pub(crate) bytes: Bytes,
}

/// Why a file was not read. The reasons name no address: the query of one may be a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileFetchError {
    /// The address is not allowed, or there is no such file.
    Refused {
        reason: String,
    },
    /// The same request may succeed later.
    Unavailable {
        reason: String,
    },
    TooLarge {
        bytes_max: usize,
    },
}

impl FileFetcher {
    pub fn new(policy: AddressPolicy) -> Self {
        Self::with_dns_lookup(policy, Arc::new(SystemDnsLookup))
    }

    /// With another way to look up names.
    pub fn with_dns_lookup(policy: AddressPolicy, lookup: Arc<dyn DnsLookup>) -> Self {
        Self(RestrictedFetcher::new(policy, lookup, FETCH_WAIT))
    }

    pub(crate) async fn fetch_file(
        &self,
        url: &str,
        bytes_max: usize,
    ) -> Result<FetchedFile, FileFetchError> {
        let fetched = tokio::time::timeout(FETCH_WAIT, self.fetch_without_time_limit(url, bytes_max)).await;
        fetched.unwrap_or_else(|_| {
            Err(FileFetchError::Unavailable { reason: "its address did not answer in time".to_owned() })
        })
    }

    async fn fetch_without_time_limit(
        &self,
        url: &str,
        bytes_max: usize,
    ) -> Result<FetchedFile, FileFetchError> {
        let mut fetched = self.0.get(url, "*/*").await?;
        let status = fetched.response.status();
        if !status.is_success() {
            let reason = format!("its address answered {status}");
            let is_transient = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(match is_transient {
                true => FileFetchError::Unavailable { reason },
                false => FileFetchError::Refused { reason },
            });
        }
        let media_type = fetched.response.headers().get(CONTENT_TYPE);
        let media_type = media_type.and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(FetchedFile { media_type, bytes: fetched.read_body(bytes_max).await? })
    }
}

impl From<FetchError> for FileFetchError {
    fn from(error: FetchError) -> Self {
        let reason = error.to_string();
        match error {
            FetchError::Url(_) | FetchError::Host { .. } | FetchError::TooManyRedirects => {
                Self::Refused { reason }
            }
            FetchError::Request { .. } => Self::Unavailable { reason },
            FetchError::TooLarge { bytes_max } => Self::TooLarge { bytes_max },
        }
    }
}
