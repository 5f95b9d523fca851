//! Positions in headers, and lengths of histories.

use axum::http::HeaderValue;

use super::*;

/// Proves X5.
#[test]
fn a_last_event_id_is_a_position_or_a_mistake() {
    let with = |value: &'static [u8]| {
        let mut headers = HeaderMap::new();
        headers.insert("last-event-id", HeaderValue::from_bytes(value).unwrap());
        last_event_id_position(&headers).map_err(|fault| fault.kind.json_rpc_code())
    };
    assert_eq!(last_event_id_position(&HeaderMap::new()).unwrap(), None);
    assert_eq!(with(b"0"), Ok(Some(0)));
    assert_eq!(with(b" 42 "), Ok(Some(42)));
    for mistake in [&b""[..], b"-1", b"x", b"1.0", b"99999999999999999999", b"\xff"] {
        assert_eq!(with(mistake), Err(-32602), "{mistake:?}");
    }
}

#[test]
fn history_has_a_bound_and_is_never_negative() {
    assert_eq!(history_length_or_default(None, "/p").unwrap(), HISTORY_MESSAGES_MAX);
    assert_eq!(history_length_or_default(Some(0), "/p").unwrap(), 0);
    assert_eq!(history_length_or_default(Some(7), "/p").unwrap(), 7);
    assert_eq!(history_length_or_default(Some(-1), "/p").unwrap_err().kind, A2aErrorKind::InvalidParams);
}
