//! Parameters of requests, and push configurations.

use serde_json::{Value, json};
use trackway_domain::{MessageId, Object, Part, Timestamp};

use super::super::*;
use crate::{PushAuthentication, PushConfig, TaskState};

fn envelope() -> AddressedMessage {
    let id = MessageId::new("m-1").unwrap();
    let mut envelope =
        AddressedMessage::from_user(id, vec![Part::text("hi")]).addressed_to_task("t-1").in_context("c-1");
    envelope.message.references = vec!["t-0".to_owned()];
    envelope.message.extensions = vec!["urn:x".to_owned()];
    envelope.message.metadata.insert("k".to_owned(), 1.into());
    envelope
}

fn config() -> PushConfig {
    PushConfig {
        id: Some("p-1".to_owned()),
        token: Some("secret".to_owned()),
        authentication: Some(PushAuthentication {
            scheme: "Bearer".to_owned(),
            credentials: Some("hidden".to_owned()),
        }),
        ..PushConfig::new("https://me/hook")
    }
}

#[test]
fn a_send_is_written_as_its_generation_says() {
    let mut metadata = Object::new();
    metadata.insert("r".to_owned(), 2.into());
    let options = SendOptions {
        wait: SendWait::ReturnImmediately,
        history: Some(3),
        accepted_modes: vec!["text/plain".to_owned()],
        push: Some(config()),
        metadata,
    };
    let sent = |generation, wait| json!(send_message_params(generation, &envelope(), &options, wait));
    let old = json!({
        "message": {"kind": "message", "messageId": "m-1", "role": "user", "taskId": "t-1", "contextId": "c-1",
            "parts": [{"kind": "text", "text": "hi"}], "metadata": {"k": 1},
            "referenceTaskIds": ["t-0"], "extensions": ["urn:x"]},
        "configuration": {"blocking": false, "historyLength": 3, "acceptedOutputModes": ["text/plain"],
            "pushNotificationConfig": {"id": "p-1", "url": "https://me/hook", "token": "secret",
                "authentication": {"schemes": ["Bearer"], "credentials": "hidden"}}},
        "metadata": {"r": 2},
    });
    assert_eq!(sent(ProtocolVersion::V03, Some(SendWait::ReturnImmediately)), old);
    let new = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "taskId": "t-1", "contextId": "c-1",
            "parts": [{"text": "hi"}], "metadata": {"k": 1},
            "referenceTaskIds": ["t-0"], "extensions": ["urn:x"]},
        "configuration": {"returnImmediately": true, "historyLength": 3, "acceptedOutputModes": ["text/plain"],
            "taskPushNotificationConfig": {"id": "p-1", "url": "https://me/hook", "token": "secret",
                "authentication": {"scheme": "Bearer", "credentials": "hidden"}}},
        "metadata": {"r": 2},
    });
    assert_eq!(sent(ProtocolVersion::V1, Some(SendWait::ReturnImmediately)), new);
    let plain = |generation, wait| {
        json!(send_message_params(generation, &envelope(), &SendOptions::default(), wait))["configuration"]
            .take()
    };
    assert_eq!(plain(ProtocolVersion::V03, Some(SendWait::UntilIdle)), json!({"blocking": true}));
    assert_eq!(plain(ProtocolVersion::V1, Some(SendWait::UntilIdle)), Value::Null);
    assert_eq!(plain(ProtocolVersion::V03, None), Value::Null, "streams do not wait");
    for (generation, json) in [(ProtocolVersion::V03, old), (ProtocolVersion::V1, new)] {
        let mut item = json["message"].clone();
        if generation == ProtocolVersion::V1 {
            item = json!({ "message": item });
        }
        let back = parse_stream_update(generation, &item.to_string()).unwrap();
        assert_eq!(back, TaskUpdate::Message(envelope()), "and it comes back as it was");
    }
}

#[test]
fn lists_ask_for_what_was_asked_for() {
    let query = TaskQuery {
        context: Some("c".to_owned()),
        state: Some(TaskState::AuthRequired),
        after: Some(Timestamp(1_000)),
        page_size: Some(7),
        page_token: Some("p".to_owned()),
        history: Some(0),
        artifacts: true,
    };
    let expected = json!({"contextId": "c", "status": "TASK_STATE_AUTH_REQUIRED", "pageSize": 7,
        "statusTimestampAfter": "1970-01-01T00:00:01.000Z", "pageToken": "p", "historyLength": 0,
        "includeArtifacts": true});
    assert_eq!(json!(list_tasks_params(&query)), expected);
    assert_eq!(json!(list_tasks_params(&TaskQuery::default())), json!({}));
    assert_eq!(json!(get_task_params("t", Some(0))), json!({"id": "t", "historyLength": 0}));
}

#[test]
fn push_configurations_come_back_as_they_were_sent() {
    let (old, new) = (ProtocolVersion::V03, ProtocolVersion::V1);
    let set = |generation| json!(push_set_params(generation, "t", &config()));
    assert_eq!(set(old)["taskId"], "t");
    assert_eq!(set(old)["pushNotificationConfig"]["url"], "https://me/hook");
    assert_eq!((&set(new)["taskId"], &set(new)["id"]), (&json!("t"), &json!("p-1")));
    for generation in [old, new] {
        let back = parse_push_config(generation, &set(generation).to_string()).unwrap();
        assert_eq!(back, config());
    }
    assert_eq!(json!(push_id_params(old, "t", None)), json!({"id": "t"}));
    let named = json!({"id": "t", "pushNotificationConfigId": "p"});
    assert_eq!(json!(push_id_params(old, "t", Some("p"))), named);
    assert_eq!(json!(push_id_params(new, "t", Some("p"))), json!({"taskId": "t", "id": "p"}));
    let list = parse_push_page(old, &json!([set(old), set(old)]).to_string()).unwrap();
    assert_eq!((list.0.len(), list.1), (2, None));
    let list = parse_push_page(new, &json!({"configs": [set(new)], "nextPageToken": "n"}).to_string());
    let (configs, next) = list.unwrap();
    assert_eq!((&configs[0], next.as_deref()), (&config(), Some("n")));
    assert_eq!(parse_push_page(new, "{}").unwrap(), (Vec::new(), None));
    let shown = format!("{:?}", config());
    assert!(!shown.contains("secret") && !shown.contains("hidden"), "{shown}");
}
