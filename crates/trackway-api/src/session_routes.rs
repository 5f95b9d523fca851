//! Sessions over REST: the data of `trackway sessions list` and `show`, for the caller's tenant.

use axum::{
    Json,
    extract::Path,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::json;
use trackway_domain::{ErrorCode, SessionId};
use trackway_http::{HttpError, QueryParams};
use trackway_sessions::SessionsError;

use super::{api_caller::ApiCaller, check_run_list_limit};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionListParams {
    limit: Option<usize>,
}

pub(super) async fn list_sessions(
    ApiCaller { sessions, .. }: ApiCaller,
    QueryParams(params): QueryParams<SessionListParams>,
) -> Result<Response, HttpError> {
    let sessions = sessions
        .list_sessions(check_run_list_limit(params.limit)?)
        .await
        .map_err(|error| sessions_http_error(&error))?;
    Ok(Json(json!({ "sessions": sessions })).into_response())
}

pub(super) async fn get_session(
    ApiCaller { sessions, .. }: ApiCaller,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    let unknown = || HttpError::new(ErrorCode::UnknownSession, format!("there is no session {id:?}"));
    let session = SessionId::new(&id).map_err(|_| unknown())?;
    Ok(Json(sessions.load_session_detail(&session).await.map_err(|error| sessions_http_error(&error))?)
        .into_response())
}

fn sessions_http_error(error: &SessionsError) -> HttpError {
    match error.code() {
        code @ (ErrorCode::UnknownSession | ErrorCode::BadBundle) => HttpError::new(code, error.to_string()),
        code @ ErrorCode::StoreBusy => {
            tracing::warn!(%error, "the store is busy");
            HttpError::new(code, "the store is busy").with_hint("send the same request again")
        }
        code => {
            // The internal cause is only for the operator.
            tracing::error!(%error, "a session could not be read");
            HttpError::new(code, "the session could not be read").with_hint("see the server's log")
        }
    }
}
