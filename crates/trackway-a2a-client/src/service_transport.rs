//! Requests to a service in the same process, such as the router of an agent's own doors.

use std::{convert::Infallible, error::Error, pin::Pin, task::Poll};

use bytes::Bytes;
use futures_util::stream;
use http_body::Body;
use reqwest::header::{HOST, HeaderValue};
use tower::{Service, ServiceExt};

use super::{
    RequestTransport, TransportBody, TransportError, TransportFuture, TransportRequest, TransportResponse,
};

/// Hands requests to a service without a connection: an axum `Router`, or anything of that shape. The
/// service sees them as if they had arrived at the address in them.
#[derive(Debug, Clone)]
pub struct ServiceTransport<S> {
    service: S,
}

impl<S> ServiceTransport<S> {
    pub fn new(service: S) -> Self {
        Self { service }
    }
}

impl<S, B> RequestTransport for ServiceTransport<S>
where
    S: Service<http::Request<reqwest::Body>, Response = http::Response<B>, Error = Infallible>
        + Clone
        + std::fmt::Debug
        + Send
        + Sync
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn send_request(&self, request: TransportRequest) -> TransportFuture<'_> {
        let service = self.service.clone();
        Box::pin(async move {
            let request = http_request(request).map_err(|error| TransportError::NotSent(error.into()))?;
            let Ok(response) = service.oneshot(request).await;
            let (head, body) = response.into_parts();
            Ok(TransportResponse { status: head.status, headers: head.headers, body: body_stream(body) })
        })
    }
}

fn http_request(request: TransportRequest) -> Result<http::Request<reqwest::Body>, http::Error> {
    let host = HeaderValue::from_str(request.url.authority());
    let body = request.body.map(reqwest::Body::from).unwrap_or_default();
    let mut sent = http::Request::builder().method(request.method).uri(request.url.as_str()).body(body)?;
    *sent.headers_mut() = request.headers;
    if let Ok(host) = host {
        sent.headers_mut().insert(HOST, host);
    }
    Ok(sent)
}

fn body_stream<B>(body: B) -> TransportBody
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut body: Pin<Box<B>> = Box::pin(body);
    Box::pin(stream::poll_fn(move |context| {
        loop {
            return match std::task::ready!(body.as_mut().poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => Poll::Ready(Some(Ok(bytes))),
                    // Trailers say nothing here.
                    Err(_) => continue,
                },
                Some(Err(error)) => Poll::Ready(Some(Err(TransportError::Broken(error.into())))),
                None => Poll::Ready(None),
            };
        }
    }))
}
