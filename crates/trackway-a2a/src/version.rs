//! Which generation of the protocol a request speaks.

use axum::http::{HeaderMap, Uri};
use trackway_domain::Code;

use crate::fault::{Fault, Kind};

/// A generation of the protocol. Patch versions are never told apart on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    V03,
    V1,
}

/// Header and query parameter have the same name.
const NAME: &str = "a2a-version";

impl Generation {
    pub(crate) const ALL: [Self; 2] = [Self::V1, Self::V03];

    /// As it stands in cards, headers and stored configurations.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V03 => "0.3",
            Self::V1 => "1.0",
        }
    }

    /// The generation that a version names; whatever comes after major and minor is not looked at.
    pub(crate) fn parse(version: &str) -> Option<Self> {
        let mut numbers = version.trim().split('.');
        match (numbers.next(), numbers.next()) {
            (Some("1"), Some("0")) => Some(Self::V1),
            (Some("0"), Some("3")) => Some(Self::V03),
            _ => None,
        }
    }

    /// What the request asks for; `None` where it does not say.
    pub(crate) fn asked(headers: &HeaderMap, uri: &Uri) -> Result<Option<Self>, Fault> {
        let header = headers.get(NAME).map(|value| value.to_str().unwrap_or("?"));
        match header.or_else(|| queried(uri)).map(str::trim) {
            None | Some("") => Ok(None),
            Some(version) => Self::parse(version).map(Some).ok_or_else(|| unknown(version)),
        }
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
        format!("protocol version {shown:?} is not spoken here"),
        "send A2A-Version: 1.0 or A2A-Version: 0.3; the card lists both",
    )
    .knowing(Generation::ALL.iter().map(|known| known.as_str().to_owned()).collect())
}

/// The address is one of another generation than the header names.
pub(crate) fn elsewhere(generation: Generation) -> Fault {
    let next = match generation {
        Generation::V1 => {
            "send A2A-Version: 1.0, or use the addresses below /v1, which are those of 0.3"
        }
        Generation::V03 => {
            "leave A2A-Version out, or use the addresses without /v1, which are those of 1.0"
        }
    };
    let message = format!("protocol {} is spoken at this address", generation.as_str());
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
            let asked = Generation::asked(&headers, &query.parse().unwrap());
            assert_eq!(
                asked.map_err(|fault| fault.kind.json_rpc()),
                expected,
                "{header:?} {query}"
            );
        }
    }
}
