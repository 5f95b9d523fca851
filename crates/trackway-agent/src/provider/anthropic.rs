//! Anthropic's Messages: `POST …/v1/messages`. The server keeps no state; every request is complete.

mod messages_request_body;
mod messages_stream_reader;
mod strict_schema;

use serde_json::Value;

use super::{
    format_helpers::error_message_with_code,
    provider_format::{AnswerStreamReader, ProviderFormat},
};
use crate::conversation::ModelRequest;

pub(super) const KIND: &str = "anthropic";
pub(super) const BASE_URL: &str = "https://api.anthropic.com";

/// The key for thoughts that are kept with a call. Thoughts of other providers are not sent.
const ECHO: &str = "anthropic";

#[derive(Debug, Clone, Copy)]
pub(super) struct AnthropicFormat {
    path: &'static str,
}

impl AnthropicFormat {
    /// The base address may include the version or not.
    pub(super) fn format_for_base_url(base_url: &str) -> Self {
        let is_versioned = base_url.trim_end_matches('/').ends_with("/v1");
        Self { path: if is_versioned { "/messages" } else { "/v1/messages" } }
    }
}

impl ProviderFormat for AnthropicFormat {
    fn request_path(&self, _model: &str) -> String {
        self.path.to_owned()
    }

    fn authorization_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn extra_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn build_request_body(&self, model: &str, request: &ModelRequest) -> Value {
        messages_request_body::build_messages_body(model, request)
    }

    fn new_stream_reader(&self) -> Box<dyn AnswerStreamReader> {
        Box::new(messages_stream_reader::MessagesStreamReader::default())
    }

    fn parse_error_message(&self, body: &Value) -> Option<String> {
        let error = &body["error"];
        Some(error_message_with_code(error["message"].as_str()?, error["type"].as_str()))
    }
}

#[cfg(test)]
mod tests;
