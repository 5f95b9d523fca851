//! The answers of the scripted agent, in the form of each generation.

use serde_json::{Value, json};
use trackway_a2a_client::ProtocolVersion;

pub(crate) const BOTH: [ProtocolVersion; 2] = [ProtocolVersion::V03, ProtocolVersion::V1];

fn state(generation: ProtocolVersion, name: &str) -> Value {
    match generation {
        ProtocolVersion::V03 => name.into(),
        ProtocolVersion::V1 => format!("TASK_STATE_{}", name.to_uppercase().replace('-', "_")).into(),
    }
}

fn status(generation: ProtocolVersion, name: &str, second: u32) -> Value {
    json!({"state": state(generation, name), "timestamp": format!("2026-01-01T00:00:{second:02}Z")})
}

fn text(generation: ProtocolVersion, text: &str) -> Value {
    match generation {
        ProtocolVersion::V03 => json!({"kind": "text", "text": text}),
        ProtocolVersion::V1 => json!({ "text": text }),
    }
}

fn wrap_item(generation: ProtocolVersion, kind: &str, member: &str, mut item: Value) -> Value {
    match generation {
        ProtocolVersion::V03 => {
            item["kind"] = kind.into();
            item
        }
        ProtocolVersion::V1 => json!({ member: item }),
    }
}

/// The task itself, as in answers to `get` and `cancel`.
pub(crate) fn bare_task(generation: ProtocolVersion, name: &str, second: u32, artifacts: &[&str]) -> Value {
    let artifact = |id: &&str| json!({"artifactId": id, "parts": [text(generation, "x")]});
    let mut task = json!({"id": "t-1", "contextId": "c-1", "status": status(generation, name, second),
        "artifacts": artifacts.iter().map(artifact).collect::<Vec<_>>()});
    if generation == ProtocolVersion::V03 {
        task["kind"] = "task".into();
    }
    task
}

/// As in a stream and a send.
pub(crate) fn task(generation: ProtocolVersion, name: &str, second: u32, artifacts: &[&str]) -> Value {
    wrap_item(generation, "task", "task", bare_task(generation, name, second, artifacts))
}

pub(crate) fn update(generation: ProtocolVersion, name: &str, second: u32) -> Value {
    let last = matches!(name, "completed" | "failed" | "canceled" | "rejected");
    let mut update = json!({"taskId": "t-1", "contextId": "c-1", "status": status(generation, name, second)});
    if generation == ProtocolVersion::V03 {
        update["final"] = last.into();
    }
    wrap_item(generation, "status-update", "statusUpdate", update)
}

pub(crate) fn artifact(generation: ProtocolVersion, id: &str) -> Value {
    let artifact = json!({"artifactId": id, "parts": [text(generation, "x")]});
    let update = json!({"taskId": "t-1", "contextId": "c-1", "artifact": artifact, "lastChunk": true});
    wrap_item(generation, "artifact-update", "artifactUpdate", update)
}

pub(crate) fn message(generation: ProtocolVersion) -> Value {
    let role = match generation {
        ProtocolVersion::V03 => "agent",
        ProtocolVersion::V1 => "ROLE_AGENT",
    };
    let message =
        json!({"messageId": "m-9", "role": role, "contextId": "c-1", "parts": [text(generation, "hello")]});
    wrap_item(generation, "message", "message", message)
}
