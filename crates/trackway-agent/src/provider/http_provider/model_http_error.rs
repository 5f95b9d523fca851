//! Classifies a server's failure, and describes it without secrets.

use std::{sync::Arc, time::Duration};

use reqwest::{
    StatusCode, Url,
    header::{DATE, HeaderMap, HeaderName, RETRY_AFTER},
};
use serde_json::Value;
use trackway_domain::Timestamp;
use trackway_ports::Clock as _;
use trackway_runtime::SystemClock;

use super::ModelEndpoint;
use crate::provider::{ModelError, provider_format::ProviderFormat};

/// How much of an error message is shown: a few sentences, even if a proxy sent a whole page.
/// Limit (Agents): text of a model server's failure that is shown.
const REASON_CHARS_MAX: usize = 500;

/// Shorter values of headers are words and versions, not secrets.
const SECRET_CHARS_MIN: usize = 8;

/// Shorter keys are placeholders for a server that needs none. Hiding them would hide parts of its
/// messages.
const KEY_CHARS_MIN: usize = 4;

/// Some servers ask for waits shorter than a second, in milliseconds.
const RETRY_AFTER_MS: HeaderName = HeaderName::from_static("retry-after-ms");

/// Removes secrets from the texts of others, and knows the name of the server.
#[derive(Clone)]
pub(super) struct SecretRedactor {
    secrets: Arc<[String]>,
    /// Scheme, host and port: what an operator needs to find the server, and no more.
    server: Arc<str>,
}

impl SecretRedactor {
    pub(super) fn new(endpoint: &ModelEndpoint, url: &Url) -> Self {
        let values = endpoint.headers.values();
        let words = values.flat_map(|value| [value.as_str()].into_iter().chain(value.split(' ')));
        let long = words.filter(|word| word.len() >= SECRET_CHARS_MIN);
        let key = endpoint.key.as_deref().filter(|key| key.len() >= KEY_CHARS_MIN);
        let passwords = url.password().into_iter();
        let mut secrets: Vec<String> =
            key.into_iter().chain(passwords).chain(long).map(str::to_owned).collect();
        // A whole value before its words.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets: secrets.into(), server: url.origin().ascii_serialization().into() }
    }

    fn redact_secrets(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in self.secrets.iter() {
            clean = clean.replace(secret.as_str(), "[hidden]");
        }
        let line: Vec<&str> = clean.split_whitespace().collect();
        let line = line.join(" ");
        let shown = line.chars().filter(|letter| !letter.is_control()).take(REASON_CHARS_MAX);
        shown.collect()
    }

    /// The same error without secrets.
    pub(super) fn redact_model_error(&self, mut error: ModelError) -> ModelError {
        match &mut error {
            ModelError::Unreachable { reason }
            | ModelError::Busy { reason, .. }
            | ModelError::Refused { reason, .. }
            | ModelError::Failed { reason, .. }
            | ModelError::Unreadable { reason } => *reason = self.redact_secrets(reason),
            ModelError::Truncated | ModelError::Silent { .. } | ModelError::Unscripted { .. } => {}
        }
        error
    }

    /// No answer started. The address in reqwest's own message may contain a secret.
    pub(super) fn unreachable_error(&self, error: &reqwest::Error) -> ModelError {
        let reason = format!("{}: {}", self.server, trackway_outgoing::describe_request_error(error));
        ModelError::Unreachable { reason: self.redact_secrets(&reason) }
    }

    pub(super) fn silent_server_error(&self, timeout: Duration) -> ModelError {
        let seconds = timeout.as_secs();
        ModelError::Unreachable { reason: format!("{} said nothing for {seconds} seconds", self.server) }
    }
}

/// The meaning of an answer that is not a success.
pub(super) fn model_error_from_status(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    format: &dyn ProviderFormat,
) -> ModelError {
    let text = String::from_utf8_lossy(body);
    let json: Option<Value> = serde_json::from_slice(body).ok();
    let own = json.as_ref().and_then(|body| format.parse_error_message(body));
    let reason = own.unwrap_or_else(|| match text.trim() {
        "" => status.canonical_reason().unwrap_or("no reason given").to_owned(),
        words => words.to_owned(),
    });
    let passing = status.is_server_error()
        || status == StatusCode::REQUEST_TIMEOUT
        || status == StatusCode::TOO_MANY_REQUESTS;
    // Providers report an empty account as too many requests, but waiting does not help.
    let unpaid = json.as_ref().is_some_and(|body| body["error"]["code"] == "insufficient_quota");
    let status = status.as_u16();
    match passing && !unpaid {
        true => {
            let told = || json.as_ref().and_then(|body| format.retry_delay_from_body(body));
            ModelError::Busy { status, reason, retry_after: parse_retry_after(headers).or_else(told) }
        }
        false => ModelError::Refused { status, reason },
    }
}

/// How long the server asks callers to wait: seconds, or a date.
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(millis) = text(RETRY_AFTER_MS).and_then(|text| text.trim().parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let asked = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = parse_http_date(asked)?;
    // Uses the server's clock if it sends one, because ours may differ.
    let now = text(DATE).and_then(parse_http_date).unwrap_or_else(|| SystemClock.now());
    Some(until.duration_since(now))
}

fn parse_http_date(text: &str) -> Option<Timestamp> {
    let zoned = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests;
