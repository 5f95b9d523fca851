//! What every door reads from the headers of a request in the same way, whatever library serves it.

use std::net::IpAddr;

use crate::Unrecognised;

/// The credentials of the header `Authorization`, where there is one (RFC 6750, 2.1). Those of any other
/// kind are no key, and must not pass for none. A query parameter is not looked at: addresses end up in
/// logs.
pub fn bearer(header: Option<&[u8]>) -> Result<Option<&str>, Unrecognised> {
    let Some(value) = header else { return Ok(None) };
    let parts = std::str::from_utf8(value).ok().and_then(|text| text.trim().split_once(' '));
    match parts {
        Some((scheme, credentials)) if scheme.eq_ignore_ascii_case("bearer") => {
            Ok(Some(credentials.trim()))
        }
        _ => Err(Unrecognised::Wrong {
            reason: "the header Authorization holds no Bearer credentials".to_owned(),
        }),
    }
}

/// The host in the header `Origin`, with its port where it has one.
pub fn host_of(origin: &str) -> Option<&str> {
    origin.split_once("://").map(|(_scheme, host)| host)
}

/// Whether a host, with a port or without, is this machine as it calls itself.
pub fn is_local_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X6.
    #[test]
    fn credentials_are_taken_from_the_bearer_header() {
        let of = |text: &'static str| bearer(Some(text.as_bytes()));
        assert_eq!(bearer(None), Ok(None));
        assert_eq!(of("Bearer tw_1"), Ok(Some("tw_1")));
        assert_eq!(of("bearer   tw_1 "), Ok(Some("tw_1")));
        for wrong in ["Basic dTpw", "tw_1", "Bearer", ""] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(bearer(Some(b"Bearer \xff")).is_err());
    }
}
