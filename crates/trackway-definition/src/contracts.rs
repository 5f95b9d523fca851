//! The registry of output contracts: artifacts of a known kind that a step can ask for by name.
//!
//! The names and fields are WorkRail's. An artifact may have more fields than are named here.

mod handoffs;
mod signals;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use crate::model::Form;

/// Every name of the registry.
pub(crate) const NAMES: [&str; 9] = [
    "wr.contracts.loop_control",
    "wr.contracts.review_verdict",
    "wr.contracts.coding_handoff",
    "wr.contracts.discovery_handoff",
    "wr.contracts.shaping_handoff",
    "wr.contracts.differentiation_handoff",
    "wr.contracts.gate_verdict",
    "wr.contracts.assessment",
    "wr.contracts.coordinator_signal",
];

/// A contract by its name.
pub(crate) fn find(name: &str) -> Option<Form> {
    let (schema, example) = match name.strip_prefix("wr.contracts.")? {
        "loop_control" => signals::loop_control(),
        "review_verdict" => signals::review_verdict(),
        "gate_verdict" => signals::gate_verdict(),
        "assessment" => signals::assessment(),
        "coordinator_signal" => signals::coordinator_signal(),
        "coding_handoff" => handoffs::coding(),
        "discovery_handoff" => handoffs::discovery(),
        "shaping_handoff" => handoffs::shaping(),
        "differentiation_handoff" => handoffs::differentiation(),
        _ => return None,
    };
    let kind = name.replacen("wr.contracts.", "wr.", 1);
    Some(Form::Artifact {
        schema: closed_kind(schema, &kind),
        example: with_kind(example, &kind),
        kind,
    })
}

/// An object of these fields, of which the first list has to be there.
fn object(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn texts(most: u32) -> Value {
    json!({ "type": "array", "items": text(), "maxItems": most })
}

fn one_of(values: &[&str]) -> Value {
    json!({ "enum": values })
}

/// Every contract names its kind.
fn closed_kind(mut schema: Value, kind: &str) -> Value {
    schema["properties"]["kind"] = json!({ "const": kind });
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, json!("kind"));
    }
    schema
}

fn with_kind(mut example: Value, kind: &str) -> Value {
    example["kind"] = json!(kind);
    example
}
