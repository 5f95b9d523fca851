//! Both generations: from JSON to types, and back.

mod parts;
mod requests;

use serde_json::{Value, json};
use trackway_domain::{MessagePartContent, MessageRole, Part, StateName, Timestamp};

use super::*;
use crate::{StatusUpdate, TaskStatus};

/// The same task in the form of each generation.
fn tasks() -> [(ProtocolVersion, Value); 2] {
    let old = json!({
        "kind": "task", "id": "t-1", "contextId": "c-1", "unheardOf": {"x": 1},
        "status": {"state": "input-required", "timestamp": "2026-11-15T18:36:14.965Z",
            "message": {"kind": "message", "messageId": "m-2", "role": "agent", "taskId": "t-1",
                "contextId": "c-1", "parts": [{"kind": "text", "text": "How much?"}]}},
        "artifacts": [{"artifactId": "a", "name": "A", "description": "d", "metadata": {"k": 1},
            "parts": [{"kind": "data", "data": {"n": 1}}], "extensions": ["urn:x"]}],
        "history": [{"kind": "message", "messageId": "m-1", "role": "user", "referenceTaskIds": ["t-0"],
            "extensions": ["urn:x"], "metadata": {"k": 2}, "parts": [{"kind": "text", "text": "hi"}]}],
        "metadata": {"k": 3},
    });
    let new = json!({
        "id": "t-1", "contextId": "c-1", "unheardOf": {"x": 1},
        "status": {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-11-15T18:36:14.965Z",
            "message": {"messageId": "m-2", "role": "ROLE_AGENT", "taskId": "t-1", "contextId": "c-1",
                "parts": [{"text": "How much?"}]}},
        "artifacts": [{"artifactId": "a", "name": "A", "description": "d", "metadata": {"k": 1},
            "parts": [{"data": {"n": 1}}], "extensions": ["urn:x"]}],
        "history": [{"messageId": "m-1", "role": "ROLE_USER", "referenceTaskIds": ["t-0"],
            "extensions": ["urn:x"], "metadata": {"k": 2}, "parts": [{"text": "hi"}]}],
        "metadata": {"k": 3},
    });
    [(ProtocolVersion::V03, old), (ProtocolVersion::V1, new)]
}

#[test]
fn a_task_is_the_same_in_both_generations() {
    let [old, new] = tasks().map(|(generation, json)| parse_task(generation, &json.to_string()).unwrap());
    assert_eq!(old, new);
    assert_eq!((old.id.as_str(), old.context.as_deref()), ("t-1", Some("c-1")));
    assert_eq!(old.status.state, StateName::InputRequired);
    assert_eq!(old.status.timestamp, Some(Timestamp(1_794_767_774_965)));
    assert_eq!(old.status.message.as_ref().unwrap().parts, [Part::text("How much?")]);
    let artifact = &old.artifacts[0];
    assert_eq!((artifact.id.as_str(), artifact.name.as_deref()), ("a", Some("A")));
    assert_eq!(artifact.parts[0].content, MessagePartContent::Data(json!({"n": 1})));
    assert_eq!(artifact.metadata["k"], 1);
    let message = &old.history[0];
    assert_eq!((message.role, message.id.as_str()), (MessageRole::User, "m-1"));
    assert_eq!(
        (&message.references[..], &message.extensions[..]),
        (&["t-0".to_owned()][..], &["urn:x".to_owned()][..])
    );
    assert_eq!((&message.metadata["k"], &old.metadata["k"]), (&json!(2), &json!(3)));
}

#[test]
fn every_state_has_its_name_and_unheard_of_ones_are_unknown() {
    for state in StateName::ALL {
        for dialect in [JsonDialect::V03, JsonDialect::V03Protobuf, JsonDialect::V1] {
            assert_eq!(dialect.parse_task_state(dialect.state_name(state)), Some(state));
        }
    }
    for (generation, name) in [
        (ProtocolVersion::V03, "paused"),
        (ProtocolVersion::V1, "TASK_STATE_PAUSED"),
        (ProtocolVersion::V1, "TASK_STATE_UNSPECIFIED"),
        (ProtocolVersion::V1, "working"),
    ] {
        let json = json!({"id": "t", "status": {"state": name}}).to_string();
        let read = parse_task(generation, &json).unwrap();
        let status = TaskStatus { state: StateName::Unknown, message: None, timestamp: None };
        assert_eq!((read.status, read.context), (status, None), "{name}");
    }
}

#[test]
fn times_may_be_written_in_any_zone_and_be_left_out() {
    for (text, expected) in [
        ("1970-01-01T00:00:01Z", Some(1_000)),
        ("1970-01-01T01:00:01.5+01:00", Some(1_500)),
        ("1970-01-01T00:00:01", None),
        ("yesterday", None),
    ] {
        let json = json!({"id": "t", "status": {"state": "working", "timestamp": text}});
        let read = parse_task(ProtocolVersion::V03, &json.to_string()).unwrap();
        assert_eq!(read.status.timestamp, expected.map(Timestamp), "{text}");
    }
}

