//! Messages in both directions, and refused requests.

use serde_json::json;
use trackway_domain::{RunId, StateName};

use super::*;
use crate::{error::A2aErrorDetail, grpc::pb::v1::part::Content, operations::TaskRef};

fn message(parts: Vec<pb::Part>) -> pb::Message {
    pb::Message {
        message_id: "m-1".into(),
        context_id: "c-1".into(),
        role: pb::Role::User.into(),
        parts,
        metadata: protobuf_value::encode_metadata(
            json!({"n": 1, "deep": [{"x": null}]}).as_object().unwrap(),
        ),
        extensions: vec!["urn:x".into()],
        reference_task_ids: vec!["other".into()],
        ..Default::default()
    }
}

fn part(content: Content) -> pb::Part {
    pb::Part { content: Some(content), ..Default::default() }
}

fn sending(message: pb::Message) -> pb::SendMessageRequest {
    pb::SendMessageRequest { message: Some(message), ..Default::default() }
}

fn path(refused: Result<impl std::fmt::Debug, A2aError>) -> String {
    let fault = refused.unwrap_err();
    match *fault.detail {
        A2aErrorDetail::Advice(advice) => advice.path.unwrap_or_default(),
        A2aErrorDetail::Input { .. } => panic!("not about the input"),
    }
}

/// Proves X5.
#[test]
fn messages_round_trip() {
    let file = |content| pb::Part {
        filename: "a.bin".into(),
        media_type: "application/octet-stream".into(),
        metadata: protobuf_value::encode_metadata(json!({"k": true}).as_object().unwrap()),
        ..part(content)
    };
    let sent = message(vec![
        part(Content::Text("hi".into())),
        part(Content::Data(protobuf_value::encode_protobuf_value(&json!({"a": [1, 2.5, "x"]})))),
        part(Content::Data(protobuf_value::encode_protobuf_value(&json!(null)))),
        file(Content::Raw(vec![0, 1, 255])),
        file(Content::Raw(vec![])),
        file(Content::Url("https://example.com/a".into())),
    ]);
    let incoming = decode_incoming_message(sent.clone()).unwrap();
    let place = TaskRef { run: RUN.parse::<RunId>().unwrap(), session: incoming.session.unwrap() };
    let written = protobuf_encode::encode_message(&incoming.message, &place);
    assert_eq!(written, pb::Message { task_id: RUN.into(), ..sent });
}

const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";

/// Proves X5.
#[test]
fn a_text_keeps_its_name_and_type() {
    let named = pb::Part {
        filename: "a.md".into(),
        media_type: "text/markdown".into(),
        ..part(Content::Text("# hi".into()))
    };
    let incoming = decode_incoming_message(message(vec![named])).unwrap();
    assert_eq!(incoming.message.parts[0].metadata["mimeType"], "text/markdown");
    let place = TaskRef { run: RUN.parse::<RunId>().unwrap(), session: incoming.session.unwrap() };
    let written = protobuf_encode::encode_message(&incoming.message, &place);
    assert_eq!(written.parts[0].filename, "a.md");
    assert_eq!(written.parts[0].media_type, "text/markdown");
}

/// Proves X5.
#[test]
fn missing_and_invalid_fields_are_named() {
    let text = || part(Content::Text("hi".into()));
    let wrong_number = prost_types::Value { kind: Some(prost_types::value::Kind::NumberValue(f64::NAN)) };
    for (sent, expected) in [
        (pb::SendMessageRequest::default(), "/params/message"),
        (
            sending(pb::Message { message_id: String::new(), ..message(vec![text()]) }),
            "/params/message/messageId",
        ),
        (sending(pb::Message { role: 0, ..message(vec![text()]) }), "/params/message/role"),
        (sending(pb::Message { role: 2, ..message(vec![text()]) }), "/params/message/role"),
        (sending(pb::Message { role: 99, ..message(vec![text()]) }), "/params/message/role"),
        (sending(message(vec![])), "/params/message/parts"),
        (sending(message(vec![text(), pb::Part::default()])), "/params/message/parts/1"),
        (sending(message(vec![part(Content::Url(String::new()))])), "/params/message/parts/0/url"),
        (sending(message(vec![part(Content::Data(wrong_number))])), "/params/message/parts/0/data"),
        (
            pb::SendMessageRequest {
                configuration: Some(pb::SendMessageConfiguration {
                    history_length: Some(-1),
                    ..Default::default()
                }),
                ..sending(message(vec![text()]))
            },
            "/params/configuration/historyLength",
        ),
        (
            pb::SendMessageRequest {
                configuration: Some(pb::SendMessageConfiguration {
                    task_push_notification_config: Some(Default::default()),
                    ..Default::default()
                }),
                ..sending(message(vec![text()]))
            },
            "/params/configuration/taskPushNotificationConfig/url",
        ),
    ] {
        assert_eq!(path(super::parse_message_request(sent)), expected);
    }
    assert_eq!(path(require_non_empty_id(String::new(), "id")), "/params/id");
    let list = |status| {
        let asked = pb::ListTasksRequest { status, ..Default::default() };
        super::parse_list_tasks(asked, &HeaderMap::new())
    };
    assert_eq!(path(list(99)), "/params/status");
}

/// Proves X5.
#[test]
fn waiting_is_the_default() {
    let text = || sending(message(vec![part(Content::Text("hi".into()))]));
    assert_eq!(parse_message_request(text()).unwrap().1, SendWaitFor::Idle);
    let configuration = Some(pb::SendMessageConfiguration { return_immediately: true, ..Default::default() });
    let at_once = pb::SendMessageRequest { configuration, ..text() };
    assert_eq!(parse_message_request(at_once).unwrap().1, SendWaitFor::Commit);
}

#[test]
fn state_numbers_match_the_protocol() {
    assert_eq!(decode_state_filter(0), Ok(None));
    assert_eq!(decode_state_filter(5), Ok(Some(StateName::Canceled)));
    assert_eq!(decode_state_filter(6), Ok(Some(StateName::InputRequired)));
    assert_eq!(decode_state_filter(-1), Err(-1));
}
