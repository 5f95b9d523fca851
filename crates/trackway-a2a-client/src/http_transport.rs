//! Requests over HTTP.

use futures_util::stream::{self, TryStreamExt};

use super::{RequestTransport, TransportError, TransportFuture, TransportRequest, TransportResponse};

/// Sends requests to the addresses in them, under the rules of its client: proxy, TLS, redirects, allowed
/// addresses.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    http: reqwest::Client,
}

impl HttpTransport {
    pub fn new(http: reqwest::Client) -> Self {
        Self { http }
    }
}

impl RequestTransport for HttpTransport {
    fn send_request(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let mut sent = self.http.request(request.method, request.url).headers(request.headers);
            if let Some(body) = request.body {
                sent = sent.body(body);
            }
            let response = sent.send().await.map_err(transport_error)?;
            Ok(TransportResponse {
                status: response.status(),
                headers: response.headers().clone(),
                body: Box::pin(
                    stream::try_unfold(response, |mut response| async move {
                        Ok(response.chunk().await?.map(|chunk| (chunk, response)))
                    })
                    .map_err(transport_error),
                ),
            })
        })
    }
}

fn transport_error(error: reqwest::Error) -> TransportError {
    match error.is_connect() {
        true => TransportError::NotSent(error.into()),
        false => TransportError::Broken(error.into()),
    }
}
