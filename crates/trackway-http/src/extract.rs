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
use trackway_domain::Code;

use crate::Refusal;

/// A JSON body.
#[derive(Debug)]
pub struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(refused_body(&rejection)),
        }
    }
}

fn refused_body(rejection: &JsonRejection) -> Refusal {
    let text = rejection.body_text();
    match (rejection.status(), rejection) {
        (StatusCode::PAYLOAD_TOO_LARGE, _) => Refusal::new(Code::TooLarge, text),
        (_, JsonRejection::MissingJsonContentType(_)) => Refusal::new(Code::InvalidRequest, text)
            .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
            .hint("send the header content-type: application/json"),
        _ => Refusal::new(Code::InvalidRequest, text),
    }
}

/// The query string.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        let Query(params) =
            read.map_err(|error| Refusal::new(Code::InvalidRequest, error.body_text()))?;
        Ok(Self(params))
    }
}
