//! Addresses and bodies.

use futures_util::stream;

use super::*;

fn headers(sent: &[(&'static str, &'static str)]) -> HeaderMap {
    sent.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
}

#[test]
fn base_url_is_the_one_the_client_used() {
    let options = Options { base_url: "https://fallback.example".into(), ..Options::default() };
    for (sent, expected) in [
        (&[("host", "127.0.0.1:7420")][..], "http://127.0.0.1:7420"),
        (&[("host", "[::1]:80")], "http://[::1]:80"),
        (&[("host", "a.example"), ("x-forwarded-proto", "https")], "https://a.example"),
        (&[("host", "a.example"), ("x-forwarded-proto", "HTTPS, http")], "https://a.example"),
        (&[("host", "a.example"), ("x-forwarded-proto", "javascript")], "http://a.example"),
        (&[("host", "a.example/\"><b>")], "https://fallback.example"),
        (&[("host", "")], "https://fallback.example"),
        (&[], "https://fallback.example"),
    ] {
        assert_eq!(request_base_url(&headers(sent), &options), expected, "{sent:?}");
    }
}

#[test]
fn only_json_is_read() {
    for (kind, expected) in [
        ("application/json", true),
        ("Application/JSON; charset=utf-8", true),
        ("application/a2a+json", true),
        ("text/plain", false),
        ("application/x-www-form-urlencoded", false),
        ("", false),
    ] {
        assert_eq!(has_json_content_type(&headers(&[("content-type", kind)])), expected, "{kind}");
    }
    assert!(!has_json_content_type(&HeaderMap::new()));
}

fn pieces(pieces: &[&'static str]) -> Body {
    let pieces: Vec<_> = pieces.iter().map(|piece| Ok::<_, std::io::Error>(*piece)).collect();
    Body::from_stream(stream::iter(pieces))
}

#[tokio::test]
async fn a_body_is_read_whole_up_to_its_bound() {
    let none = HeaderMap::new();
    for (sent, expected) in [
        (&["abc"][..], Ok("abc")),
        (&["", "ab", "", "c"], Ok("abc")),
        (&["ab", "cd", "efgh"], Ok("abcdefgh")),
        (&[], Ok("")),
        (&["abcdefghi"], Err(StatusCode::PAYLOAD_TOO_LARGE)),
        (&["abcd", "efgh", "i", "j"], Err(StatusCode::PAYLOAD_TOO_LARGE)),
    ] {
        let read = read_json_body(&none, pieces(sent), 8).await.map_err(|fault| {
            let status = fault.kind.http_status();
            assert_eq!(serde_json::to_value(&fault.detail).unwrap()["code"], "too-large");
            status
        });
        assert_eq!(read, expected.map(|text| Bytes::from_static(text.as_bytes())), "{sent:?}");
    }
}

#[tokio::test]
async fn oversized_bodies_are_cut_off_and_expect_is_answered_first() {
    let endless = stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(64)));
    let refused = read_json_body(&HeaderMap::new(), Body::from_stream(endless), 1_000).await;
    assert_eq!(refused.unwrap_err().kind.http_status(), StatusCode::PAYLOAD_TOO_LARGE);

    let polite = headers(&[("content-length", "1001"), ("expect", "100-continue")]);
    let unread = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    let refused = read_json_body(&polite, unread, 1_000).await;
    assert_eq!(refused.unwrap_err().kind.http_status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_no_request() {
    let broken = stream::iter([Ok("{"), Err(std::io::Error::other("gone"))]);
    let refused = read_json_body(&HeaderMap::new(), Body::from_stream(broken), 1_000).await;
    assert_eq!(refused.unwrap_err().kind.http_status(), StatusCode::BAD_REQUEST);
}

/// Proves X5: a remote reader is not sent to its own machine.
#[test]
fn unspecified_address_takes_the_clients_host() {
    for (address, base, expected) in [
        ("0.0.0.0:2", "http://door.example:1", "door.example:2"),
        ("0.0.0.0:2", "https://door.example", "door.example:2"),
        ("[::]:2", "http://10.1.2.3:1", "10.1.2.3:2"),
        ("[::]:2", "http://[fd00::1]:1", "[fd00::1]:2"),
        ("127.0.0.1:2", "http://door.example:1", "127.0.0.1:2"),
        ("grpc.example:2", "http://door.example:1", "grpc.example:2"),
    ] {
        assert_eq!(reachable_address(address, base), expected, "{address} {base}");
    }
}
