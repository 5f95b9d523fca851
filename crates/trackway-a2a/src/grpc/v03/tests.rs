//! Messages in both directions, names, and refused requests.

use serde_json::json;
use trackway_domain::{MessagePartContent as Known, RunId};

use super::*;
use crate::{
    error::A2aErrorDetail,
    grpc::{
        pb::v03::{file_part::File, part::Part},
        protobuf_value,
    },
    operations::TaskRef,
};

const RUN: &str = "run_0199a0b1c2d37e4f8a9b0c1d2e3f4a5b";

fn message(content: Vec<pb::Part>) -> pb::Message {
    pb::Message {
        message_id: "m-1".into(),
        context_id: "c-1".into(),
        role: pb::Role::User.into(),
        content,
        metadata: protobuf_value::encode_metadata(json!({"n": 1}).as_object().unwrap()),
        extensions: vec!["urn:x".into()],
        ..Default::default()
    }
}

fn part(part: Part) -> pb::Part {
    pb::Part { part: Some(part), metadata: None }
}

fn data(json: &serde_json::Value) -> Part {
    Part::Data(pb::DataPart { data: Some(protobuf_value::encode_protobuf_struct(json.as_object().unwrap())) })
}

fn file(file: Option<File>) -> pb::Part {
    let (mime_type, name) = ("text/plain".into(), "a.txt".into());
    part(Part::File(pb::FilePart { file, mime_type, name }))
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
    let marked = protobuf_value::encode_metadata(json!({"data_part_compat": true}).as_object().unwrap());
    let sent = message(vec![
        part(Part::Text("hi".into())),
        part(data(&json!({"a": [1, 2.5, null]}))),
        pb::Part { part: Some(data(&json!({"value": [1, 2]}))), metadata: marked },
        file(Some(File::FileWithBytes(vec![0, 1, 255]))),
        file(Some(File::FileWithUri("https://example.com/a".into()))),
    ]);
    let incoming = decode_incoming_message(sent.clone()).unwrap();
    assert_eq!(incoming.message.parts[2].content, Known::Data(json!([1, 2])));
    let place = TaskRef { run: RUN.parse::<RunId>().unwrap(), session: incoming.session.unwrap() };
    let written = protobuf_encode::encode_message(&incoming.message, &place);
    assert_eq!(written, pb::Message { task_id: RUN.into(), ..sent });
}

/// Proves D5: these messages have no field for the tasks that they refer to, so metadata has it.
#[test]
fn referenced_tasks_are_metadata() {
    let with = |metadata: serde_json::Value| pb::Message {
        metadata: protobuf_value::encode_metadata(metadata.as_object().unwrap()),
        ..message(vec![part(Part::Text("yes".into()))])
    };
    let sent = with(json!({"n": 1, "referenceTaskIds": ["a", "b"]}));
    let incoming = decode_incoming_message(sent.clone()).unwrap();
    assert_eq!(incoming.message.references, ["a", "b"]);
    assert_eq!(incoming.message.metadata, *json!({"n": 1}).as_object().unwrap());
    let place = TaskRef { run: RUN.parse::<RunId>().unwrap(), session: incoming.session.unwrap() };
    let written = protobuf_encode::encode_message(&incoming.message, &place);
    assert_eq!(written, pb::Message { task_id: RUN.into(), ..sent });
    for other in [json!("a"), json!(["a", 1]), json!({"a": 1})] {
        let incoming = decode_incoming_message(with(json!({"referenceTaskIds": other}))).unwrap();
        assert_eq!(incoming.message.references, [] as [String; 0]);
        assert_eq!(incoming.message.metadata["referenceTaskIds"], other);
    }
}

/// Proves X5.
#[test]
fn missing_and_invalid_fields_are_named() {
    let text = || part(Part::Text("hi".into()));
    let sending = |message| pb::SendMessageRequest { request: Some(message), configuration: None };
    for (sent, expected) in [
        (pb::SendMessageRequest::default(), "/params/message"),
        (sending(pb::Message { role: 0, ..message(vec![text()]) }), "/params/message/role"),
        (sending(pb::Message { role: 2, ..message(vec![text()]) }), "/params/message/role"),
        (sending(message(vec![])), "/params/message/parts"),
        (sending(message(vec![pb::Part::default()])), "/params/message/content/0"),
        (sending(message(vec![text(), file(None)])), "/params/message/content/1/file"),
    ] {
        assert_eq!(path(super::parse_message_request(sent)), expected);
    }
}

/// Proves X5.
#[test]
fn resource_names_are_parsed() {
    assert_eq!(resource_name::parse_task_resource_name("tasks/t", "name").unwrap(), "t");
    for wrong in ["", "t", "tasks/", "tasks/t/x", "task/t"] {
        assert_eq!(path(resource_name::parse_task_resource_name(wrong, "name")), "/params/name", "{wrong}");
    }
    let named = resource_name::parse_push_resource_name("tasks/t/pushNotificationConfigs/p").unwrap();
    assert_eq!(named, ("t".to_owned(), "p".to_owned()));
    assert_eq!(resource_name::format_push_resource_name("t", "p"), "tasks/t/pushNotificationConfigs/p");
    for wrong in ["", "tasks/t", "tasks/t/pushNotificationConfigs/", "t/pushNotificationConfigs/p"] {
        assert_eq!(path(resource_name::parse_push_resource_name(wrong)), "/params/name", "{wrong}");
    }
}

/// Proves X5.
#[test]
fn a_push_belongs_to_its_parent_or_to_the_task_in_its_name() {
    let asked = |parent: &str, name: &str| pb::CreateTaskPushNotificationConfigRequest {
        parent: parent.into(),
        config_id: "chosen".into(),
        config: Some(pb::TaskPushNotificationConfig {
            name: name.into(),
            push_notification_config: Some(pb::PushNotificationConfig {
                url: "https://example.com".into(),
                ..Default::default()
            }),
        }),
    };
    for (parent, name) in
        [("tasks/t", ""), ("tasks/t/pushNotificationConfigs", ""), ("", "tasks/t/pushNotificationConfigs/p")]
    {
        let Ok(AgentCall::SetPush { task, push }) =
            protobuf_push::parse_set_push(asked(parent, name), &HeaderMap::new())
        else {
            panic!("{parent} {name}");
        };
        assert_eq!((task.as_str(), push.id.as_deref()), ("t", Some("chosen")));
    }
    assert_eq!(path(protobuf_push::parse_set_push(asked("", ""), &HeaderMap::new())), "/params/parent");
}

/// Proves X5.
#[test]
fn not_waiting_is_the_default_and_zero_is_no_history_length() {
    let sending = |configuration| pb::SendMessageRequest {
        request: Some(message(vec![part(Part::Text("hi".into()))])),
        configuration,
    };
    let (_, wait, history) = parse_message_request(sending(None)).unwrap();
    assert_eq!((wait, history), (SendWaitFor::Commit, request_options::HISTORY_MESSAGES_MAX));
    let blocking = pb::SendMessageConfiguration { blocking: true, history_length: 2, ..Default::default() };
    let (_, wait, history) = parse_message_request(sending(Some(blocking))).unwrap();
    assert_eq!((wait, history), (SendWaitFor::Idle, 2));
}
