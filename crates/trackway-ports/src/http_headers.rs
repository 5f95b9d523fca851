//! What every door reads from the headers of a request in the same way, with any HTTP library.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::Unauthenticated;

/// The header in which a node says for whom it calls: a signed call token.
pub const CALL_TOKEN_HEADER: &str = "trackway-call";

/// The credentials of the header `Authorization`, if there is one (RFC 6750, 2.1). Credentials of
/// another scheme are an error, not an anonymous request. Query parameters are ignored: addresses end up
/// in logs.
pub fn parse_bearer_token(header: Option<&[u8]>) -> Result<Option<&str>, Unauthenticated> {
    let Some(value) = header else { return Ok(None) };
    let parts = std::str::from_utf8(value).ok().and_then(|text| text.trim().split_once(' '));
    match parts {
        Some((scheme, credentials)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(credentials.trim())),
        _ => Err(Unauthenticated::Wrong {
            reason: "the header Authorization has no Bearer credentials".to_owned(),
        }),
    }
}

/// The host in the header `Origin` of a web page, with its port, if it has one.
pub fn host_of_origin(origin: &str) -> Option<&str> {
    let (scheme, host) = origin.split_once("://")?;
    let is_page = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_page.then_some(host)
}

/// Whether a host, with or without a port, is a name or address of this machine itself.
pub fn is_local_host(host: &str) -> bool {
    let (is_local, port) = match host.strip_prefix('[') {
        Some(v6) => {
            let Some((address, port)) = v6.split_once(']') else { return false };
            let address = address.parse::<Ipv6Addr>();
            (address.is_ok_and(|address| address.is_loopback()), port)
        }
        None => {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            let address = name.parse::<Ipv4Addr>();
            let is_local = address.is_ok_and(|address| address.is_loopback());
            (is_local || name.eq_ignore_ascii_case("localhost"), port)
        }
    };
    let is_port =
        |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok();
    is_local && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X6.
    #[test]
    fn credentials_are_taken_from_the_bearer_header() {
        let of = |text: &'static str| parse_bearer_token(Some(text.as_bytes()));
        assert_eq!(parse_bearer_token(None), Ok(None));
        assert_eq!(of("Bearer tw_1"), Ok(Some("tw_1")));
        assert_eq!(of("bearer   tw_1 "), Ok(Some("tw_1")));
        for wrong in ["Basic dTpw", "tw_1", "Bearer", ""] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(parse_bearer_token(Some(b"Bearer \xff")).is_err());
    }
}
