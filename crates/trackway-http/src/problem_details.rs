//! A refused request, as a problem (RFC 9457) with a code of the catalogue.

use std::any::Any;

use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use trackway_domain::{ErrorCode, Object, ValidationError};
use trackway_ports::Unauthenticated;

/// Why a request was refused. A refused request changes nothing, unless the door says otherwise.
#[derive(Debug)]
pub struct HttpError {
    status: StatusCode,
    code: ErrorCode,
    detail: String,
    /// Members in addition to those of the standard.
    more: Object,
}

impl HttpError {
    /// A refusal with the HTTP status of the code.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { status: status_of_code(code), code, detail: detail.into(), more: Object::new() }
    }

    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Adds a hint what to do about it.
    #[must_use]
    pub fn with_hint(self, hint: &str) -> Self {
        self.with_problem_member("hint", json!(hint))
    }

    #[must_use]
    pub fn with_problem_member(mut self, member: &str, value: Value) -> Self {
        self.more.insert(member.to_owned(), value);
        self
    }

    /// A value that does not satisfy its schema.
    pub fn invalid_input(detail: impl Into<String>, errors: &[ValidationError], schema: &Value) -> Self {
        Self::new(ErrorCode::InvalidInput, detail)
            .with_problem_member("errors", json!(errors))
            .with_problem_member("schema", schema.clone())
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let Self { status, code, detail, more: mut body } = self;
        body.insert("type".into(), format!("docs/errors/{code}.md").into());
        body.insert("title".into(), status.canonical_reason().into());
        body.insert("status".into(), status.as_u16().into());
        body.insert("code".into(), code.as_str().into());
        body.insert("detail".into(), detail.into());
        let content_type = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, content_type, Value::Object(body).to_string()).into_response();
        if code == ErrorCode::Unauthenticated {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// A problem with an explicit status and only the members of the standard.
pub fn problem_response(status: StatusCode, code: ErrorCode, detail: &str) -> Response {
    HttpError::new(code, detail).with_status(status).into_response()
}

/// Answers with a problem if a handler panics. The cause is only for the operator.
pub fn catch_panics(app: Router) -> Router {
    app.layer(CatchPanicLayer::custom(|_: Box<dyn Any + Send>| {
        HttpError::new(ErrorCode::Internal, "something went wrong inside").into_response()
    }))
}

impl From<Unauthenticated> for HttpError {
    fn from(error: Unauthenticated) -> Self {
        let refusal = Self::new(error.code(), error.to_string());
        match error {
            Unauthenticated::Missing | Unauthenticated::Wrong { .. } => {
                refusal.with_hint("send the header `Authorization: Bearer KEY`")
            }
            Unauthenticated::Unavailable { .. } => refusal.with_hint("try again in a minute"),
        }
    }
}

/// The HTTP status of a code.
const fn status_of_code(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::InvalidInput
        | ErrorCode::InvalidWorkflow
        | ErrorCode::UnsupportedWorkflow
        | ErrorCode::MissingContext
        | ErrorCode::BadBundle => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::InvalidRequest
        | ErrorCode::TokenMalformed
        | ErrorCode::TokenChanged
        | ErrorCode::TokenForeign
        | ErrorCode::TokenExpired
        | ErrorCode::TokenSwapped
        | ErrorCode::AckOfOtherRun
        | ErrorCode::AckOfOtherSnapshot => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden | ErrorCode::SwitchedOff => StatusCode::FORBIDDEN,
        ErrorCode::UnknownWorkflow
        | ErrorCode::UnknownRun
        | ErrorCode::UnknownSession
        | ErrorCode::UnknownArtifact
        | ErrorCode::UnknownPeer => StatusCode::NOT_FOUND,
        ErrorCode::SessionMismatch
        | ErrorCode::NotAdopted
        | ErrorCode::RunEnded
        | ErrorCode::MessageReused
        | ErrorCode::ReplayMismatch
        | ErrorCode::TooManyAttempts
        | ErrorCode::ConfirmationUnclear
        | ErrorCode::DataInUse => StatusCode::CONFLICT,
        ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::DamagedLog | ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        ErrorCode::PeerUnavailable => StatusCode::BAD_GATEWAY,
        ErrorCode::StoreBusy | ErrorCode::StoreFailed | ErrorCode::Stopping | ErrorCode::AuthUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}
