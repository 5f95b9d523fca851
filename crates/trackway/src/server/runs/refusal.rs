//! A request that was not done, as a problem (RFC 9457). Nothing was changed by it, but for an answer
//! that does not fit, which is recorded.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use trackway_domain::{Code, Object, Problem};
use trackway_ports::Unrecognised;
use trackway_runtime::Error;

use super::service::RunsError;
use crate::server::http::problem_with;

#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: Code,
    detail: String,
    /// Members beside those of the standard.
    more: Object,
}

impl Refusal {
    pub(super) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { status: status(code), code, detail: detail.into(), more: Object::new() }
    }

    #[must_use]
    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// What to do about it.
    #[must_use]
    pub(super) fn hint(self, hint: &str) -> Self {
        self.with("hint", json!(hint))
    }

    #[must_use]
    pub(super) fn with(mut self, member: &str, value: Value) -> Self {
        self.more.insert(member.to_owned(), value);
        self
    }

    /// A value that does not satisfy its schema.
    pub(super) fn invalid(detail: impl Into<String>, errors: &[Problem], schema: &Value) -> Self {
        Self::new(Code::InvalidInput, detail)
            .with("errors", json!(errors))
            .with("schema", schema.clone())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = problem_with(self.status, self.code, &self.detail, self.more);
        if self.code == Code::Unauthenticated {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

impl From<Unrecognised> for Refusal {
    fn from(error: Unrecognised) -> Self {
        let refusal = Self::new(error.code(), error.to_string());
        match error {
            Unrecognised::Missing | Unrecognised::Wrong { .. } => {
                refusal.hint("send the header `Authorization: Bearer KEY`")
            }
            Unrecognised::Unavailable { .. } => refusal.hint("try again in a minute"),
        }
    }
}

impl From<RunsError> for Refusal {
    fn from(error: RunsError) -> Self {
        let (code, detail) = (error.code(), error.to_string());
        match error {
            RunsError::NotWaiting { .. } => Self::new(code, detail)
                .with_status(StatusCode::CONFLICT)
                .hint("a run can be resumed when its state is input-required or auth-required"),
            RunsError::TooDeep => Self::new(code, detail),
            RunsError::Runtime(error) => match error {
                Error::InvalidInput { problems, schema } => {
                    Self::invalid(detail, &problems, &schema)
                }
                Error::UnknownWorkflow { known, why, .. } => {
                    let refusal = Self::new(code, detail).with("known", json!(known));
                    match why {
                        Some(_) => refusal.hint("an outside agent can drive it over MCP"),
                        None => refusal,
                    }
                }
                Error::Damaged { run, reason } => {
                    tracing::error!(%run, reason, "a run's log is damaged");
                    Self::new(code, format!("the log of {run} is damaged"))
                        .hint("see the server's log")
                }
                Error::Unavailable { reason } => {
                    tracing::warn!(reason, "the store is busy");
                    Self::new(code, "the store is busy").hint("send the same request again")
                }
                Error::Store { reason } => {
                    // What went wrong inside is for the operator.
                    tracing::error!(reason, "the store has failed");
                    Self::new(code, "the store has failed")
                        .hint("see the server's log, and start it again")
                }
                Error::Internal { reason } => {
                    tracing::error!(reason, "something went wrong inside");
                    Self::new(code, "something went wrong inside").hint("see the server's log")
                }
                Error::UnknownRun { .. }
                | Error::SessionMismatch { .. }
                | Error::Ended { .. }
                | Error::UnknownQuestion { .. }
                | Error::NotAdopted { .. }
                | Error::CannotAdopt { .. }
                | Error::MessageReused { .. }
                | Error::HookRefused { .. }
                | Error::CannotFork { .. }
                | Error::Stopping => Self::new(code, detail),
            },
        }
    }
}

/// The status that a code has on this door.
const fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidInput
        | Code::InvalidWorkflow
        | Code::UnsupportedWorkflow
        | Code::MissingContext
        | Code::BadBundle => StatusCode::UNPROCESSABLE_ENTITY,
        Code::InvalidRequest
        | Code::TokenMalformed
        | Code::TokenChanged
        | Code::TokenForeign
        | Code::TokenExpired
        | Code::TokenSwapped
        | Code::AckOfOtherRun
        | Code::AckOfOtherSnapshot => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::SwitchedOff => StatusCode::FORBIDDEN,
        Code::UnknownWorkflow | Code::UnknownRun | Code::UnknownSession => StatusCode::NOT_FOUND,
        Code::SessionMismatch
        | Code::NotAdopted
        | Code::RunEnded
        | Code::MessageReused
        | Code::ReplayMismatch
        | Code::TooManyAttempts
        | Code::ConfirmationUnclear
        | Code::DataInUse => StatusCode::CONFLICT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::DamagedLog | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::StoreBusy | Code::StoreFailed | Code::Stopping | Code::AuthUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}
