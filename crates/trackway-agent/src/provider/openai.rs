//! OpenAI's chat format, which most servers of open models also support: `POST …/chat/completions`.

mod body;
mod reader;

use serde_json::Value;

use super::format::{Format, Reader};
use crate::conversation::Request;

pub(super) const KIND: &str = "openai";
pub(super) const BASE_URL: &str = "https://api.openai.com/v1";

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAi {
    cap: Cap,
}

/// The field for the maximum length of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cap {
    /// OpenAI's newer models accept only this one.
    MaxCompletionTokens,
    /// Some servers know only this one, and ignore unknown fields.
    MaxTokens,
}

impl OpenAi {
    /// For a server at this address.
    pub(super) fn at(base_url: &str) -> Self {
        let own = ["//api.openai.com", ".openai.azure.com"];
        let own = own.iter().any(|host| base_url.contains(host));
        Self { cap: if own { Cap::MaxCompletionTokens } else { Cap::MaxTokens } }
    }
}

impl Format for OpenAi {
    fn path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn body(&self, model: &str, request: &Request) -> Value {
        body::body(model, request, self.cap)
    }

    /// Some servers reject every unknown field.
    fn dispensable(&self) -> &'static [&'static str] {
        &["stream_options"]
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reader::ChatReader::default())
    }
}
