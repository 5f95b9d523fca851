//! `http_fetch`: a web page as text. The model chooses the address, so the address must pass the
//! outgoing policy. The same is true for every redirect.

use std::{sync::Arc, time::Duration};

use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use trackway_domain::Failure;
use trackway_outgoing::{
    AddressPolicy, DnsLookup, FetchError, FetchedResponse, RestrictedFetcher, SystemDnsLookup,
};
use trackway_runtime::{Tool, ToolOutput};

use super::{html_text::html_to_text, tool_from_function};
use crate::content_pieces::media_type;

/// How long one request may take, including its whole answer.
/// Limit (Agents): time of one fetch.
const FETCH_WAIT: Duration = Duration::from_secs(30);

/// How much of an answer is read. The rest is ignored.
/// Limit (Agents): page that is fetched.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How much text a model receives. More would cost more than it is worth.
/// Limit (Agents): text of a fetched page that a model is given.
const TEXT_CHARS_MAX: usize = 100_000;

/// The `Accept` header. A server that has several forms of a page then returns a readable one.
const ACCEPTED: &str = "text/html, application/json, text/*;q=0.9, application/xml;q=0.8";

pub(super) fn http_fetch_tool(policy: AddressPolicy) -> Arc<dyn Tool> {
    let description = "Reads a page of the web with GET and gives its text: HTML without its \
                       markup, JSON and plain text as they are. Addresses of private networks \
                       are refused.";
    let schema = json!({
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The address, with http:// or https://"},
        },
        "required": ["url"],
        "additionalProperties": false,
    });
    let fetcher = PageFetcher::new(policy, Arc::new(SystemDnsLookup));
    tool_from_function("http_fetch", description, schema, move |arguments, _| {
        let fetcher = fetcher.clone();
        let url = arguments["url"].as_str().unwrap_or_default().to_owned();
        Box::pin(async move { fetcher.fetch_page(&url).await.map(ToolOutput::from) })
    })
}

#[derive(Debug, Clone)]
struct PageFetcher(RestrictedFetcher);

impl PageFetcher {
    fn new(policy: AddressPolicy, lookup: Arc<dyn DnsLookup>) -> Self {
        Self(RestrictedFetcher::new(policy, lookup, FETCH_WAIT))
    }

    async fn fetch_page(&self, url: &str) -> Result<Value, Failure> {
        let fetched = self.0.get(url, ACCEPTED).await.map_err(|error| fetch_failure(&error))?;
        read_page_response(fetched).await
    }
}

async fn read_page_response(fetched: FetchedResponse) -> Result<Value, Failure> {
    let FetchedResponse { url, mut response } = fetched;
    let status = response.status().as_u16();
    let content_type = response.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or("text/plain");
    let kind = PageTextKind::page_kind_from_content_type(content_type)
        .ok_or_else(|| Failure::new(format!("it is of type {content_type}, which is not text")))?;
    let content_type = content_type.to_owned();
    let mut body = Vec::new();
    let mut is_cut = false;
    while let Some(chunk) = response.chunk().await.map_err(|error| fetch_failure(&error.into()))? {
        body.extend_from_slice(&chunk);
        if body.len() > BODY_BYTES_MAX {
            body.truncate(BODY_BYTES_MAX);
            is_cut = true;
            break;
        }
    }
    let text = decode_body_text(&content_type, &body);
    let text = match kind {
        PageTextKind::Html => html_to_text(&text),
        PageTextKind::Text => text,
    };
    let end = text.char_indices().nth(TEXT_CHARS_MAX).map(|(index, _)| index);
    let told = &text[..end.unwrap_or(text.len())];
    let mut value = json!({
        "url": url.as_str(), "status": status, "contentType": content_type, "text": told,
    });
    if is_cut || end.is_some() {
        value["truncated"] = json!(true);
    }
    Ok(value)
}

/// How a body is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageTextKind {
    Html,
    Text,
}

impl PageTextKind {
    fn page_kind_from_content_type(content_type: &str) -> Option<Self> {
        match &*media_type::media_type_essence(content_type) {
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            essence => media_type::is_text_media_type(essence).then_some(Self::Text),
        }
    }
}

/// UTF-8, or Latin-1 if the server says so. Invalid bytes are marked, not lost.
fn decode_body_text(content_type: &str, body: &[u8]) -> String {
    let content_type = content_type.to_ascii_lowercase();
    let is_latin = content_type.contains("iso-8859-1") || content_type.contains("windows-1252");
    if is_latin {
        return body.iter().copied().map(char::from).collect();
    }
    String::from_utf8_lossy(body).into_owned()
}

fn fetch_failure(error: &FetchError) -> Failure {
    Failure::new(error.to_string())
}

#[cfg(test)]
mod tests;
