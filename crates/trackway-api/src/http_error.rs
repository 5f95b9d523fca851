//! Refused requests about runs, as problems. A refused request changes nothing, except that an invalid
//! answer is recorded.

use axum::http::StatusCode;
use serde_json::json;
use trackway_http::HttpError;
use trackway_runtime::Error;

use super::runs_service::RunsError;

impl From<RunsError> for HttpError {
    fn from(error: RunsError) -> Self {
        let (code, detail) = (error.code(), error.to_string());
        match error {
            RunsError::NotWaiting { .. } => Self::new(code, detail)
                .with_status(StatusCode::CONFLICT)
                .with_hint("a run can be resumed when its state is input-required or auth-required"),
            RunsError::TooDeep | RunsError::BadFile { .. } | RunsError::TooManyFiles { .. } => {
                Self::new(code, detail)
            }
            RunsError::Runtime(error) => match error {
                Error::InvalidInput { problems, schema } => Self::invalid_input(detail, &problems, &schema),
                Error::UnknownWorkflow { known, why, .. } => {
                    let refusal = Self::new(code, detail).with_problem_member("known", json!(known));
                    match why {
                        Some(_) => refusal.with_hint("an outside agent can drive it over MCP"),
                        None => refusal,
                    }
                }
                Error::Damaged { run, reason } => {
                    tracing::error!(%run, reason, "a run's log is damaged");
                    Self::new(code, format!("the log of {run} is damaged")).with_hint("see the server's log")
                }
                Error::Unavailable { reason } => {
                    tracing::warn!(reason, "the store is busy");
                    Self::new(code, "the store is busy").with_hint("send the same request again")
                }
                Error::Store { reason } => {
                    // The internal cause is only for the operator.
                    tracing::error!(reason, "the store has failed");
                    Self::new(code, "the store has failed")
                        .with_hint("see the server's log, and start it again")
                }
                Error::Internal { reason } => {
                    tracing::error!(reason, "something went wrong inside");
                    Self::new(code, "something went wrong inside").with_hint("see the server's log")
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
