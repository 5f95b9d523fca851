//! The description of a failed request.

use std::error::Error;

/// What went wrong, without the address: its query may be a secret.
pub fn describe_request_error(error: &reqwest::Error) -> String {
    let what = if error.is_timeout() {
        "the receiver did not answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the request failed"
    };
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| what.to_owned(), |cause| format!("{what}: {cause}"))
}
