//! The remote agent: requests to it, and answers from it.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Method, RequestBuilder, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use serde_json::{Map, Value, value::RawValue};

use super::{
    ClientError, Options, ProtocolBinding, ProtocolVersion,
    agent_card::ChosenInterface,
    agent_operation::AgentOperation,
    http, http_json, jsonrpc,
    request_retry::{RepeatEffect, retry_with_backoff},
};

/// One agent at one address, in one generation and binding.
#[derive(Debug)]
pub(super) struct RemoteAgent {
    pub(super) url: Url,
    pub(super) binding: ProtocolBinding,
    pub(super) generation: ProtocolVersion,
    pub(super) options: Options,
    tenant: Option<String>,
    /// Numbers requests, so that the logs of both sides can be matched.
    requests: AtomicU64,
}

/// A request, the same for every attempt.
#[derive(Debug, Clone)]
pub(super) struct PreparedRequest {
    method: Method,
    url: Url,
    body: Option<Bytes>,
}

impl RemoteAgent {
    pub(super) fn new(choice: ChosenInterface, options: Options) -> Self {
        Self {
            url: choice.url,
            binding: choice.binding,
            generation: choice.generation,
            tenant: choice.tenant,
            options,
            requests: AtomicU64::new(1),
        }
    }

    pub(super) fn prepare_request(
        &self,
        operation: AgentOperation,
        mut params: Map<String, Value>,
    ) -> PreparedRequest {
        let tenant = self.tenant.as_deref().filter(|_| self.generation == ProtocolVersion::V1);
        match self.binding {
            ProtocolBinding::JsonRpc => {
                params.extend(tenant.map(|tenant| ("tenant".to_owned(), tenant.into())));
                let id = self.requests.fetch_add(1, Ordering::Relaxed);
                let body =
                    jsonrpc::encode_rpc_request(id, operation.rpc_method_name(self.generation), &params);
                PreparedRequest { method: Method::POST, url: self.url.clone(), body: Some(body) }
            }
            ProtocolBinding::HttpJson => {
                let (method, url) = http_json::rest_method_and_url(&self.url, tenant, operation, &mut params);
                let body = (method == Method::POST).then(|| Value::Object(params).to_string().into());
                PreparedRequest { method, url, body }
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
            http::with_timeout(timeout, async {
                let sent = self.build_http_request(request, "application/json");
                let response = http::send_http_request(sent, Some(self.binding)).await?;
                let status = response.status().as_u16();
                self.binding.parse_binding_response(&http::read_response_text(response).await?, status)
            })
        })
        .await
    }

    /// Opens a stream, once. A refusal arrives as an ordinary answer.
    pub(super) async fn open_event_stream(
        &self,
        request: &PreparedRequest,
        last_event_id: Option<&str>,
    ) -> Result<Response, ClientError> {
        let mut sent = self.build_http_request(request, "text/event-stream");
        // An id that no header can carry cannot be sent to the agent.
        if let Some(after) = last_event_id.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()) {
            sent = sent.header("last-event-id", after);
        }
        http::with_timeout(self.options.timeout, async {
            let response = http::send_http_request(sent, Some(self.binding)).await?;
            if http::is_event_stream(&response) {
                return Ok(response);
            }
            let status = response.status().as_u16();
            self.binding.parse_binding_response(&http::read_response_text(response).await?, status)?;
            Err(ClientError::malformed_response_error("the answer is not a stream of events"))
        })
        .await
    }

    fn build_http_request(&self, request: &PreparedRequest, accept: &'static str) -> RequestBuilder {
        let built = self.options.http.request(request.method.clone(), request.url.clone());
        let built = http::with_protocol_headers(built, self.generation, &self.options).header(ACCEPT, accept);
        match &request.body {
            Some(body) => built.header(CONTENT_TYPE, "application/json").body(body.clone()),
            None => built,
        }
    }
}
