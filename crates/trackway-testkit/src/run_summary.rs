//! The visible output of a run as text that a test can compare: short for people, complete for
//! machines.

use std::collections::HashMap;

use serde_json::{Value, json};
use trackway_domain::Message;
use trackway_engine::{RunView, StatusUpdate, VisibleUpdate, visible_update};
use trackway_ports::StoredEvent;

/// Lengths of the ids we make: 32 hex digits after a prefix, or a UUID with its hyphens.
const HEX: usize = 32;
const UUID: usize = 36;

/// One line for each visible event: `working`, `working: text`, `+artifact`, and `completed.` with a
/// full stop if nothing follows.
pub fn summarize_updates(log: &[StoredEvent]) -> Vec<String> {
    log.iter().filter_map(summarize_event).collect()
}

fn summarize_event(stored: &StoredEvent) -> Option<String> {
    Some(match visible_update(&stored.event)? {
        VisibleUpdate::Submitted => "submitted".into(),
        VisibleUpdate::Artifact(chunk) if chunk.append => format!("+{}…", chunk.artifact.id),
        VisibleUpdate::Artifact(chunk) => format!("+{}", chunk.artifact.id),
        VisibleUpdate::Status(status) => status_line(&status),
    })
}

fn status_line(status: &StatusUpdate) -> String {
    let text = status.message.as_ref().map(message_text);
    let text = text.map(|text| format!(": {text}")).unwrap_or_default();
    let end = if status.last { "." } else { "" };
    format!("{}{text}{end}", status.state)
}

fn message_text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| part.as_text());
    texts.collect::<Vec<_>>().join(" ")
}

/// The visible events of a log as they are recorded, without positions and times.
pub fn visible_events(log: &[StoredEvent]) -> Vec<Value> {
    let visible =
        log.iter().filter(|stored| visible_update(&stored.event).is_some()).map(|stored| json!(stored.event));
    visible.collect()
}

/// Everything of a view except times and positions in the log.
pub fn comparable_view(view: &RunView) -> Value {
    json!({
        "submission": *view.submission,
        "state": view.state,
        "status": view.status_message(),
        "history": view.message_history().collect::<Vec<_>>(),
        "artifacts": view.artifacts,
        "question": view.question,
        "resume": view.resume.map(|mark| json!([mark.order, mark.concurrent, mark.primary])),
        "output": view.output,
        "parked": view.parked,
        "generation": view.generation,
    })
}

/// Replaces generated ids by numbers in order of appearance, so that two runs that differ only in
/// their ids can be compared. Generated ids are `xyz_` and 32 hex digits, and UUIDs.
#[derive(Debug, Default)]
pub struct IdNormalizer {
    numbers_by_id: HashMap<String, usize>,
}

impl IdNormalizer {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn normalize(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.normalize_text(text)),
            Value::Array(items) => items.iter().map(|item| self.normalize(item)).collect(),
            Value::Object(entries) => {
                let plain = entries.iter().map(|(key, entry)| (key.clone(), self.normalize(entry)));
                Value::Object(plain.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn normalize_text(&mut self, text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let id = generated_id_length(rest);
            let (taken, left) = rest.split_at(match id {
                Some(length) => length,
                None => rest.chars().next().map_or(1, char::len_utf8),
            });
            match id {
                Some(_) => {
                    let next = self.numbers_by_id.len() + 1;
                    let number = *self.numbers_by_id.entry(taken.to_owned()).or_insert(next);
                    plain.push_str(&format!("<{number}>"));
                }
                None => plain.push_str(taken),
            }
            rest = left;
        }
        plain
    }
}

/// The length of the generated id at the start of the text.
fn generated_id_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    if bytes.len() >= 4 + HEX
        && bytes[3] == b'_'
        && bytes[..3].iter().all(u8::is_ascii_lowercase)
        && hex(&bytes[4..4 + HEX])
    {
        return Some(4 + HEX);
    }
    let is_uuid = bytes.len() >= UUID
        && bytes[..UUID].iter().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) { *byte == b'-' } else { byte.is_ascii_hexdigit() }
        });
    is_uuid.then_some(UUID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_numbers_and_all_else_stays() {
        let run = "run_0123456789abcdef0123456789abcdef";
        let uuid = "01234567-89ab-7def-8123-456789abcdef";
        let mut names = IdNormalizer::new();
        let value = json!({"a": format!("{run}/step:é#0"), "b": [uuid, run, 3, "plain"]});
        assert_eq!(names.normalize(&value), json!({"a": "<1>/step:é#0", "b": ["<2>", "<1>", 3, "plain"]}));
    }
}
