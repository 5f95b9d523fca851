//! The HTTP client for requests to addresses that clients chose: no redirects, no proxy, short waits,
//! and nothing of the answer but its status is looked at.

use std::{net::IpAddr, sync::Arc, time::Duration};

use reqwest::{
    Client, Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use trackway_runtime::Undelivered;

use super::{
    address::AddressPolicy,
    resolver::{Lookup, Resolver, SystemLookup, forbidden_name},
    signature::signature,
    target::{Credentials, Target},
};

/// How long a connection may take. Deliveries take turns; one to a dead machine must not take long.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// How long a whole delivery may take. A receiver should take the body in and do its work later.
const DELIVERY_WAIT: Duration = Duration::from_secs(15);

/// How much of an answer is read, so that the connection can be used again. The rest is left.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// Longest address. Servers and proxies refuse longer ones anyway.
const URL_BYTES_MAX: usize = 8 * 1024;

const NOTIFICATION_TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
const SIGNATURE: HeaderName = HeaderName::from_static("x-trackway-signature");

/// How requests to clients' addresses are made.
#[derive(Clone, Default)]
pub struct OutgoingOptions {
    pub addresses: AddressPolicy,
    /// Signs every body.
    pub secret: Option<Vec<u8>>,
}

/// The secret stays out of logs.
impl std::fmt::Debug for OutgoingOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutgoingOptions")
            .field("addresses", &self.addresses)
            .field("signs", &self.secret.is_some())
            .finish()
    }
}

/// Why an address is refused, whatever answers there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the address is refused: {reason}")]
pub struct Forbidden {
    pub reason: String,
}

/// Sends bodies to clients' addresses. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Outgoing {
    client: Client,
    options: OutgoingOptions,
}

impl Outgoing {
    /// Fails where the machine has no usable TLS setup.
    pub fn new(options: OutgoingOptions) -> Result<Self, reqwest::Error> {
        Self::looking_up(options, Arc::new(SystemLookup))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the builder with the outgoing policy")]
    fn looking_up(
        options: OutgoingOptions,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .dns_resolver(Resolver { policy: options.addresses, lookup })
            // A proxy would look names up by itself.
            .no_proxy()
            // A redirect would lead to where nobody has looked.
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(CONNECT_WAIT)
            .timeout(DELIVERY_WAIT)
            .user_agent(concat!("trackway/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client, options })
    }

    /// Whether an address may be asked for. A name is judged by its addresses when it is connected to.
    pub fn check(&self, url: &str) -> Result<Url, Forbidden> {
        let refused = |reason: &str| Forbidden { reason: reason.to_owned() };
        if url.len() > URL_BYTES_MAX {
            return Err(refused("it is longer than 8 KiB"));
        }
        let url = Url::parse(url).map_err(|_| refused("it is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("it is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it holds credentials; send them as `authentication`"));
        }
        let host = url.host_str().unwrap_or_default();
        // Written as a number in whatever form, it has been brought into the usual one by now.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match literal.ok().and_then(|address| self.options.addresses.refusal(address)) {
            Some(what) => Err(Forbidden { reason: format!("it is {what}") }),
            None => Ok(url),
        }
    }

    /// Posts a body. Any answer of 200 to 299 is taken as received.
    pub async fn post(
        &self,
        target: &Target,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<(), Undelivered> {
        let never = |reason: String| Undelivered::Refused { reason };
        let url = self.check(&target.url).map_err(|forbidden| never(forbidden.reason))?;
        let mut headers = self.headers(target, content_type)?;
        if let Some(secret) = &self.options.secret {
            headers.insert(SIGNATURE, header(&signature(secret, &body), "the signature")?);
        }
        let sent = self.client.post(url).headers(headers).body(body).send().await;
        let answer = sent.map_err(|error| match forbidden_name(&error) {
            Some(forbidden) => never(forbidden.to_string()),
            None => Undelivered::Again { reason: failure(&error) },
        })?;
        let status = answer.status();
        finish(answer).await;
        match status.is_success() {
            true => Ok(()),
            false => Err(Undelivered::Again { reason: format!("the receiver answered {status}") }),
        }
    }

    fn headers(&self, target: &Target, content_type: &str) -> Result<HeaderMap, Undelivered> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, header(content_type, "the content type")?);
        if let Some(token) = &target.token {
            headers.insert(NOTIFICATION_TOKEN, header(token, "the token")?);
        }
        if let Some(Credentials { scheme, value }) = &target.credentials {
            let credentials = format!("{scheme} {value}");
            headers.insert(AUTHORIZATION, header(credentials.trim(), "the authentication")?);
        }
        Ok(headers)
    }
}

/// Whether a header can hold this text: one without control characters. Asked when a target is set, so
/// that nobody waits for deliveries that can never be made.
pub(crate) fn is_header_text(text: &str) -> bool {
    HeaderValue::from_str(text).is_ok()
}

/// A header's value, kept out of logs. What cannot be one will never be one.
fn header(text: &str, what: &str) -> Result<HeaderValue, Undelivered> {
    let value = HeaderValue::from_str(text);
    let mut value = value.map_err(|_| Undelivered::Refused {
        reason: format!("{what} cannot be sent: it holds control characters"),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// What went wrong, without the address: its query may be a secret.
fn failure(error: &reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "the receiver did not answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the request failed"
    };
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| what.to_owned(), |cause| format!("{what}: {cause}"))
}

/// Reads the rest of a short answer, so that the connection can be used again.
async fn finish(mut answer: Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = answer.chunk().await {
        read += chunk.len();
        if read > ANSWER_BYTES_MAX {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
