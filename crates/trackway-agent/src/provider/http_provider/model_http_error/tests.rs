//! Statuses, waits and secrets.

use super::*;
use crate::provider::openai_chat::OpenAiChatFormat;

fn error_for_response(status: u16, headers: &[(&'static str, &str)], body: &str) -> ModelError {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().unwrap());
    }
    let status = StatusCode::from_u16(status).unwrap();
    model_error_from_status(
        status,
        &map,
        body.as_bytes(),
        &OpenAiChatFormat::format_for_base_url("http://127.0.0.1/v1"),
    )
}

#[test]
fn a_status_says_whether_asking_again_helps() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let error = error_for_response(status, &[], "");
        assert!(error.is_retryable(), "{status} {error}");
    }
    for status in [301, 400, 401, 403, 404, 413, 422] {
        let error = error_for_response(status, &[], "");
        assert!(matches!(error, ModelError::Refused { .. }), "{status} {error}");
    }
    let unpaid = r#"{"error": {"message": "pay first", "code": "insufficient_quota"}}"#;
    let expected = ModelError::Refused { status: 429, reason: "pay first (insufficient_quota)".into() };
    assert_eq!(error_for_response(429, &[], unpaid), expected);
}

#[test]
fn the_servers_own_words_are_told() {
    let reason = |body: &str| match error_for_response(400, &[], body) {
        ModelError::Refused { reason, .. } => reason,
        other => panic!("{other}"),
    };
    assert_eq!(reason(r#"{"error": {"message": "no such model"}}"#), "no such model");
    assert_eq!(reason(r#"{"error": "model not found"}"#), "model not found");
    assert_eq!(reason(r#"{"object": "error", "message": "too long", "code": 400}"#), "too long");
    assert_eq!(reason(r#"{"detail": "Not Found"}"#), "Not Found");
    assert_eq!(reason("upstream went away"), "upstream went away");
    assert_eq!(reason(" "), "Bad Request");
}

#[test]
fn a_wait_is_read_as_seconds_milliseconds_or_a_date() {
    let wait = |headers: &[(&'static str, &str)]| error_for_response(503, headers, "").retry_after();
    let seconds = |count| Some(Duration::from_secs(count));
    assert_eq!(wait(&[("retry-after", "7")]), seconds(7));
    assert_eq!(wait(&[("retry-after", "1.5")]), Some(Duration::from_millis(1_500)));
    assert_eq!(wait(&[("retry-after", "2"), ("retry-after-ms", "300")]), Some(Duration::from_millis(300)));
    let later = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(wait(&[later, ("date", "Sun, 06 Nov 1994 08:49:30 GMT")]), seconds(7));
    assert_eq!(wait(&[later]), seconds(0), "long ago by our clock");
    assert_eq!(wait(&[("retry-after", "-3")]), None);
    assert_eq!(wait(&[("retry-after", "soon")]), None);
    assert_eq!(wait(&[]), None);
}

/// No error contains a secret, even if a server repeats it.
#[test]
fn secrets_are_taken_out() {
    let mut endpoint = ModelEndpoint::new("m");
    endpoint.key = Some("sk-very-secret".into());
    endpoint.headers.insert("authorization".into(), "Bearer other-secret".into());
    endpoint.headers.insert("x-version".into(), "1".into());
    let url: Url = "https://user:pass-word@models.example/v1?key=x".parse().unwrap();
    let veil = SecretRedactor::new(&endpoint, &url);
    let reason = "keys sk-very-secret\nand other-secret of pass-word are bad since 1999\u{7}".to_owned();
    let expected = "keys [hidden] and [hidden] of [hidden] are bad since 1999".to_owned();
    let error = veil.redact_model_error(ModelError::Refused { status: 401, reason });
    assert_eq!(error, ModelError::Refused { status: 401, reason: expected });
    assert_eq!(&*veil.server, "https://models.example");
    let long = ModelError::Unreadable { reason: "x".repeat(10_000) };
    let ModelError::Unreadable { reason } = veil.redact_model_error(long) else { panic!("another error") };
    assert_eq!(reason.len(), REASON_CHARS_MAX);
}
