//! Answers in each dialect: the same values under other names, in other wrappers.

mod task;
mod update;

use serde_json::{Value, json};
use trackway_a2a_wire::JsonDialect;

use super::wire_samples::RUN;

/// The dialects that differ most: in one a value names its kind, in the other the member around it
/// does.
const DIALECTS: [JsonDialect; 2] = [JsonDialect::V03, JsonDialect::V1];

/// A part: with its kind in 0.3, and in 1.0 also with the type from its metadata.
fn part(dialect: JsonDialect, kind: &str, mut part: Value) -> Value {
    if dialect == JsonDialect::V03 {
        part["kind"] = kind.into();
    } else if let Some(mime_type) = part.pointer("/metadata/mimeType").cloned() {
        part["mediaType"] = mime_type;
    }
    part
}

/// A message of the run, by a role with its names in 0.3 and 1.0.
fn message(dialect: JsonDialect, id: &str, role: (&str, &str), parts: &Value) -> Value {
    let mut message = json!({"messageId": id, "contextId": "ctx", "taskId": RUN, "parts": parts});
    if dialect == JsonDialect::V03 {
        message["kind"] = json!("message");
        message["role"] = json!(role.0);
    } else {
        message["role"] = json!(role.1);
    }
    message
}
