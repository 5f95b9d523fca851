//! The content of an artifact as a response: whole, a part, or nothing new.

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use sha2::{Digest as _, Sha256};
use trackway_artifacts::{ArtifactService, StoredArtifact};
use trackway_domain::ErrorCode;
use trackway_http::HttpError;
use trackway_ports::BlobHash;

use super::{
    artifact_http_error::artifact_http_error,
    byte_range::{ContentSelection, select_content},
};
use crate::artifact_types::escape_for_url;

const VERSION_HEADER: HeaderName = HeaderName::from_static("trackway-artifact-version");

/// On every answer with content. A page that a browser opened anyway would run nothing and load nothing.
const GUARD_HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "private, no-cache"),
    (header::ACCEPT_RANGES, "bytes"),
];

pub(super) fn content_hash(bytes: &[u8]) -> BlobHash {
    BlobHash(Sha256::digest(bytes).into())
}

/// Answers a request with these headers.
pub(super) async fn content_response(
    artifacts: &ArtifactService,
    artifact: &StoredArtifact,
    headers: &HeaderMap,
) -> Result<Response, HttpError> {
    // Only content in the events of a run has no hash yet, and may grow.
    let (hash, mut content) = match artifact.sha256 {
        Some(hash) => (hash, None),
        None => {
            let bytes = artifacts.read(artifact).await.map_err(artifact_http_error)?;
            (content_hash(&bytes), Some(bytes))
        }
    };
    let etag = format!("\"{}-{hash}\"", artifact.version);
    let stored_size = usize::try_from(artifact.size_bytes).unwrap_or(usize::MAX);
    let size = content.as_ref().map_or(stored_size, Bytes::len);
    let selection = select_content(headers, &etag, size);
    if content.is_none() && matches!(selection, ContentSelection::Whole | ContentSelection::Part(_)) {
        content = Some(artifacts.read(artifact).await.map_err(artifact_http_error)?);
    }
    let content = content.unwrap_or_default();
    let mut response = match selection {
        ContentSelection::Whole => (StatusCode::OK, Body::from(content)).into_response(),
        ContentSelection::Part(range) => {
            let place = format!("bytes {}-{}/{size}", range.start, range.end - 1);
            let part = content.slice(range);
            (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, place)], Body::from(part)).into_response()
        }
        ContentSelection::NotModified => StatusCode::NOT_MODIFIED.into_response(),
        ContentSelection::Unsatisfiable => return Ok(unsatisfiable_response(size)),
    };
    let answered = response.headers_mut();
    answered.extend(GUARD_HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    answered.insert(header::CONTENT_TYPE, media_type_value(&artifact.media_type));
    answered.insert(VERSION_HEADER, artifact.version.into());
    let texts = [
        (header::ETAG, etag),
        (header::CONTENT_DISPOSITION, content_disposition(artifact.filename.as_str())),
    ];
    // Both are plain ASCII.
    answered.extend(texts.into_iter().filter_map(|(name, text)| Some((name, text.parse().ok()?))));
    Ok(response)
}

/// The type, unless somebody attached a file with a text that is none.
fn media_type_value(media_type: &str) -> HeaderValue {
    media_type.parse().unwrap_or(HeaderValue::from_static("application/octet-stream"))
}

fn unsatisfiable_response(size: usize) -> Response {
    let detail = format!("the content has {size} bytes, and none of them are in this range");
    let refusal =
        HttpError::new(ErrorCode::InvalidRequest, detail).with_status(StatusCode::RANGE_NOT_SATISFIABLE);
    ([(header::CONTENT_RANGE, format!("bytes */{size}"))], refusal).into_response()
}

/// Save it under this name (RFC 6266): as plain ASCII for old clients, and in full.
fn content_disposition(filename: &str) -> String {
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ';
    let plain: String = filename.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let full = escape_for_url(filename);
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{full}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_header() {
        for (filename, expected) in [
            ("a.csv", "attachment; filename=\"a.csv\"; filename*=UTF-8''a.csv"),
            ("a b.csv", "attachment; filename=\"a b.csv\"; filename*=UTF-8''a%20b.csv"),
            ("\"; x=\"%41", "attachment; filename=\"_; x=__41\"; filename*=UTF-8''%22%3B%20x%3D%22%2541"),
            ("ü.csv", "attachment; filename=\"_.csv\"; filename*=UTF-8''%C3%BC.csv"),
        ] {
            let value = content_disposition(filename);
            assert_eq!(value, expected);
            assert!(value.parse::<HeaderValue>().is_ok());
        }
    }

    #[test]
    fn a_type_that_is_no_header_is_replaced() {
        assert_eq!(media_type_value("text/csv; charset=utf-8"), "text/csv; charset=utf-8");
        assert_eq!(media_type_value("text/html\r\nset-cookie: a=b"), "application/octet-stream");
    }
}
