//! Tracks the requests of each connection: during a request the connection is not idle, and the body must
//! arrive in time.

use std::{
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::{ConnectInfo, Request, connect_info::Connected},
    http::{HeaderValue, StatusCode, Version, header},
    middleware::{self, Next},
    response::Response,
    serve::IncomingStream,
};
use http_body::{Frame, SizeHint};
use tokio::time::Sleep;
use trackway_domain::ErrorCode;
use trackway_http::problem_response;

use super::{Connection, GuardedListener, connection_table};

tokio::task_local! {
    /// The connection of the request that this task answers.
    static CONNECTION: Arc<Connection>;
}

/// The connection of a request. Weak, because a request can outlive its connection.
#[derive(Debug, Clone)]
pub(in crate::server) struct ConnectionInfo(Weak<Connection>);

impl Connected<IncomingStream<'_, GuardedListener>> for ConnectionInfo {
    fn connect_info(stream: IncomingStream<'_, GuardedListener>) -> Self {
        connection_info(stream.io().connection())
    }
}

/// The same, for a connection that is not served by axum.
pub(in crate::server) fn connection_info(connection: &Arc<Connection>) -> ConnectionInfo {
    ConnectionInfo(Arc::downgrade(connection))
}

/// Records that the caller of the current request is known.
pub(crate) fn mark_caller_authenticated() {
    // Outside a tracked connection, as in unit tests, there is nothing to record.
    let _ = CONNECTION.try_with(Connection::mark_connection_authenticated);
}

/// A router whose requests are tracked by their connections. If every caller counts as known, one whole
/// request is enough to be known.
pub(in crate::server) fn track_requests(router: Router, everybody_is_known: bool) -> Router {
    router.layer(middleware::from_fn(move |request: Request, next: Next| async move {
        let extensions = request.extensions();
        let info = extensions.get::<ConnectInfo<ConnectionInfo>>().map(|info| &info.0);
        let info = info.or_else(|| extensions.get::<ConnectionInfo>());
        match info.and_then(|ConnectionInfo(connection)| connection.upgrade()) {
            Some(connection) => {
                if everybody_is_known {
                    connection.mark_connection_authenticated();
                }
                answer_tracked_request(connection, request, next).await
            }
            None => next.run(request).await,
        }
    }))
}

async fn answer_tracked_request(connection: Arc<Connection>, request: Request, next: Next) -> Response {
    let under_way = connection.begin_request(request.version() == Version::HTTP_2);
    let late = Arc::new(AtomicBool::new(false));
    let limit = connection.connection_limits().body_timeout;
    let request = match request.body().is_end_stream() {
        true => request,
        false => {
            request.map(|body| Body::new(TimedRequestBody { body, limit, end: None, late: late.clone() }))
        }
    };
    let response = CONNECTION.scope(connection, next.run(request)).await;
    if late.load(Ordering::Relaxed) {
        let detail = "the body of the request did not come in time";
        let mut response = problem_response(StatusCode::REQUEST_TIMEOUT, ErrorCode::InvalidRequest, detail);
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    // A complete body only has to be sent, which has its own limit. A stream keeps its request open until
    // it ends.
    match response.body().size_hint().exact() {
        Some(_) => response,
        None => response.map(|body| Body::new(TrackedResponseBody { body, _under_way: under_way })),
    }
}

/// A request body that fails when it does not arrive in time.
struct TimedRequestBody {
    body: Body,
    limit: Duration,
    /// Set when the body is first waited for.
    end: Option<Pin<Box<Sleep>>>,
    late: Arc<AtomicBool>,
}

impl HttpBody for TimedRequestBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        let end = this.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(this.limit)));
        std::task::ready!(end.as_mut().poll(cx));
        this.late.store(true, Ordering::Relaxed);
        let late = std::io::Error::from(std::io::ErrorKind::TimedOut);
        Poll::Ready(Some(Err(axum::Error::new(late))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response body that keeps its request open until it ends.
struct TrackedResponseBody {
    body: Body,
    _under_way: connection_table::RequestGuard,
}

impl HttpBody for TrackedResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
