//! Blocks requests from pages of other sites that a user has open in a browser.

use axum::{
    extract::Request,
    http::{
        HeaderMap, StatusCode, Uri, header,
        uri::{Authority, Scheme},
    },
    middleware::Next,
    response::Response,
};
use trackway_domain::ErrorCode;
use trackway_ports::{host_of_origin, is_local_host};

use crate::problem_response;

/// Accepts only requests from this machine. Without keys, only the loopback address protects a server,
/// and a page of another site in a local browser must not act on it. Only browsers send `Origin`, and
/// not always. But if an attacker points a domain name at this machine, the request has that name as its
/// `Host`.
pub async fn local_requests_only(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let foreign = |name, is_local: fn(&str) -> bool| {
        headers.get_all(name).iter().any(|value| !value.to_str().is_ok_and(is_local))
    };
    // Over HTTP/2 the name is in the URI of the request.
    let authority = request.uri().authority();
    let unnamed = authority.is_none() && !headers.contains_key(header::HOST);
    let elsewhere = authority.is_some_and(|authority| !is_local_host(authority.as_str()));
    let detail = if foreign(header::ORIGIN, is_local_origin) {
        "requests from pages of other sites are not accepted"
    } else if unnamed || elsewhere || foreign(header::HOST, is_local_host) {
        "without auth, requests are accepted under this machine's own names only: localhost, 127.0.0.1"
    } else {
        return next.run(request).await;
    };
    problem_response(StatusCode::FORBIDDEN, ErrorCode::InvalidRequest, detail)
}

/// Whether an `Origin` names this machine.
fn is_local_origin(origin: &str) -> bool {
    host_of_origin(origin).is_some_and(is_local_host)
}

/// Accepts requests from pages of the server's own address, and from pages of this machine, where
/// developer tools run. It applies with or without a key.
pub async fn same_or_local_origin_only(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let foreign = headers.get(header::ORIGIN).is_some_and(|origin| {
        let page = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let ours = request_host_authority(headers).or_else(|| request.uri().authority().cloned());
        !page.zip(ours).is_some_and(|(page, ours)| is_same_or_local_origin(&page, &ours))
    });
    if foreign {
        let detail = "requests from pages of other sites are not accepted";
        return problem_response(StatusCode::FORBIDDEN, ErrorCode::Forbidden, detail);
    }
    next.run(request).await
}

fn request_host_authority(headers: &HeaderMap) -> Option<Authority> {
    headers.get(header::HOST)?.to_str().ok()?.parse().ok()
}

/// Whether a page is from this machine, or from the address of the request.
fn is_same_or_local_origin(page_url: &Uri, server: &Authority) -> bool {
    let (Some(host), Some(usual)) = (page_url.host(), default_port_of_scheme(page_url)) else { return false };
    if is_local_host(host) {
        return true;
    }
    let same_host = host.eq_ignore_ascii_case(server.host());
    // A missing port means the default port of the page's scheme: a proxy may have turned HTTPS into
    // HTTP.
    same_host && page_url.port_u16().unwrap_or(usual) == server.port_u16().unwrap_or(usual)
}

fn default_port_of_scheme(page: &Uri) -> Option<u16> {
    match page.scheme()? {
        scheme if *scheme == Scheme::HTTP => Some(80),
        scheme if *scheme == Scheme::HTTPS => Some(443),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves X6: a page is of this machine, or host and port are those that were asked.
    #[test]
    fn origin_must_be_local_or_the_requested_host() {
        for (page, asked, near) in [
            ("http://127.0.0.1:7420", "127.0.0.1:7420", true),
            ("http://localhost:7420", "127.0.0.1:7420", true),
            ("http://[::1]:7420", "LOCALHOST:7420", true),
            ("http://localhost", "localhost:80", true),
            ("https://tracks.example", "tracks.example", true),
            ("https://tracks.example", "tracks.example:443", true),
            ("http://Tracks.Example:8080", "tracks.example:8080", true),
            ("http://127.0.0.1:9", "127.0.0.1:7420", true),
            ("http://localhost:6274", "tracks.example", true),
            ("http://tracks.example:9", "tracks.example:8080", false),
            ("https://tracks.example", "tracks.example:80", false),
            ("https://evil.example:7420", "127.0.0.1:7420", false),
            ("http://localhost.evil.example:7420", "localhost:7420", false),
            ("file://localhost:7420", "localhost:7420", false),
            ("null", "localhost:7420", false),
        ] {
            let (page, asked) = (page.parse().unwrap(), asked.parse().unwrap());
            assert_eq!(is_same_or_local_origin(&page, &asked), near, "{page} at {asked}");
        }
    }

    /// Proves X5.
    #[test]
    fn only_pages_of_this_machine_are_local() {
        for origin in ["http://localhost:7420", "http://127.0.0.1", "https://[::1]:9", "http://127.9.9.9:1"] {
            assert!(is_local_origin(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://example.com",
            "http://localhost.example.com",
            "http://10.0.0.1:7420",
            "http://[::1].evil.example",
            "http://localhost:1@evil.example",
            "ftp://localhost",
        ] {
            assert!(!is_local_origin(origin), "{origin}");
        }
    }

    /// Proves X6: a foreign name that resolves to this machine is not one of ours.
    #[test]
    fn only_names_of_this_machine_are_local() {
        for host in ["localhost", "LocalHost:7420", "127.0.0.1:7420", "[::1]", "[::1]:80"] {
            assert!(is_local_host(host), "{host}");
        }
        for host in [
            "",
            "evil.example:7420",
            "localhost.evil.example",
            "10.0.0.1",
            "[::2]:80",
            "[::1].evil.example",
            "[::1]evil",
            "[::1",
            "localhost:1@evil",
            "localhost:",
            "localhost:99999",
            "localhost:+1",
            "127.0.0.1.evil.example",
            "::1",
        ] {
            assert!(!is_local_host(host), "{host}");
        }
    }
}
