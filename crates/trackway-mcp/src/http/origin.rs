//! Pages of other sites must not act here, with a key or without: only a page of the very address that
//! the request was sent to may, or one of this machine, where tools for developers serve their own.

use axum::{
    extract::Request,
    http::{
        HeaderMap, StatusCode, Uri, header,
        uri::{Authority, Scheme},
    },
    middleware::Next,
    response::Response,
};
use trackway_domain::Code;
use trackway_ports::is_local_host;

use super::problem;

pub(super) async fn refuse_foreign_pages(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let foreign = headers.get(header::ORIGIN).is_some_and(|origin| {
        let page = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let ours = authority(headers).or_else(|| request.uri().authority().cloned());
        !page.zip(ours).is_some_and(|(page, ours)| is_near(&page, &ours))
    });
    if foreign {
        let detail = "requests from pages of other sites are not taken";
        return problem(StatusCode::FORBIDDEN, Code::Forbidden, detail);
    }
    next.run(request).await
}

fn authority(headers: &HeaderMap) -> Option<Authority> {
    headers.get(header::HOST)?.to_str().ok()?.parse().ok()
}

/// Whether a page is of this machine, or of the address that was asked.
fn is_near(page: &Uri, ours: &Authority) -> bool {
    let (Some(host), Some(usual)) = (page.host(), usual_port(page)) else { return false };
    if is_local_host(host) {
        return true;
    }
    let same_host = host.eq_ignore_ascii_case(ours.host());
    // Who leaves the port out means the usual one of the page's own scheme: a proxy may have turned
    // HTTPS into HTTP on the way here.
    same_host && page.port_u16().unwrap_or(usual) == ours.port_u16().unwrap_or(usual)
}

fn usual_port(page: &Uri) -> Option<u16> {
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
    fn a_page_is_of_this_machine_or_of_what_was_asked() {
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
            assert_eq!(is_near(&page, &asked), near, "{page} at {asked}");
        }
    }
}
