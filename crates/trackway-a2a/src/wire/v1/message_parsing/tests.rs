//! Messages of 1.0 clients, and the same messages written again.

use serde_json::{Value, json};
use trackway_a2a_wire::{JsonDialect, WireMessage};
use trackway_domain::MessageRole;

use super::*;
use crate::error::A2aErrorDetail;

const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";

fn read(message: &Value) -> Result<IncomingMessage, A2aError> {
    let sent: request_params::MessageParams =
        serde_json::from_value(message.clone()).expect("of the right types");
    parse_incoming_message(sent)
}

fn with(change: Value) -> Value {
    let mut message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    if let (Value::Object(fields), Value::Object(change)) = (&mut message, change) {
        fields.extend(change);
    }
    message
}

/// A part in the domain, and its written form.
fn through(part: &Value) -> (Part, Value) {
    let message = read(&with(json!({"parts": [part]}))).unwrap().message;
    let written =
        WireMessage::<&str> { message: &message, context: None, task: None, dialect: JsonDialect::V1 };
    let mut written = serde_json::to_value(written).unwrap();
    (message.parts[0].clone(), written["parts"][0].take())
}

fn file(name: Option<&str>, mime: Option<&str>, source: FileSource) -> Part {
    Part::file(File { name: name.map(Into::into), mime_type: mime.map(Into::into), source })
}

fn data(value: Value) -> Part {
    Part { content: MessagePartContent::Data(value), metadata: trackway_domain::Object::new() }
}

/// Proves L2.
#[test]
fn every_kind_of_part_comes_out_as_it_went_in() {
    let base64 = || FileSource::Base64("aGk=".into());
    let uri = || FileSource::Uri("https://a.example/f".into());
    for (sent, expected) in [
        (json!({"text": "hi"}), Part::text("hi")),
        (json!({"text": ""}), Part::text("")),
        (json!({"text": "hi", "metadata": {"lang": "en"}}), Part::text("hi").with_metadata("lang", "en")),
        (json!({"raw": "aGk="}), file(None, None, base64())),
        (
            json!({"raw": "aGk=", "filename": "a.txt", "mediaType": "text/plain"}),
            file(Some("a.txt"), Some("text/plain"), base64()),
        ),
        (json!({"url": "https://a.example/f"}), file(None, None, uri())),
        (
            json!({"url": "https://a.example/f", "mediaType": "image/png", "metadata": {"k": [1]}}),
            file(None, Some("image/png"), uri()).with_metadata("k", json!([1])),
        ),
        (json!({"data": {"a": 1}}), data(json!({"a": 1}))),
        (json!({"data": [1, "x"]}), data(json!([1, "x"]))),
        (json!({"data": "text"}), data(json!("text"))),
        (json!({"data": 3.5}), data(json!(3.5))),
        (json!({"data": false}), data(json!(false))),
        (json!({"data": null}), data(Value::Null)),
    ] {
        assert_eq!(through(&sent), (expected, sent.clone()), "{sent}");
    }
}

/// The domain keeps name and type of text and data in their metadata, where 0.3 expects them.
#[test]
fn name_and_type_stand_beside_text_and_data_too() {
    let named = json!({"text": "# A", "filename": "a.md", "mediaType": "text/markdown"});
    let (part, written) = through(&named);
    assert_eq!(
        part,
        Part::text("# A").with_metadata("mimeType", "text/markdown").with_metadata("filename", "a.md")
    );
    assert_eq!((&written["filename"], &written["mediaType"]), (&json!("a.md"), &json!("text/markdown")));
    let (part, written) = through(&json!({"data": {"a": 1}, "mediaType": "application/json"}));
    assert_eq!(part, Part::data(json!({"a": 1})));
    assert_eq!(written["mediaType"], "application/json");
}

