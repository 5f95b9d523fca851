//! Reads a document at an address that others chose. The address must pass the policy, and so must every
//! redirect.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::{
    Response, StatusCode, Url,
    header::{ACCEPT, LOCATION},
};

use crate::{
    AddressPolicy, DnsLookup, LazyRestrictedClient, UrlRefusal, describe_request_error, find_host_refusal,
};

/// Redirects that one request follows. More is probably a loop.
/// Limit (HTTP): redirects of one fetch.
const REDIRECTS_MAX: usize = 5;

/// Sends GET requests under a policy. Clones share the client.
#[derive(Debug, Clone)]
pub struct RestrictedFetcher {
    policy: AddressPolicy,
    client: LazyRestrictedClient,
}

/// The response, and the address that gave it.
#[derive(Debug)]
pub struct FetchedResponse {
    pub url: Url,
    pub response: Response,
}

/// Why a document was not read. It names no address: the query of one may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Url(#[from] UrlRefusal),
    #[error("the address is refused: {reason}")]
    Host { reason: String },
    #[error("the address redirects more than {REDIRECTS_MAX} times")]
    TooManyRedirects,
    #[error("it is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("{reason}")]
    Request { reason: String },
}

impl RestrictedFetcher {
    /// `wait` covers each request with its response.
    pub fn new(policy: AddressPolicy, lookup: Arc<dyn DnsLookup>, wait: Duration) -> Self {
        let client = LazyRestrictedClient::new(policy.clone(), lookup, wait);
        Self { policy, client }
    }

    /// The response at this address, or where its redirects lead.
    pub async fn get(&self, url: &str, accept: &str) -> Result<FetchedResponse, FetchError> {
        let mut url = self.policy.check_url(url)?;
        let client = self.client.get_or_build_client()?;
        for _ in 0..=REDIRECTS_MAX {
            let response = client.get(url.clone()).header(ACCEPT, accept).send().await?;
            match redirect_target(&url, &response) {
                Some(next) => url = self.policy.check_url(&next)?,
                None => return Ok(FetchedResponse { url, response }),
            }
        }
        Err(FetchError::TooManyRedirects)
    }
}

impl FetchedResponse {
    /// The whole body, if it is not larger than this.
    pub async fn read_body(&mut self, bytes_max: usize) -> Result<Bytes, FetchError> {
        let too_large = || FetchError::TooLarge { bytes_max };
        let announced = self.response.content_length().unwrap_or(0);
        if !usize::try_from(announced).is_ok_and(|announced| announced <= bytes_max) {
            return Err(too_large());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = self.response.chunk().await? {
            if body.len() + chunk.len() > bytes_max {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }
}

impl From<reqwest::Error> for FetchError {
    fn from(error: reqwest::Error) -> Self {
        match find_host_refusal(&error) {
            Some(refusal) => Self::Host { reason: refusal.to_string() },
            None => Self::Request { reason: describe_request_error(&error) },
        }
    }
}

/// The target of a redirect.
fn redirect_target(from: &Url, response: &Response) -> Option<String> {
    let leads_on = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| leads_on)?.to_str().ok()?;
    Some(from.join(location).map_or_else(|_| location.to_owned(), String::from))
}
