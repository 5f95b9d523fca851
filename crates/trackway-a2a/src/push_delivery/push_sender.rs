//! The HTTP client for addresses that clients chose: no redirects, no proxy, short timeouts, and only
//! the status of the answer is used.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use trackway_outgoing::{
    AddressPolicy, DnsLookup, LazyRestrictedClient, SystemDnsLookup, UrlRefusal, describe_request_error,
    find_host_refusal,
};
use trackway_runtime::HookDeliveryError;

use super::{
    push_signature::push_hmac_signature,
    push_target::{PushCredentials, PushTarget},
};

/// How long a whole delivery may take. A receiver should accept the body and process it later.
/// Limit (Push): time of one delivery.
const DELIVERY_WAIT: Duration = Duration::from_secs(15);

/// How much of an answer is read, so that the connection can be reused. The rest is ignored.
/// Limit (Push): answer of a receiver that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

const NOTIFICATION_TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
const SIGNATURE: HeaderName = HeaderName::from_static("x-trackway-signature");

/// Settings for requests to clients' addresses.
#[derive(Clone, Default)]
pub struct PushSenderOptions {
    pub addresses: AddressPolicy,
    /// Signs every body.
    pub secret: Option<Vec<u8>>,
}

/// The secret stays out of logs.
impl std::fmt::Debug for PushSenderOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutgoingOptions")
            .field("addresses", &self.addresses)
            .field("signs", &self.secret.is_some())
            .finish()
    }
}

/// Sends bodies to clients' addresses. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PushSender {
    client: LazyRestrictedClient,
    options: PushSenderOptions,
}

impl PushSender {
    pub fn new(options: PushSenderOptions) -> Self {
        Self::with_dns_lookup(options, Arc::new(SystemDnsLookup))
    }

    fn with_dns_lookup(options: PushSenderOptions, lookup: Arc<dyn DnsLookup>) -> Self {
        let client = LazyRestrictedClient::new(options.addresses.clone(), lookup, DELIVERY_WAIT);
        Self { client, options }
    }

    /// Whether an address is allowed. The addresses of a name are checked when it is connected to.
    pub fn check_push_url(&self, url: &str) -> Result<Url, UrlRefusal> {
        self.options.addresses.check_url(url)
    }

    /// Posts a body. Any answer from 200 to 299 counts as received.
    pub async fn post_notification(
        &self,
        target: &PushTarget,
        content_type: &str,
        body: Vec<u8>,
    ) -> Result<(), HookDeliveryError> {
        let never = |reason: String| HookDeliveryError::Refused { reason };
        let url = self.check_push_url(&target.url).map_err(|forbidden| never(forbidden.reason))?;
        let mut headers = self.notification_headers(target, content_type)?;
        if let Some(secret) = &self.options.secret {
            headers.insert(
                SIGNATURE,
                sensitive_header_value(&push_hmac_signature(secret, &body), "the signature")?,
            );
        }
        let again =
            |error: &reqwest::Error| HookDeliveryError::Transient { reason: describe_request_error(error) };
        let client = self.client.get_or_build_client().map_err(|error| again(&error))?;
        let sent = client.post(url).headers(headers).body(body).send().await;
        let answer = sent.map_err(|error| match find_host_refusal(&error) {
            Some(forbidden) => never(forbidden.to_string()),
            None => again(&error),
        })?;
        let status = answer.status();
        drain_response(answer).await;
        match status.is_success() {
            true => Ok(()),
            false => Err(HookDeliveryError::Transient { reason: format!("the receiver answered {status}") }),
        }
    }

    fn notification_headers(
        &self,
        target: &PushTarget,
        content_type: &str,
    ) -> Result<HeaderMap, HookDeliveryError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, sensitive_header_value(content_type, "the content type")?);
        if let Some(token) = &target.token {
            headers.insert(NOTIFICATION_TOKEN, sensitive_header_value(token, "the token")?);
        }
        if let Some(PushCredentials { scheme, value }) = &target.credentials {
            let credentials = format!("{scheme} {value}");
            headers.insert(AUTHORIZATION, sensitive_header_value(credentials.trim(), "the authentication")?);
        }
        Ok(headers)
    }
}

/// Whether a header can carry this text: it has no control characters. This is checked when a target is
/// set, so that no client waits for impossible deliveries.
pub(crate) fn is_valid_header_text(text: &str) -> bool {
    HeaderValue::from_str(text).is_ok()
}

/// A header's value, kept out of logs. An invalid value stays invalid, so there is no retry.
fn sensitive_header_value(text: &str, what: &str) -> Result<HeaderValue, HookDeliveryError> {
    let value = HeaderValue::from_str(text);
    let mut value = value.map_err(|_| HookDeliveryError::Refused {
        reason: format!("{what} cannot be sent: it holds control characters"),
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads the rest of a short answer, so that the connection can be reused.
async fn drain_response(mut answer: Response) {
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
