//! One thing that is wrong with a value, said so that its sender can mend it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// JSON pointer to the place in the sent value; empty for the whole.
    pub path: String,
    /// The rule that was broken, in the words of JSON Schema (`required`, `type`, `minimum`, …).
    pub code: String,
    pub message: String,
    /// What would have been right.
    pub expected: Value,
    /// What stood there. Absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub got: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A `null` that was sent stays a `null`; serde alone would read it as absent.
fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
}