#[test]
fn each_kind_of_item_is_read_in_both_generations() {
    let [(_, old_task), (_, new_task)] = tasks();
    let status =
        |state| json!({"taskId": "t", "contextId": "c", "status": {"state": state}, "metadata": {"k": 1}});
    let artifact = |parts: Value| {
        json!({"taskId": "t", "contextId": "c", "append": true, "lastChunk": true,
            "artifact": {"artifactId": "a", "parts": parts}})
    };
    let tagged = |mut item: Value, kind: &str| {
        item["kind"] = kind.into();
        item
    };
    let message = json!({"messageId": "m", "role": "agent", "contextId": "c", "parts": [{"kind": "text", "text": "x"}]});
    let new_message =
        json!({"messageId": "m", "role": "ROLE_AGENT", "contextId": "c", "parts": [{"text": "x"}]});
    let mut last = tagged(status("completed"), "status-update");
    last["final"] = true.into();
    let chunk = artifact(json!([{"kind": "text", "text": "x"}]));
    let pairs = [
        (old_task, json!({ "task": new_task })),
        (tagged(message, "message"), json!({ "message": new_message })),
        (tagged(status("working"), "status-update"), json!({"statusUpdate": status("TASK_STATE_WORKING")})),
        (last, json!({"statusUpdate": status("TASK_STATE_COMPLETED")})),
        (tagged(chunk, "artifact-update"), json!({"artifactUpdate": artifact(json!([{"text": "x"}]))})),
    ];
    let mut seen = Vec::new();
    for (old, new) in pairs {
        let read = parse_stream_update(ProtocolVersion::V03, &old.to_string()).unwrap();
        assert_eq!(read, parse_stream_update(ProtocolVersion::V1, &new.to_string()).unwrap());
        seen.push(read);
    }
    assert!(matches!(&seen[1], TaskUpdate::Message(said) if said.context.as_deref() == Some("c")));
    assert!(matches!(&seen[2], TaskUpdate::Status(StatusUpdate { last: false, .. })));
    assert!(matches!(&seen[3], TaskUpdate::Status(StatusUpdate { last: true, .. })));
    assert!(matches!(&seen[4], TaskUpdate::Artifact(update) if update.chunk.append && update.chunk.last));
}

#[test]
fn what_is_not_of_the_protocol_is_malformed() {
    let bad_role = json!({"kind": "message", "messageId": "m", "role": "ROLE_USER", "parts": []});
    let no_id = json!({"kind": "message", "messageId": "", "role": "user", "parts": []});
    let bad_part = json!({"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text"}]});
    for (generation, json) in [
        (ProtocolVersion::V03, json!(null)),
        (ProtocolVersion::V03, json!([])),
        (ProtocolVersion::V03, json!({"id": "t"})),
        (ProtocolVersion::V03, json!({"kind": "surprise"})),
        (ProtocolVersion::V03, json!({"kind": "task", "id": "", "status": {"state": "working"}})),
        (ProtocolVersion::V03, json!({"kind": "task", "id": "t"})),
        (ProtocolVersion::V03, bad_role),
        (ProtocolVersion::V03, no_id),
        (ProtocolVersion::V03, bad_part),
        (ProtocolVersion::V1, json!({})),
        (ProtocolVersion::V1, json!({"task": null})),
        (ProtocolVersion::V1, json!({"kind": "task", "id": "t", "status": {"state": "working"}})),
        (ProtocolVersion::V1, json!({"task": {"id": "t", "status": {"state": 3}}})),
    ] {
        let read = parse_stream_update(generation, &json.to_string());
        assert!(matches!(read, Err(ClientError::MalformedResponse { .. })), "{generation}: {json}");
    }
    let status = json!({"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}});
    assert!(parse_send_reply(ProtocolVersion::V1, &status.to_string()).is_err(), "no answer to a send");
}

#[test]
fn pages_are_read_to_their_last() {
    let [_, (_, new)] = tasks();
    let first = json!({"tasks": [new], "nextPageToken": "p2", "pageSize": 1, "totalSize": 2});
    let first = parse_task_page(&first.to_string()).unwrap();
    assert_eq!((first.tasks.len(), first.next.as_deref(), first.total), (1, Some("p2"), 2));
    let last = json!({"tasks": [], "nextPageToken": "", "pageSize": 1, "totalSize": 2});
    assert_eq!(parse_task_page(&last.to_string()).unwrap().next, None);
    assert_eq!(parse_task_page("{}").unwrap().tasks, []);
}
