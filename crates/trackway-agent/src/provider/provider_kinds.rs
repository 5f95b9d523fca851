//! The providers that use HTTP, by the word before the `/` of a label.

use std::sync::Arc;

use super::{
    anthropic::{self, AnthropicFormat},
    gemini::{self, GeminiFormat},
    http_provider::{HttpModelProvider, ModelEndpoint, ModelEndpointError},
    openai_chat::{self, OpenAiChatFormat},
    openai_responses::{self, OpenAiResponsesFormat},
    provider_format::ProviderFormat,
};

/// A kind of server: its name, its public address, and its format for a base address.
struct ProviderKind {
    kind: &'static str,
    base_url: &'static str,
    format: fn(base_url: &str) -> Arc<dyn ProviderFormat>,
}

const PROVIDER_KINDS: &[ProviderKind] = &[
    ProviderKind {
        kind: openai_chat::KIND,
        base_url: openai_chat::BASE_URL,
        format: |base_url| Arc::new(OpenAiChatFormat::format_for_base_url(base_url)),
    },
    ProviderKind {
        kind: anthropic::KIND,
        base_url: anthropic::BASE_URL,
        format: |base_url| Arc::new(AnthropicFormat::format_for_base_url(base_url)),
    },
    ProviderKind {
        kind: gemini::KIND,
        base_url: gemini::BASE_URL,
        format: |base_url| Arc::new(GeminiFormat::format_for_base_url(base_url)),
    },
    ProviderKind {
        kind: openai_responses::KIND,
        base_url: openai_responses::BASE_URL,
        format: |_| Arc::new(OpenAiResponsesFormat),
    },
];

/// The names of the kinds that [`open_http_provider`] knows.
pub fn provider_kind_names() -> impl Iterator<Item = &'static str> {
    PROVIDER_KINDS.iter().map(|row| row.kind)
}

/// A model of that kind. Nothing is sent before the first call.
pub fn open_http_provider(
    kind: &str,
    endpoint: &ModelEndpoint,
) -> Result<HttpModelProvider, ModelEndpointError> {
    let Some(row) = PROVIDER_KINDS.iter().find(|row| row.kind == kind) else {
        return Err(ModelEndpointError::Kind {
            kind: kind.to_owned(),
            known: provider_kind_names().collect(),
        });
    };
    let format = (row.format)(endpoint.base_url.as_deref().unwrap_or(row.base_url));
    HttpModelProvider::new(row.kind, row.base_url, format, endpoint)
}

#[cfg(test)]
mod tests;
