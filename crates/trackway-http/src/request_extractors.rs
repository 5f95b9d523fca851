//! Extractors whose rejections are problems with one of our codes.

use axum::{
    Json,
    extract::{
        FromRequest, FromRequestParts, Query, Request,
        rejection::{JsonRejection, QueryRejection},
    },
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;
use trackway_domain::ErrorCode;

use crate::HttpError;

/// A JSON body.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = HttpError;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpError> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(json_body_error(&rejection)),
        }
    }
}

fn json_body_error(rejection: &JsonRejection) -> HttpError {
    let text = rejection.body_text();
    match (rejection.status(), rejection) {
        (StatusCode::PAYLOAD_TOO_LARGE, _) => HttpError::new(ErrorCode::TooLarge, text),
        (_, JsonRejection::MissingJsonContentType(_)) => HttpError::new(ErrorCode::InvalidRequest, text)
            .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .with_hint("send the header content-type: application/json"),
        _ => HttpError::new(ErrorCode::InvalidRequest, text),
    }
}

/// The query string.
#[derive(Debug)]
pub struct QueryParams<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let read: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        let Query(params) =
            read.map_err(|error| HttpError::new(ErrorCode::InvalidRequest, error.body_text()))?;
        Ok(Self(params))
    }
}
