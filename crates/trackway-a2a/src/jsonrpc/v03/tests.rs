//! What a configuration asks for, and positions in headers.

use axum::http::HeaderValue;
use serde_json::{Value, json};

use super::*;

fn configured_by(value: Value) -> Result<(Wait, usize), i32> {
    let sent = serde_json::from_value(value).unwrap();
    configured(sent).map_err(|fault| fault.kind.json_rpc())
}

#[test]
fn blocking_is_asked_for_and_history_has_a_bound() {
    for (sent, expected) in [
        (json!(null), (Wait::Commit, HISTORY_MESSAGES_MAX)),
        (json!({}), (Wait::Commit, HISTORY_MESSAGES_MAX)),
        (json!({"blocking": null, "historyLength": null}), (Wait::Commit, HISTORY_MESSAGES_MAX)),
        (json!({"blocking": false}), (Wait::Commit, HISTORY_MESSAGES_MAX)),
        (json!({"blocking": true, "historyLength": 0, "unknown": 1}), (Wait::Rest, 0)),
        (json!({"historyLength": 7, "pushNotificationConfig": null}), (Wait::Commit, 7)),
    ] {
        assert_eq!(configured_by(sent.clone()), Ok(expected), "{sent}");
    }
    assert_eq!(configured_by(json!({"historyLength": -1})), Err(-32602));
    assert_eq!(
        configured_by(json!({"pushNotificationConfig": {"url": "https://a.example"}})),
        Err(-32003)
    );
}

#[test]
fn accepted_output_modes_are_acted_on() {
    for accepted in [
        json!([]),
        json!(["text/plain"]),
        json!(["image/png", "application/json"]),
        json!(["TEXT/Plain; charset=utf-8"]),
        json!(["text"]),
        json!(["*/*"]),
        json!(["text/*"]),
        json!(["application/*"]),
    ] {
        assert!(configured_by(json!({"acceptedOutputModes": accepted})).is_ok(), "{accepted}");
    }
    for refused in [json!(["image/png"]), json!(["audio/*", "text/html"]), json!([""])] {
        let sent = json!({"acceptedOutputModes": refused});
        assert_eq!(configured_by(sent), Err(-32005), "{refused}");
    }
}

#[test]
fn a_last_event_id_is_a_position_or_a_mistake() {
    let with = |value: &'static [u8]| {
        let mut headers = HeaderMap::new();
        headers.insert("last-event-id", HeaderValue::from_bytes(value).unwrap());
        last_event(&headers).map_err(|fault| fault.kind.json_rpc())
    };
    assert_eq!(last_event(&HeaderMap::new()).unwrap(), None);
    assert_eq!(with(b"0"), Ok(Some(0)));
    assert_eq!(with(b" 42 "), Ok(Some(42)));
    for mistake in [&b""[..], b"-1", b"x", b"1.0", b"99999999999999999999", b"\xff"] {
        assert_eq!(with(mistake), Err(-32602), "{mistake:?}");
    }
}
