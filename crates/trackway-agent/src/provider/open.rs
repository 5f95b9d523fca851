//! The providers that use HTTP, by the word before the `/` of a label.

use std::sync::Arc;

use super::{
    anthropic::{self, Anthropic},
    format::Format,
    gemini::{self, Gemini},
    http::{BadEndpoint, Endpoint, HttpProvider},
    openai::{self, OpenAi},
    responses::{self, Responses},
};

/// A kind of server: its name, its public address, and its format for a base address.
struct Row {
    kind: &'static str,
    base_url: &'static str,
    format: fn(base_url: &str) -> Arc<dyn Format>,
}

const TABLE: &[Row] = &[
    Row {
        kind: openai::KIND,
        base_url: openai::BASE_URL,
        format: |base_url| Arc::new(OpenAi::at(base_url)),
    },
    Row {
        kind: anthropic::KIND,
        base_url: anthropic::BASE_URL,
        format: |base_url| Arc::new(Anthropic::at(base_url)),
    },
    Row {
        kind: gemini::KIND,
        base_url: gemini::BASE_URL,
        format: |base_url| Arc::new(Gemini::at(base_url)),
    },
    Row { kind: responses::KIND, base_url: responses::BASE_URL, format: |_| Arc::new(Responses) },
];

/// The names of the kinds that [`open`] knows.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.kind)
}

/// A model of that kind. Nothing is sent before the first call.
pub fn open(kind: &str, endpoint: &Endpoint) -> Result<HttpProvider, BadEndpoint> {
    let Some(row) = TABLE.iter().find(|row| row.kind == kind) else {
        return Err(BadEndpoint::Kind { kind: kind.to_owned(), known: kinds().collect() });
    };
    let format = (row.format)(endpoint.base_url.as_deref().unwrap_or(row.base_url));
    HttpProvider::new(row.kind, row.base_url, format, endpoint)
}

#[cfg(test)]
mod tests;
