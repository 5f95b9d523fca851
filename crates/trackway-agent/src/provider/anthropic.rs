//! Anthropic's Messages: `POST …/v1/messages`. The server keeps no state; every request is complete.

mod body;
mod form;
mod reader;

use serde_json::Value;

use super::{
    format::{Format, Reader},
    wire::with_code,
};
use crate::conversation::Request;

pub(super) const KIND: &str = "anthropic";
pub(super) const BASE_URL: &str = "https://api.anthropic.com";

/// The key for thoughts that are kept with a call. Thoughts of other providers are not sent.
const ECHO: &str = "anthropic";

#[derive(Debug, Clone, Copy)]
pub(super) struct Anthropic {
    path: &'static str,
}

impl Anthropic {
    /// The base address may include the version or not.
    pub(super) fn at(base_url: &str) -> Self {
        let is_versioned = base_url.trim_end_matches('/').ends_with("/v1");
        Self { path: if is_versioned { "/messages" } else { "/v1/messages" } }
    }
}

impl Format for Anthropic {
    fn path(&self, _model: &str) -> String {
        self.path.to_owned()
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, model: &str, request: &Request) -> Value {
        body::body(model, request)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::MessageReader::default())
    }

    fn complaint(&self, body: &Value) -> Option<String> {
        let error = &body["error"];
        Some(with_code(error["message"].as_str()?, error["type"].as_str()))
    }
}

#[cfg(test)]
mod tests;
