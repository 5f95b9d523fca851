//! Messages as clients send them.

use serde_json::{Value, json};

use trackway_domain::MessageRole;

use super::*;
use crate::error::A2aErrorDetail;

fn read(message: &Value) -> Result<IncomingMessage, A2aError> {
    let text = message.to_string();
    let sent: request_params::MessageParams = serde_json::from_str(&text).expect("of the right JSON types");
    parse_incoming_message(sent)
}

fn with(change: Value) -> Value {
    let mut message = json!({"kind": "message", "messageId": "m-1", "role": "user",
        "parts": [{"kind": "text", "text": "hello"}]});
    if let (Value::Object(fields), Value::Object(change)) = (&mut message, change) {
        fields.extend(change);
    }
    message
}

/// Proves L2.
#[test]
fn a_whole_message_is_kept_with_all_its_parts_and_metadata() {
    let sent = json!({
        "kind": "message",
        "messageId": "9229e770-767c-417b-a0b0-f0741243c589",
        "role": "user",
        "contextId": "c295ea44-7543-4f78-b524-7a38915ad6e4",
        "taskId": "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b",
        "referenceTaskIds": ["other-server-1"],
        "extensions": ["https://a.example/ext"],
        "metadata": {"questionId": "qst_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b", "k": [1]},
        "unknownField": {"is": "ignored"},
        "parts": [
            {"kind": "text", "text": "tell me a joke", "metadata": {"lang": "en"}},
            {"kind": "data", "data": {"a": 1}, "metadata": {"mimeType": "application/json"}},
            {"kind": "file", "file": {"name": "i.png", "mimeType": "image/png", "bytes": "aGk="}},
            {"kind": "file", "file": {"uri": "https://a.example/f"}, "text": "of another kind"},
        ],
    });
    let incoming = read(&sent).unwrap();
    assert_eq!(incoming.run.as_deref(), Some("run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b"));
    assert_eq!(incoming.session.unwrap().as_str(), "c295ea44-7543-4f78-b524-7a38915ad6e4");
    assert!(incoming.question.is_some());
    let message = incoming.message;
    assert_eq!(message.role, MessageRole::User);
    assert_eq!(message.references, ["other-server-1"]);
    assert_eq!(message.extensions, ["https://a.example/ext"]);
    assert_eq!(message.metadata["k"], json!([1]));
    let file = |name: Option<&str>, mime: Option<&str>, source| {
        Part::file(File { name: name.map(Into::into), mime_type: mime.map(Into::into), source })
    };
    assert_eq!(
        message.parts,
        [
            Part::text("tell me a joke").with_metadata("lang", "en"),
            Part::data(json!({"a": 1})),
            file(Some("i.png"), Some("image/png"), FileSource::Base64("aGk=".into())),
            file(None, None, FileSource::Uri("https://a.example/f".into())),
        ]
    );
}

#[test]
fn the_least_message_and_nulls_for_what_is_absent() {
    let least = json!({"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": ""}]});
    assert!(read(&least).is_ok());
    let nulls = with(json!({"kind": null, "contextId": null, "taskId": null, "metadata": null,
        "referenceTaskIds": null, "extensions": null}));
    let incoming = read(&nulls).unwrap();
    assert_eq!((incoming.run, incoming.session, incoming.question), (None, None, None));
}

#[test]
fn data_that_is_no_object_comes_wrapped_or_plain() {
    let part = |part: Value| read(&with(json!({"parts": [part]}))).unwrap().message.parts.remove(0);
    let wrapped = json!({"kind": "data", "data": {"value": [1, 2]},
        "metadata": {"data_part_compat": true, "k": 1}});
    assert_eq!(part(wrapped).as_data(), Some(&json!([1, 2])));
    let plain = part(json!({"kind": "data", "data": {"value": 3}}));
    assert_eq!(plain.as_data(), Some(&json!({"value": 3})));
    assert_eq!(part(json!({"kind": "data", "data": 3})).as_data(), Some(&json!(3)));
}

/// Proves X5.
#[test]
fn what_is_wrong_with_a_message_is_said_at_its_place() {
    let parts = |part: Value| with(json!({"parts": [{"kind": "text", "text": "ok"}, part]}));
    let long = "x".repeat(257);
    for (sent, path) in [
        (with(json!({"kind": "task"})), "kind"),
        (with(json!({"role": "agent"})), "role"),
        (with(json!({"role": "ROLE_USER"})), "role"),
        (with(json!({"messageId": ""})), "messageId"),
        (with(json!({"messageId": "a\nb"})), "messageId"),
        (with(json!({"messageId": long})), "messageId"),
        (with(json!({"contextId": ""})), "contextId"),
        (with(json!({"contextId": long})), "contextId"),
        (with(json!({"metadata": {"questionId": 5}})), "metadata/questionId"),
        (with(json!({"metadata": {"questionId": "q1"}})), "metadata/questionId"),
        (with(json!({"parts": []})), "parts"),
        (with(json!({"parts": vec![json!({"kind": "text", "text": "x"}); 1_001]})), "parts"),
        (parts(json!({"text": "no kind"})), "parts/1"),
        (parts(json!({"kind": "video", "text": "x"})), "parts/1/kind"),
        (parts(json!({"kind": "text"})), "parts/1"),
        (parts(json!({"kind": "text", "data": {}})), "parts/1"),
        (parts(json!({"kind": "data", "text": "x"})), "parts/1"),
        (parts(json!({"kind": "data", "data": null})), "parts/1"),
        (parts(json!({"kind": "file"})), "parts/1"),
        (parts(json!({"kind": "file", "file": {"name": "x"}})), "parts/1/file"),
        (
            parts(json!({"kind": "file", "file": {"bytes": "aGk=", "uri": "https://a.example"}})),
            "parts/1/file",
        ),
        (parts(json!({"kind": "file", "file": {"bytes": "not base64!"}})), "parts/1/file/bytes"),
        (parts(json!({"kind": "file", "file": {"bytes": "aGk"}})), ""),
        (parts(json!({"kind": "file", "file": {"bytes": "aGk=="}})), "parts/1/file/bytes"),
        (parts(json!({"kind": "file", "file": {"bytes": "aGkxx"}})), "parts/1/file/bytes"),
        (parts(json!({"kind": "file", "file": {"bytes": "a-_="}})), "parts/1/file/bytes"),
        (parts(json!({"kind": "file", "file": {"uri": ""}})), "parts/1/file/uri"),
    ] {
        let outcome = read(&sent);
        if path.is_empty() {
            assert!(outcome.is_ok(), "{sent}");
            continue;
        }
        let fault = outcome.expect_err(&sent.to_string());
        assert_eq!(fault.kind.json_rpc_code(), -32602);
        let A2aErrorDetail::Advice(advice) = *fault.detail else { panic!("advice for {sent}") };
        assert_eq!(advice.path, Some(format!("/params/message/{path}")), "{sent}");
        assert!(!advice.next.is_empty());
    }
}

#[test]
fn an_array_is_no_message_and_no_part() {
    for sent in [
        json!({"message": ["message", "m", "user", []]}),
        json!({"message": {"messageId": "m", "role": "user", "parts": [["text", "x"]]}}),
        json!({"message": {"messageId": "m", "role": "user", "parts": []}, "configuration": [[], true]}),
    ] {
        let error = serde_json::from_value::<super::request_params::SendParams>(sent.clone()).unwrap_err();
        assert!(error.to_string().contains("expected an object"), "{sent}: {error}");
    }
}
