//! Parses queries and bodies of the HTTP+JSON binding; faults name the location.

use axum::{extract::Query, http::Uri};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    error::A2aError,
    jsonrpc::{body_not_json_error, invalid_value_error},
};

/// A body that must only be an object.
#[derive(Debug, Default, Deserialize)]
pub(super) struct EmptyRequestBody {}

pub(super) fn parse_query_params<T: DeserializeOwned>(uri: &Uri) -> Result<T, A2aError> {
    Query::try_from_uri(uri).map(|Query(params)| params).map_err(|rejection| {
        let why =
            std::error::Error::source(&rejection).map_or_else(|| rejection.to_string(), ToString::to_string);
        A2aError::invalid_param_error("/", format!("the query cannot be read: {why}"), "correct the query")
    })
}

pub(super) fn parse_json_body<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, A2aError> {
    let text = std::str::from_utf8(body).map_err(|error| body_not_json_error(&error.to_string()))?;
    match text.trim_start().as_bytes().first() {
        Some(b'{') => {}
        _ => {
            serde_json::from_str::<serde::de::IgnoredAny>(text)
                .map_err(|error| body_not_json_error(&error.to_string()))?;
            return Err(A2aError::invalid_param_error("", "the body is not an object", "send a JSON object"));
        }
    }
    serde_json::from_str(text).map_err(|error| match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Err(syntax) => body_not_json_error(&syntax.to_string()),
        Ok(_) => invalid_value_error::<T>(text, &error, ""),
    })
}

pub(super) fn parse_json_body_or_default<'a, T: Deserialize<'a> + Default>(
    body: &'a [u8],
) -> Result<T, A2aError> {
    if body.is_empty() { Ok(T::default()) } else { parse_json_body(body) }
}
