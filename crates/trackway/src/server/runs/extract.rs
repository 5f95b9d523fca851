//! What a request brings, taken out of it so that every refusal is a problem with one of our codes.

use axum::{
    Json,
    extract::{
        FromRequest, FromRequestParts, Path, Query, Request,
        rejection::{JsonRejection, QueryRejection},
    },
    http::{StatusCode, request::Parts},
    response::{IntoResponse, Response},
};
use serde::de::DeserializeOwned;
use trackway_domain::{Code, RunId};

use super::refusal::Refusal;

/// A JSON body.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(refused_body(&rejection)),
        }
    }
}

fn refused_body(rejection: &JsonRejection) -> Response {
    let text = rejection.body_text();
    match (rejection.status(), rejection) {
        (StatusCode::PAYLOAD_TOO_LARGE, _) => Refusal::new(Code::TooLarge, text).into_response(),
        (_, JsonRejection::MissingJsonContentType(_)) => Refusal::new(Code::InvalidRequest, text)
            .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .hint("send the header content-type: application/json")
            .into_response(),
        _ => Refusal::new(Code::InvalidRequest, text).into_response(),
    }
}

/// The query string.
pub(super) struct Params<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let taken: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        match taken {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => {
                Err(Refusal::new(Code::InvalidRequest, rejection.body_text()).into_response())
            }
        }
    }
}

/// The run that the path names. Text that names no run is an unknown run.
pub(super) struct Named(pub(super) RunId);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let text = match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(text)) => text,
            Err(rejection) => {
                return Err(
                    Refusal::new(Code::InvalidRequest, rejection.body_text()).into_response()
                );
            }
        };
        text.parse().map(Self).map_err(|why: trackway_domain::BadId| {
            Refusal::new(Code::UnknownRun, why.to_string()).into_response()
        })
    }
}
