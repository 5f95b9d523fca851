//! HTTP+JSON of 0.3, which is the JSON form of its protobuf messages and differs from its JSON-RPC.

use serde_json::{Value, json};
use trackway_a2a_wire::JsonDialect;
use trackway_domain::{ArtifactChunk, Event, File, FileSource, MessagePartContent, Part, Timestamp};
use trackway_engine::{VisibleUpdate, visible_update};

use super::*;
use crate::{
    error::A2aError,
    operations::{AgentCall, AgentCallOutcome, IncomingMessage, SendReply, SendWaitFor, TaskEventContent},
    wire::{
        ResponseBody,
        wire_samples::{RUN, render_item, sample_snapshot},
    },
};

fn sent(change: &Value) -> Result<AgentCall, A2aError> {
    let mut params = json!({"message": {"messageId": "m-1", "role": "ROLE_USER",
        "content": [{"text": "hello"}]}});
    let fields = params.as_object_mut().unwrap();
    fields.extend(change.as_object().unwrap().clone());
    serde_json::from_value::<RestSendParams>(params).expect("of the right types").into_send_call()
}

fn incoming(content: &Value) -> Result<IncomingMessage, A2aError> {
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "content": content});
    match sent(&json!({ "message": message }))? {
        AgentCall::Send { incoming, .. } => Ok(*incoming),
        other => panic!("{other:?}"),
    }
}

fn render_outcome(outcome: &AgentCallOutcome) -> Value {
    serde_json::to_value(ResponseBody { outcome, card: &Value::Null, dialect: JsonDialect::V03Protobuf })
        .unwrap()
}

/// Proves L2.
#[test]
fn parts_come_in_and_go_out_in_the_shapes_of_protobuf() {
    let content = json!([
        {"text": "hi", "metadata": {"lang": "en"}},
        {"data": {"data": {"a": 1}}},
        {"file": {"fileWithUri": "https://a.example/f", "mimeType": "image/png", "name": "f.png"}},
        {"file": {"fileWithBytes": "aGk="}},
    ]);
    let parts = incoming(&content).unwrap().message.parts;
    let file = |name: Option<&str>, mime: Option<&str>, source| {
        Part::file(File { name: name.map(Into::into), mime_type: mime.map(Into::into), source })
    };
    assert_eq!(parts[0], Part::text("hi").with_metadata("lang", "en"));
    assert_eq!(parts[1].content, MessagePartContent::Data(json!({"a": 1})));
    let uri = FileSource::Uri("https://a.example/f".into());
    assert_eq!(parts[2], file(Some("f.png"), Some("image/png"), uri));
    assert_eq!(parts[3], file(None, None, FileSource::Base64("aGk=".into())));
    let artifact = trackway_domain::ArtifactId::new("a").unwrap();
    let artifact = trackway_domain::Artifact::new(artifact, parts);
    let shown = render_event_content(TaskEventContent::Artifact(ArtifactChunk::from(artifact)));
    let mut out = shown["artifactUpdate"]["artifact"]["parts"].clone();
    // A known type of data is in the metadata.
    out[1].as_object_mut().unwrap().remove("metadata");
    assert_eq!(out, content);
}

/// Proves X5.
#[test]
fn parts_of_no_kind_or_of_two_are_refused() {
    for content in [
        json!([]),
        json!([{}]),
        json!([{"text": "x", "file": {"fileWithUri": "https://a.example"}}]),
        json!([{"file": {}}]),
        json!([{"file": {"fileWithBytes": "not base64!"}}]),
    ] {
        assert_eq!(incoming(&content).unwrap_err().kind.json_rpc_code(), -32602, "{content}");
    }
}

#[test]
fn defaults_may_be_written_or_left_out() {
    for (configuration, waits, length) in [
        (json!({}), SendWaitFor::Commit, 1_000),
        (json!({"blocking": false, "historyLength": 0}), SendWaitFor::Commit, 1_000),
        (json!({"blocking": true, "history_length": 2}), SendWaitFor::Idle, 2),
    ] {
        let call = sent(&json!({ "configuration": configuration })).unwrap();
        let AgentCall::Send { wait, history, .. } = call else { panic!("{call:?}") };
        assert_eq!((wait, history), (waits, length), "{configuration}");
    }
}

fn render_event_content(seen: TaskEventContent) -> Value {
    render_item(seen, JsonDialect::V03Protobuf)
}

/// Proves L8, L10: the answer contains only fields that a strict reader of protobuf knows.
#[test]
fn a_task_and_its_updates() {
    let task = json!({
        "id": RUN, "contextId": "ctx",
        "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "1970-01-01T00:00:00.000Z"},
        "artifacts": [],
        "history": [{"messageId": "m-1", "contextId": "ctx", "taskId": RUN, "role": "ROLE_USER",
            "content": [{"text": "go"}]}],
    });
    let reply = AgentCallOutcome::Reply(SendReply::Task(Box::new(sample_snapshot(&[]))), 10);
    assert_eq!(render_outcome(&reply), json!({ "task": task }));
    assert_eq!(render_outcome(&AgentCallOutcome::Task(Box::new(sample_snapshot(&[])), 10)), task);
    assert_eq!(
        render_event_content(TaskEventContent::Snapshot(Box::new(sample_snapshot(&[])))),
        json!({ "task": task })
    );
    let Some(VisibleUpdate::Status(canceled)) = visible_update(&Event::Canceled) else { panic!("a status") };
    assert_eq!(
        render_event_content(TaskEventContent::Status(Box::new(canceled), Timestamp(0))),
        json!({"statusUpdate": {"taskId": RUN, "contextId": "ctx", "final": true,
            "status": {"state": "TASK_STATE_CANCELLED", "timestamp": "1970-01-01T00:00:00.000Z"}}})
    );
}

/// Proves X6.
#[test]
fn push_configurations_have_names_that_say_whose_they_are() {
    let config = json!({"url": "https://a.example", "token": "t",
        "authentication": {"schemes": ["Bearer"], "credentials": "c"}});
    let params = json!({"parent": format!("tasks/{RUN}"), "configId": "own",
        "config": {"name": "ignored", "pushNotificationConfig": config}});
    let call = serde_json::from_value::<RestPushParams>(params).unwrap().into_set_push_call(RUN).unwrap();
    let AgentCall::SetPush { task, push } = call else { panic!("{call:?}") };
    let mut expected = config;
    expected["id"] = json!("own");
    let named = json!({"name": format!("tasks/{RUN}/pushNotificationConfigs/own"),
        "pushNotificationConfig": expected});
    let pushes = vec![(*push).clone()];
    assert_eq!(render_outcome(&AgentCallOutcome::Push { task: task.clone(), push }), named);
    let next = String::new();
    assert_eq!(
        render_outcome(&AgentCallOutcome::Pushes { task, pushes, next }),
        json!({ "configs": [named] })
    );
}
