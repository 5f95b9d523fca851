//! What carries requests to an agent and its answers back.
//!
//! Operations, retries and streams are above this trait and the same for each implementation: HTTP
//! (`http_transport`), a service in this process (`service_transport`), a message broker.

use std::{error::Error, fmt, pin::Pin};

use bytes::Bytes;
use futures_util::Stream;
use reqwest::{Method, StatusCode, Url, header::HeaderMap};

/// Carries one request after another to an agent. An implementation does not retry: whether a repetition
/// is harmless is known only above.
pub trait RequestTransport: fmt::Debug + Send + Sync {
    /// Sends a request once. The answer is returned as soon as its status is known; its body follows,
    /// as one document or as server-sent events. Dropping the future or the body ends the exchange, which
    /// the agent may or may not notice.
    fn send_request(&self, request: TransportRequest) -> TransportFuture<'_>;
}

pub type TransportFuture<'a> =
    Pin<Box<dyn Future<Output = Result<TransportResponse, TransportError>> + Send + 'a>>;

/// The bytes of an answer as they arrive.
pub type TransportBody = Pin<Box<dyn Stream<Item = Result<Bytes, TransportError>> + Send>>;

/// A request in the form of HTTP. `accept`, `last-event-id`, `if-none-match` and the credentials are headers.
#[derive(Debug, Clone)]
pub struct TransportRequest {
    pub method: Method,
    /// The address in the agent's card. A transport that has its own addresses ignores it.
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Bytes>,
    pub purpose: RequestPurpose,
}

/// What a request is about, for transports that choose a receiver or recognise repetitions by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPurpose {
    /// Delivers a message: to a task, or to start one.
    Message { message: String, task: Option<String> },
    /// Reads or changes an existing task.
    Task { task: String },
    /// About the agent itself: its card, or a list of its tasks.
    Agent,
}

/// The answer, whether a success or not.
pub struct TransportResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: TransportBody,
}

/// Why there is no answer, or why the rest of it does not arrive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The agent certainly did not receive the request.
    #[error(transparent)]
    NotSent(Box<dyn Error + Send + Sync>),
    /// The agent may have received the request.
    #[error(transparent)]
    Broken(Box<dyn Error + Send + Sync>),
    /// The agent did not receive the request and never will.
    #[error(
        "the request has {bytes} bytes and this connection carries {bytes_max}: pass large content as an \
         artifact"
    )]
    TooLarge { bytes: usize, bytes_max: usize },
}

impl fmt::Debug for TransportResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportResponse").field("status", &self.status).finish_non_exhaustive()
    }
}
