//! The protocol generation of a request.

use axum::http::{HeaderMap, Uri};
use trackway_domain::ErrorCode;

pub(crate) use trackway_a2a_wire::ProtocolVersion;

use crate::error::{A2aError, A2aErrorKind};

/// Header and query parameter have the same name.
const NAME: &str = "a2a-version";

/// The version that a request names; `None` if it names none.
pub(crate) fn requested_version(headers: &HeaderMap, uri: &Uri) -> Result<Option<ProtocolVersion>, A2aError> {
    let header = headers.get(NAME).map(|value| value.to_str().unwrap_or("?"));
    match header.or_else(|| version_in_query(uri)).map(str::trim) {
        None | Some("") => Ok(None),
        Some(version) => {
            ProtocolVersion::parse_version(version).map(Some).ok_or_else(|| unknown_version_error(version))
        }
    }
}

fn version_in_query(uri: &Uri) -> Option<&str> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(NAME)).map(|(_, value)| value)
}

pub(crate) fn unknown_version_error(version: &str) -> A2aError {
    let shown: String = version.chars().take(32).collect();
    A2aError::new(
        A2aErrorKind::VersionNotSupported,
        ErrorCode::InvalidRequest,
        format!("protocol version {shown:?} is not supported"),
        "send A2A-Version: 1.0 or A2A-Version: 0.3; the card lists both",
    )
    .with_known_alternatives(ProtocolVersion::ALL.iter().map(|known| known.as_str().to_owned()).collect())
}

/// The address belongs to another generation than the header names.
pub(crate) fn wrong_address_error(generation: ProtocolVersion) -> A2aError {
    let next = match generation {
        ProtocolVersion::V1 => {
            "send A2A-Version: 1.0, or use the addresses below /v1, which are those of 0.3"
        }
        ProtocolVersion::V03 => {
            "leave A2A-Version out, or use the addresses without /v1, which are those of 1.0"
        }
    };
    let message = format!("protocol {} is spoken at this address", generation.as_str());
    A2aError::new(A2aErrorKind::VersionNotSupported, ErrorCode::InvalidRequest, message, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X5.
    #[test]
    fn versions_are_chosen_by_header_or_query_and_unknown_ones_refused() {
        for (header, query, expected) in [
            (None, "/", Ok(None)),
            (Some(""), "/", Ok(None)),
            (Some("1.0"), "/", Ok(Some(ProtocolVersion::V1))),
            (Some("1.0.1"), "/", Ok(Some(ProtocolVersion::V1))),
            (Some("0.3"), "/", Ok(Some(ProtocolVersion::V03))),
            (Some("0.3.0"), "/?A2A-Version=1.0", Ok(Some(ProtocolVersion::V03))),
            (None, "/?x=1&A2A-Version=1.0", Ok(Some(ProtocolVersion::V1))),
            (Some("1"), "/", Err(-32009)),
            (Some("99.0"), "/", Err(-32009)),
            (Some("1.1"), "/", Err(-32009)),
            (None, "/?a2a-version=2.0", Err(-32009)),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(version) = header {
                headers.insert(NAME, version.parse().unwrap());
            }
            let asked = requested_version(&headers, &query.parse().unwrap());
            assert_eq!(asked.map_err(|fault| fault.kind.json_rpc_code()), expected, "{header:?} {query}");
        }
    }
}
