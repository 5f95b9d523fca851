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
    Binding, ClientError, Generation, Options,
    card::Choice,
    http, jsonrpc,
    operation::Operation,
    rest,
    retry::{Effect, retrying},
};

/// One agent at one address, in one generation and binding.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) url: Url,
    pub(super) binding: Binding,
    pub(super) generation: Generation,
    pub(super) options: Options,
    tenant: Option<String>,
    /// Numbers requests, so that the logs of both sides can be matched.
    requests: AtomicU64,
}

/// A request, the same for every attempt.
#[derive(Debug, Clone)]
pub(super) struct Request {
    method: Method,
    url: Url,
    body: Option<Bytes>,
}

impl Peer {
    pub(super) fn new(choice: Choice, options: Options) -> Self {
        Self {
            url: choice.url,
            binding: choice.binding,
            generation: choice.generation,
            tenant: choice.tenant,
            options,
            requests: AtomicU64::new(1),
        }
    }

    pub(super) fn request(&self, operation: Operation, mut params: Map<String, Value>) -> Request {
        let tenant = self.tenant.as_deref().filter(|_| self.generation == Generation::V1);
        match self.binding {
            Binding::JsonRpc => {
                params.extend(tenant.map(|tenant| ("tenant".to_owned(), tenant.into())));
                let id = self.requests.fetch_add(1, Ordering::Relaxed);
                let body = jsonrpc::request(id, operation.method(self.generation), &params);
                Request { method: Method::POST, url: self.url.clone(), body: Some(body) }
            }
            Binding::HttpJson => {
                let (method, url) = rest::route(&self.url, tenant, operation, &mut params);
                let body =
                    (method == Method::POST).then(|| Value::Object(params).to_string().into());
                Request { method, url, body }
            }
        }
    }

    /// The result of a request, in JSON.
    pub(super) async fn call(
        &self,
        request: &Request,
        effect: Effect,
        patience: Duration,
    ) -> Result<Box<RawValue>, ClientError> {
        retrying(&self.options, effect, || {
            http::within(patience, async {
                let sent = self.built(request, "application/json");
                let response = http::sent(sent, Some(self.binding)).await?;
                let status = response.status().as_u16();
                self.binding.answer(&http::text(response).await?, status)
            })
        })
        .await
    }

    /// Opens a stream, once. A refusal arrives as an ordinary answer.
    pub(super) async fn open(
        &self,
        request: &Request,
        after: Option<&str>,
    ) -> Result<Response, ClientError> {
        let mut sent = self.built(request, "text/event-stream");
        // An id that no header can carry cannot be sent to the agent.
        if let Some(after) = after.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()) {
            sent = sent.header("last-event-id", after);
        }
        http::within(self.options.timeout, async {
            let response = http::sent(sent, Some(self.binding)).await?;
            if http::is_events(&response) {
                return Ok(response);
            }
            let status = response.status().as_u16();
            self.binding.answer(&http::text(response).await?, status)?;
            Err(ClientError::malformed("the answer is not a stream of events"))
        })
        .await
    }

    fn built(&self, request: &Request, accept: &'static str) -> RequestBuilder {
        let built = self.options.http.request(request.method.clone(), request.url.clone());
        let built = http::introduced(built, self.generation, &self.options).header(ACCEPT, accept);
        match &request.body {
            Some(body) => built.header(CONTENT_TYPE, "application/json").body(body.clone()),
            None => built,
        }
    }
}
