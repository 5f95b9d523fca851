//! The agent at the other end: requests to it, and answers of JSON-RPC from it.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Method, RequestBuilder, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{
    ClientError, Generation, Options, Refusal, RefusalKind,
    card::Choice,
    generation::Operation,
    http,
    retry::{Effect, retrying},
};

/// One agent at one address, in one generation.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) url: Url,
    pub(super) generation: Generation,
    pub(super) options: Options,
    tenant: Option<String>,
    /// Numbers requests, so that they can be told apart in the logs of both sides.
    requests: AtomicU64,
}

#[derive(Serialize)]
struct Request<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a Map<String, Value>,
}

/// The id of the response is not looked at: each has its own connection or exchange.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Failed>,
}

#[derive(Deserialize)]
struct Failed {
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Value,
}

impl Peer {
    pub(super) fn new(choice: Choice, options: Options) -> Self {
        Self {
            url: choice.url,
            generation: choice.generation,
            tenant: choice.tenant,
            options,
            requests: AtomicU64::new(1),
        }
    }

    /// A request as it is sent, each time that it is tried.
    pub(super) fn request(&self, operation: Operation, params: Map<String, Value>) -> Bytes {
        self.request_named(self.generation.method(operation), params)
    }

    pub(super) fn request_named(&self, method: &str, mut params: Map<String, Value>) -> Bytes {
        let tenant = self.tenant.as_ref().filter(|_| self.generation == Generation::V1);
        params.extend(tenant.map(|tenant| ("tenant".to_owned(), tenant.as_str().into())));
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let request = Request { jsonrpc: "2.0", id, method, params: &params };
        serde_json::to_vec(&request).expect("maps of JSON can be written").into()
    }

    /// The result of a request, in JSON.
    pub(super) async fn call(
        &self,
        request: Bytes,
        effect: Effect,
        patience: Duration,
    ) -> Result<Box<RawValue>, ClientError> {
        retrying(&self.options, effect, || {
            http::within(patience, async {
                let response = http::sent(self.post(&request, "application/json")).await?;
                let status = response.status().as_u16();
                answer(&http::text(response).await?, status)
            })
        })
        .await
    }

    /// Opens a stream, once. A refusal comes as an ordinary answer.
    pub(super) async fn open(
        &self,
        request: &Bytes,
        after: Option<&str>,
    ) -> Result<Response, ClientError> {
        let mut post = self.post(request, "text/event-stream");
        // An id that no header can carry is one that the agent cannot be asked about.
        if let Some(after) = after.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok()) {
            post = post.header("last-event-id", after);
        }
        http::within(self.options.timeout, async {
            let response = http::sent(post).await?;
            if http::is_events(&response) {
                return Ok(response);
            }
            let status = response.status().as_u16();
            answer(&http::text(response).await?, status)?;
            Err(ClientError::malformed("the answer is no stream of events"))
        })
        .await
    }

    fn post(&self, request: &Bytes, accept: &'static str) -> RequestBuilder {
        let post = self.options.http.request(Method::POST, self.url.clone());
        let post = http::introduced(post, self.generation, &self.options);
        post.header(CONTENT_TYPE, "application/json").header(ACCEPT, accept).body(request.clone())
    }
}

/// The result in a response, or the refusal.
pub(super) fn answer(text: &str, status: u16) -> Result<Box<RawValue>, ClientError> {
    let answer: Result<Answer, _> = serde_json::from_str(text);
    match answer {
        Ok(Answer { error: Some(error), .. }) => Err(ClientError::Refused(Box::new(Refusal {
            kind: RefusalKind::from_code(error.code),
            code: error.code,
            message: error.message,
            data: error.data,
            status,
        }))),
        // A result that is null is one: what was deleted leaves nothing.
        Ok(Answer { result, error: None }) => {
            Ok(result.unwrap_or_else(|| RawValue::NULL.to_owned()))
        }
        Err(error) => Err(ClientError::malformed(error)),
    }
}
