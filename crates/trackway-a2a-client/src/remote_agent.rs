//! The remote agent: requests to it, and answers from it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Method, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
};
use serde_json::{Map, Value, value::RawValue};

use super::{
    ClientError, Options, ProtocolBinding, ProtocolVersion, RequestPurpose, RequestTransport,
    TransportRequest, TransportResponse,
    agent_card::ChosenInterface,
    agent_operation::AgentOperation,
    exchange, http_json, jsonrpc,
    request_retry::{RepeatEffect, retry_with_backoff},
};

/// One agent at one address, in one generation and binding.
#[derive(Debug, Clone)]
pub(super) struct RemoteAgent {
    pub(super) url: Url,
    pub(super) binding: ProtocolBinding,
    pub(super) generation: ProtocolVersion,
    pub(super) options: Options,
    pub(super) transport: Arc<dyn RequestTransport>,
    tenant: Option<String>,
    /// Numbers requests, so that the logs of both sides can be matched.
    requests: Arc<AtomicU64>,
}

/// A request, the same for every attempt.
#[derive(Debug, Clone)]
pub(super) struct PreparedRequest {
    method: Method,
    url: Url,
    body: Option<Bytes>,
    purpose: RequestPurpose,
}

impl RemoteAgent {
    pub(super) fn new(
        choice: ChosenInterface,
        transport: Arc<dyn RequestTransport>,
        options: Options,
    ) -> Self {
        Self {
            url: choice.url,
            binding: choice.binding,
            generation: choice.generation,
            tenant: choice.tenant,
            options,
            transport,
            requests: Arc::new(AtomicU64::new(1)),
        }
    }

    /// The same agent with other settings.
    pub(super) fn with_options(&self, options: Options) -> Self {
        Self { options, ..self.clone() }
    }

    pub(super) fn prepare_request(
        &self,
        operation: AgentOperation,
        mut params: Map<String, Value>,
    ) -> PreparedRequest {
        let purpose = request_purpose(&params);
        let tenant = self.tenant.as_deref().filter(|_| self.generation == ProtocolVersion::V1);
        match self.binding {
            ProtocolBinding::JsonRpc => {
                params.extend(tenant.map(|tenant| ("tenant".to_owned(), tenant.into())));
                let id = self.requests.fetch_add(1, Ordering::Relaxed);
                let body =
                    jsonrpc::encode_rpc_request(id, operation.rpc_method_name(self.generation), &params);
                PreparedRequest { method: Method::POST, url: self.url.clone(), body: Some(body), purpose }
            }
            ProtocolBinding::HttpJson => {
                let (method, url) = http_json::rest_method_and_url(&self.url, tenant, operation, &mut params);
                let body = (method == Method::POST).then(|| Value::Object(params).to_string().into());
                PreparedRequest { method, url, body, purpose }
            }
        }
    }

    /// The result of a request, in JSON.
    pub(super) async fn call_with_retry(
        &self,
        request: &PreparedRequest,
        effect: RepeatEffect,
        timeout: Duration,
    ) -> Result<Box<RawValue>, ClientError> {
        retry_with_backoff(&self.options, effect, || {
            exchange::with_timeout(timeout, async {
                let sent = self.transport_request(request, "application/json")?;
                let response = exchange::send_request(&*self.transport, sent, Some(self.binding)).await?;
                let status = response.status.as_u16();
                let text = exchange::read_response_text(response, exchange::ANSWER_BYTES_MAX).await?;
                self.binding.parse_binding_response(&text, status)
            })
        })
        .await
    }

    /// Opens a stream, once. A refusal arrives as an ordinary answer.
    pub(super) async fn open_event_stream(
        &self,
        request: &PreparedRequest,
        last_event_id: Option<&str>,
    ) -> Result<TransportResponse, ClientError> {
        let mut sent = self.transport_request(request, "text/event-stream")?;
        // An id that no header can carry cannot be sent to the agent.
        if let Some(after) = last_event_id.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()) {
            sent.headers.insert(HeaderName::from_static("last-event-id"), after);
        }
        exchange::with_timeout(self.options.timeout, async {
            let response = exchange::send_request(&*self.transport, sent, Some(self.binding)).await?;
            if exchange::is_event_stream(&response) {
                return Ok(response);
            }
            let status = response.status.as_u16();
            let text = exchange::read_response_text(response, exchange::ANSWER_BYTES_MAX).await?;
            self.binding.parse_binding_response(&text, status)?;
            Err(ClientError::malformed_response_error("the answer is not a stream of events"))
        })
        .await
    }

    fn transport_request(
        &self,
        request: &PreparedRequest,
        accept: &'static str,
    ) -> Result<TransportRequest, ClientError> {
        let mut headers = exchange::protocol_headers(self.generation, &self.options)?;
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if request.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(TransportRequest {
            method: request.method.clone(),
            url: request.url.clone(),
            headers,
            body: request.body.clone(),
            purpose: request.purpose.clone(),
        })
    }
}

/// From the parameters of an operation, which have the same names in both generations as far as they count
/// here.
fn request_purpose(params: &Map<String, Value>) -> RequestPurpose {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(ToOwned::to_owned);
    if let Some(message) = params.get("message")
        && let Some(id) = text(message.get("messageId"))
    {
        return RequestPurpose::Message { message: id, task: text(message.get("taskId")) };
    }
    // A push configuration of 1.0 has an id of its own beside that of its task.
    let task = text(params.get("taskId").or_else(|| params.get("id")));
    task.map_or(RequestPurpose::Agent, |task| RequestPurpose::Task { task })
}
