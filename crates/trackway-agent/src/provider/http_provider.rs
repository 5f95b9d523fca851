//! Sends a format's requests to a server: one request, one stream of events, limits in time and size.

mod model_http_error;
mod model_http_exchange;
mod unsupported_body_fields;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use reqwest::{
    Client, Url,
    header::{ACCEPT, HeaderMap, HeaderName, HeaderValue},
};
use trackway_outgoing::build_operator_client;

use self::{
    model_http_error::SecretRedactor,
    model_http_exchange::{ModelHttpExchange, ModelHttpRequest},
    unsupported_body_fields::UnsupportedBodyFields,
};
use super::{DeltaStream, ModelProvider, provider_format::ProviderFormat};
use crate::conversation::ModelRequest;

/// How long a server may be silent, before and during its answer. Small machines may process a long
/// conversation for minutes before the first word.
/// Limit (Agents): silence of a model's server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Largest answer on the wire. A whole book as single-word events is smaller.
/// Limit (Agents): answer of a model's server.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A model server, as the operator configures it.
#[derive(Clone)]
pub struct ModelEndpoint {
    /// The address before the format's own path: `http://127.0.0.1:8080/v1`. The provider's public
    /// address if absent.
    pub base_url: Option<String>,
    /// Sent in the header of the format; nothing is sent if absent.
    pub key: Option<String>,
    /// Sent with every request. A header with the same name as one of the format replaces it.
    pub headers: BTreeMap<String, String>,
    pub model: String,
    /// Whether the model accepts images.
    pub images: bool,
}

impl ModelEndpoint {
    /// The model at the provider's public address, without a key.
    pub fn new(model: impl Into<String>) -> Self {
        Self { base_url: None, key: None, headers: BTreeMap::new(), model: model.into(), images: true }
    }
}

/// Shows neither the key nor the values of headers, which may also be secrets.
impl fmt::Debug for ModelEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("has_key", &self.key.is_some())
            .field("headers", &self.headers.keys())
            .field("model", &self.model)
            .field("images", &self.images)
            .finish_non_exhaustive()
    }
}

/// A configuration for which no request can be built. Secrets are not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelEndpointError {
    #[error("there is no provider {kind:?} (there are: {})", known.join(", "))]
    Kind { kind: String, known: Vec<&'static str> },
    #[error("the base address is not an http or https address: {reason}")]
    BaseUrl { reason: String },
    #[error("the name of the model is empty")]
    Model,
    #[error("the header {name:?} cannot be sent: its {what} has characters that are not allowed")]
    Header { name: String, what: &'static str },
    #[error("no HTTP client can be made: {reason}")]
    Client { reason: String },
}

/// A model behind HTTP.
pub struct HttpModelProvider {
    label: String,
    model: String,
    images: bool,
    url: Url,
    /// Includes the key. Each is marked sensitive, so that logs do not show it.
    headers: HeaderMap,
    format: Arc<dyn ProviderFormat>,
    client: Client,
    bounds: ResponseLimits,
    redactor: SecretRedactor,
    unsupported_fields: UnsupportedBodyFields,
}

/// Limits in time and size for an answer.
#[derive(Debug, Clone, Copy)]
struct ResponseLimits {
    idle: Duration,
    bytes: usize,
}

impl fmt::Debug for HttpModelProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider").field("label", &self.label).finish_non_exhaustive()
    }
}

impl HttpModelProvider {
    /// `kind` is the first part of the label; `base_url` is the provider's public address.
    pub(super) fn new(
        kind: &str,
        base_url: &str,
        format: Arc<dyn ProviderFormat>,
        endpoint: &ModelEndpoint,
    ) -> Result<Self, ModelEndpointError> {
        if endpoint.model.trim().is_empty() {
            return Err(ModelEndpointError::Model);
        }
        let base_url = endpoint.base_url.as_deref().unwrap_or(base_url);
        let url = join_endpoint_url(base_url, &format.request_path(&endpoint.model))?;
        Ok(Self {
            label: format!("{kind}/{}", endpoint.model),
            model: endpoint.model.clone(),
            images: endpoint.images,
            headers: request_headers(format.as_ref(), endpoint)?,
            client: build_operator_client(&url)
                .map_err(|error| ModelEndpointError::Client { reason: error.to_string() })?,
            bounds: ResponseLimits { idle: IDLE_TIMEOUT, bytes: ANSWER_BYTES_MAX },
            redactor: SecretRedactor::new(endpoint, &url),
            unsupported_fields: UnsupportedBodyFields::new(format.optional_body_fields()),
            url,
            format,
        })
    }
}

impl ModelProvider for HttpModelProvider {
    fn model_label(&self) -> &str {
        &self.label
    }

    fn accepts_images(&self) -> bool {
        self.images
    }

    fn stream_answer(&self, request: &ModelRequest) -> DeltaStream {
        let exchange = ModelHttpExchange::new(ModelHttpRequest {
            client: self.client.clone(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            body: self.format.build_request_body(&self.model, request),
            format: self.format.clone(),
            bounds: self.bounds,
            redactor: self.redactor.clone(),
            unsupported_fields: self.unsupported_fields.clone(),
        });
        tracing::debug!(model = self.label, entries = request.entries.len(), "calling a model");
        let items = stream::unfold(exchange, |mut exchange| async move {
            let item = exchange.next_delta().await?;
            Some((item, exchange))
        });
        items.boxed()
    }
}

fn join_endpoint_url(base_url: &str, path: &str) -> Result<Url, ModelEndpointError> {
    let bad = |reason: String| ModelEndpointError::BaseUrl { reason };
    let base = Url::parse(base_url.trim()).map_err(|error| bad(error.to_string()))?;
    if !matches!(base.scheme(), "http" | "https") {
        return Err(bad(format!("it begins with {}:", base.scheme())));
    }
    if base.query().is_some() || base.fragment().is_some() {
        return Err(bad("it has a query or a fragment; headers are written as headers".to_owned()));
    }
    let whole = format!("{}{path}", base.as_str().trim_end_matches('/'));
    Url::parse(&whole).map_err(|error| bad(error.to_string()))
}

fn request_headers(
    format: &dyn ProviderFormat,
    endpoint: &ModelEndpoint,
) -> Result<HeaderMap, ModelEndpointError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    for (name, value) in format.extra_headers() {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = endpoint.key.as_deref().filter(|key| !key.is_empty()) {
        let (name, value) = format.authorization_header(key);
        insert_header(&mut headers, name, &value)?;
    }
    for (name, value) in &endpoint.headers {
        insert_header(&mut headers, name, value)?;
    }
    Ok(headers)
}

fn insert_header(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), ModelEndpointError> {
    let bad = |what| ModelEndpointError::Header { name: name.to_owned(), what };
    let known: HeaderName = name.parse().map_err(|_| bad("name"))?;
    let mut value = HeaderValue::from_str(value).map_err(|_| bad("value"))?;
    value.set_sensitive(true);
    headers.insert(known, value);
    Ok(())
}

#[cfg(test)]
mod tests;
