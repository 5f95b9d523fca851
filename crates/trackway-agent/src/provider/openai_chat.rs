//! OpenAI's chat format, which most servers of open models also support: `POST …/chat/completions`.

mod chat_request_body;
mod chat_stream_reader;

use serde_json::Value;

use super::provider_format::{AnswerStreamReader, ProviderFormat};
use crate::conversation::ModelRequest;

pub(super) const KIND: &str = "openai";
pub(super) const BASE_URL: &str = "https://api.openai.com/v1";

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAiChatFormat {
    cap: MaxTokensField,
}

/// The field for the maximum length of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MaxTokensField {
    /// OpenAI's newer models accept only this one.
    MaxCompletionTokens,
    /// Some servers know only this one, and ignore unknown fields.
    MaxTokens,
}

impl OpenAiChatFormat {
    /// For a server at this address.
    pub(super) fn format_for_base_url(base_url: &str) -> Self {
        let own = ["//api.openai.com", ".openai.azure.com"];
        let own = own.iter().any(|host| base_url.contains(host));
        Self { cap: if own { MaxTokensField::MaxCompletionTokens } else { MaxTokensField::MaxTokens } }
    }
}

impl ProviderFormat for OpenAiChatFormat {
    fn request_path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn build_request_body(&self, model: &str, request: &ModelRequest) -> Value {
        chat_request_body::build_chat_body(model, request, self.cap)
    }

    /// Some servers reject every unknown field.
    fn optional_body_fields(&self) -> &'static [&'static str] {
        &["stream_options"]
    }

    fn new_stream_reader(&self) -> Box<dyn AnswerStreamReader> {
        Box::new(chat_stream_reader::ChatStreamReader::default())
    }
}
