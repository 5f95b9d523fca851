//! Google's Gemini: `POST …/v1beta/models/{model}:streamGenerateContent`.

mod gemini_request_body;
mod gemini_stream_reader;

use std::time::Duration;

use serde_json::Value;

use super::{
    format_helpers::error_message_with_code,
    provider_format::{AnswerStreamReader, ProviderFormat},
};
use crate::conversation::ModelRequest;

pub(super) const KIND: &str = "gemini";
pub(super) const BASE_URL: &str = "https://generativelanguage.googleapis.com";

/// The key for a call's signature and id. Those of other providers are not sent.
const ECHO: &str = "gemini";

#[derive(Debug, Clone, Copy)]
pub(super) struct GeminiFormat {
    version: &'static str,
}

impl GeminiFormat {
    /// The base address may include the version or not.
    pub(super) fn format_for_base_url(base_url: &str) -> Self {
        let base_url = base_url.trim_end_matches('/');
        let is_versioned = ["/v1", "/v1beta"].iter().any(|version| base_url.ends_with(version));
        Self { version: if is_versioned { "" } else { "/v1beta" } }
    }
}

impl ProviderFormat for GeminiFormat {
    fn request_path(&self, model: &str) -> String {
        // Tuned models are in a separate collection.
        let collection = if model.contains('/') { "" } else { "models/" };
        format!("{}/{collection}{model}:streamGenerateContent?alt=sse", self.version)
    }

    fn authorization_header(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn build_request_body(&self, _model: &str, request: &ModelRequest) -> Value {
        gemini_request_body::build_gemini_body(request)
    }

    fn new_stream_reader(&self) -> Box<dyn AnswerStreamReader> {
        Box::new(gemini_stream_reader::GeminiStreamReader::default())
    }

    fn parse_error_message(&self, body: &Value) -> Option<String> {
        let error = error_object_of_body(body)?;
        Some(error_message_with_code(error["message"].as_str()?, error["status"].as_str()))
    }

    fn retry_delay_from_body(&self, body: &Value) -> Option<Duration> {
        let details = error_object_of_body(body)?["details"].as_array()?;
        let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
        // A duration in Google's format: seconds, an optional fraction, and an `s`.
        Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
    }
}

/// The error of a stream is wrapped in a list.
fn error_object_of_body(body: &Value) -> Option<&Value> {
    body.get(0).unwrap_or(body).get("error")
}

#[cfg(test)]
mod tests;
