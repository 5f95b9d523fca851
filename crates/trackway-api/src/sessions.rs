//! Sessions over REST: the data of `trackway sessions list` and `show`, for the caller's tenant.

use axum::{
    Json,
    extract::Path,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::json;
use trackway_domain::{Code, SessionId};
use trackway_http::{Params, Refusal};
use trackway_sessions::SessionsError;

use super::{bounded, caller::ApiCaller};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    limit: Option<usize>,
}

pub(super) async fn list(
    ApiCaller { sessions, .. }: ApiCaller,
    Params(params): Params<ListParams>,
) -> Result<Response, Refusal> {
    let sessions = sessions.list(bounded(params.limit)?).await.map_err(|error| refused(&error))?;
    Ok(Json(json!({ "sessions": sessions })).into_response())
}

pub(super) async fn show(
    ApiCaller { sessions, .. }: ApiCaller,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let unknown = || Refusal::new(Code::UnknownSession, format!("there is no session {id:?}"));
    let session = SessionId::new(&id).map_err(|_| unknown())?;
    Ok(Json(sessions.show(&session).await.map_err(|error| refused(&error))?).into_response())
}

fn refused(error: &SessionsError) -> Refusal {
    match error.code() {
        code @ (Code::UnknownSession | Code::BadBundle) => Refusal::new(code, error.to_string()),
        code @ Code::StoreBusy => {
            tracing::warn!(%error, "the store is busy");
            Refusal::new(code, "the store is busy").hint("send the same request again")
        }
        code => {
            // The internal cause is only for the operator.
            tracing::error!(%error, "a session could not be read");
            Refusal::new(code, "the session could not be read").hint("see the server's log")
        }
    }
}
