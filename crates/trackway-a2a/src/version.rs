//! The protocol generation of a request.

use axum::http::{HeaderMap, Uri};
use trackway_domain::Code;

pub(crate) use trackway_a2a_wire::Generation;

use crate::fault::{Fault, Kind};

/// Header and query parameter have the same name.
const NAME: &str = "a2a-version";

/// The version that a request names; `None` if it names none.
pub(crate) fn asked(headers: &HeaderMap, uri: &Uri) -> Result<Option<Generation>, Fault> {
    let header = headers.get(NAME).map(|value| value.to_str().unwrap_or("?"));
    match header.or_else(|| queried(uri)).map(str::trim) {
        None | Some("") => Ok(None),
        Some(version) => Generation::parse(version).map(Some).ok_or_else(|| unknown(version)),
    }
}

fn queried(uri: &Uri) -> Option<&str> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(NAME)).map(|(_, value)| value)
}

pub(crate) fn unknown(version: &str) -> Fault {
    let shown: String = version.chars().take(32).collect();
    Fault::new(
        Kind::VersionNotSupported,
        Code::InvalidRequest,
        format!("protocol version {shown:?} is not supported"),
        "send A2A-Version: 1.0 or A2A-Version: 0.3; the card lists both",
    )
    .knowing(Generation::ALL.iter().map(|known| known.version().to_owned()).collect())
}

/// The address belongs to another generation than the header names.
pub(crate) fn elsewhere(generation: Generation) -> Fault {
    let next = match generation {
        Generation::V1 => {
            "send A2A-Version: 1.0, or use the addresses below /v1, which are those of 0.3"
        }
        Generation::V03 => {
            "leave A2A-Version out, or use the addresses without /v1, which are those of 1.0"
        }
    };
    let message = format!("protocol {} is spoken at this address", generation.version());
    Fault::new(Kind::VersionNotSupported, Code::InvalidRequest, message, next)
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
            (Some("1.0"), "/", Ok(Some(Generation::V1))),
            (Some("1.0.1"), "/", Ok(Some(Generation::V1))),
            (Some("0.3"), "/", Ok(Some(Generation::V03))),
            (Some("0.3.0"), "/?A2A-Version=1.0", Ok(Some(Generation::V03))),
            (None, "/?x=1&A2A-Version=1.0", Ok(Some(Generation::V1))),
            (Some("1"), "/", Err(-32009)),
            (Some("99.0"), "/", Err(-32009)),
            (Some("1.1"), "/", Err(-32009)),
            (None, "/?a2a-version=2.0", Err(-32009)),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(version) = header {
                headers.insert(NAME, version.parse().unwrap());
            }
            let asked = asked(&headers, &query.parse().unwrap());
            assert_eq!(
                asked.map_err(|fault| fault.kind.json_rpc()),
                expected,
                "{header:?} {query}"
            );
        }
    }
}