/// Proves L2.
#[test]
fn a_whole_message_in_either_spelling_of_its_fields() {
    let camel = json!({
        "messageId": "m-1", "contextId": "ctx-1", "taskId": RUN, "role": "ROLE_USER",
        "referenceTaskIds": ["elsewhere"], "extensions": ["https://a.example/ext"],
        "metadata": {"questionId": "qst_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b", "k": [1]},
        "parts": [{"raw": "aGk=", "mediaType": "text/plain"}], "unknownField": {"is": "ignored"},
    });
    let snake = json!({
        "message_id": "m-1", "context_id": "ctx-1", "task_id": RUN, "role": "ROLE_USER",
        "reference_task_ids": ["elsewhere"], "extensions": ["https://a.example/ext"],
        "metadata": {"questionId": "qst_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b", "k": [1]},
        "parts": [{"raw": "aGk=", "media_type": "text/plain", "unknown_field": 1}],
    });
    let read_camel = read(&camel).unwrap();
    assert_eq!(read_camel, read(&snake).unwrap());
    assert_eq!(read_camel.run.as_deref(), Some(RUN));
    assert_eq!(read_camel.session.unwrap().as_str(), "ctx-1");
    assert!(read_camel.question.is_some());
    let message = read_camel.message;
    assert_eq!((message.id.as_str(), message.role), ("m-1", MessageRole::User));
    assert_eq!(message.references, ["elsewhere"]);
    assert_eq!(message.extensions, ["https://a.example/ext"]);
    assert_eq!(message.metadata["k"], json!([1]));
}

/// The JSON form of protobuf may contain a field with its default value.
#[test]
fn empty_texts_and_nulls_are_what_was_not_sent() {
    let empty = with(json!({"contextId": "", "taskId": "", "extensions": [], "metadata": {},
        "referenceTaskIds": [], "parts": [{"raw": "aGk=", "filename": "", "mediaType": ""}]}));
    let nulls = with(json!({"contextId": null, "taskId": null, "extensions": null,
        "metadata": null, "referenceTaskIds": null,
        "parts": [{"raw": "aGk=", "text": null, "url": null, "filename": null, "mediaType": null}]}));
    for sent in [empty, nulls] {
        let incoming = read(&sent).unwrap();
        assert_eq!((incoming.run, incoming.session, incoming.question), (None, None, None));
        assert_eq!(incoming.message.parts, [file(None, None, FileSource::Base64("aGk=".into()))]);
    }
}

/// Proves X5.
#[test]
fn what_is_wrong_with_a_message_is_said_at_its_place() {
    let parts = |part: Value| with(json!({"parts": [{"text": "ok"}, part]}));
    let long = "x".repeat(257);
    for (sent, path) in [
        (with(json!({"role": "ROLE_AGENT"})), "role"),
        (with(json!({"role": "user"})), "role"),
        (with(json!({"role": "ROLE_UNSPECIFIED"})), "role"),
        (with(json!({"role": ""})), "role"),
        (with(json!({"messageId": ""})), "messageId"),
        (with(json!({"messageId": long})), "messageId"),
        (with(json!({"contextId": long})), "contextId"),
        (with(json!({"metadata": {"questionId": 5}})), "metadata/questionId"),
        (with(json!({"parts": []})), "parts"),
        (with(json!({"parts": vec![json!({"text": "x"}); 1_001]})), "parts"),
        (parts(json!({})), "parts/1"),
        (parts(json!({"kind": "text"})), "parts/1"),
        (parts(json!({"text": "x", "raw": "aGk="})), "parts/1"),
        (parts(json!({"text": "x", "data": null})), "parts/1"),
        (parts(json!({"raw": "aGk=", "url": "https://a.example"})), "parts/1"),
        (parts(json!({"raw": "not base64!"})), "parts/1/raw"),
        (parts(json!({"raw": "aGk=="})), "parts/1/raw"),
        (parts(json!({"raw": "a-_="})), "parts/1/raw"),
        (parts(json!({"url": ""})), "parts/1/url"),
    ] {
        let fault = read(&sent).expect_err(&sent.to_string());
        assert_eq!(fault.kind.json_rpc_code(), -32602);
        let A2aErrorDetail::Advice(advice) = *fault.detail else { panic!("advice for {sent}") };
        assert_eq!(advice.path, Some(format!("/params/message/{path}")), "{sent}");
        assert!(!advice.next.is_empty());
    }
}

/// Proves X5.
#[test]
fn an_array_is_no_message_and_no_part() {
    for sent in [
        json!({"message": ["m", "ROLE_USER", []]}),
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [["x"]]}}),
        json!({"message": with(json!({})), "configuration": [[], true]}),
    ] {
        let error = serde_json::from_value::<request_params::SendParams>(sent.clone()).unwrap_err();
        assert!(error.to_string().contains("expected an object"), "{sent}: {error}");
    }
}
