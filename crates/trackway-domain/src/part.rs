//! Parts: the pieces that messages and artifacts are made of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Object;

/// One piece of content with its metadata (a `mimeType`, say), which always survives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    #[serde(flatten)]
    pub content: MessagePartContent,
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub metadata: Object,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessagePartContent {
    Text(String),
    Data(Value),
    File(File),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    pub source: FileSource,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSource {
    /// The file's bytes in base64, as every wire format we speak carries them.
    Base64(String),
    /// Where the file can be downloaded.
    Uri(String),
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: MessagePartContent::Text(text.into()), metadata: Object::new() }
    }

    /// A JSON value, marked as `application/json`.
    pub fn data(value: impl Into<Value>) -> Self {
        Self { content: MessagePartContent::Data(value.into()), metadata: Object::new() }
            .with_metadata("mimeType", "application/json")
    }

    pub fn file(file: File) -> Self {
        Self { content: MessagePartContent::File(file), metadata: Object::new() }
    }

    /// The same part with one more metadata entry.
    #[must_use]
    pub fn with_metadata(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// Whether its data or its metadata is nested deeper than [`JSON_DEPTH_MAX`].
    pub fn is_nested_too_deep(&self) -> bool {
        self.as_data().is_some_and(is_json_too_deep) || self.metadata.values().any(is_json_too_deep)
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            MessagePartContent::Text(text) => Some(text),
            MessagePartContent::Data(_) | MessagePartContent::File(_) => None,
        }
    }

    pub fn as_data(&self) -> Option<&Value> {
        match &self.content {
            MessagePartContent::Data(value) => Some(value),
            MessagePartContent::Text(_) | MessagePartContent::File(_) => None,
        }
    }
}

/// Deepest nesting of accepted JSON. Every record must be readable again: parsers stop at 128
/// levels, and a record adds some levels around a value.
/// Limit (Engine): levels of any JSON value.
pub const JSON_DEPTH_MAX: usize = 100;

/// Whether a value is nested deeper than [`JSON_DEPTH_MAX`].
pub fn is_json_too_deep(value: &Value) -> bool {
    is_json_deeper_than(value, JSON_DEPTH_MAX)
}

/// Whether a value is nested deeper than `levels`, for values that are recorded inside others.
pub fn is_json_deeper_than(value: &Value, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Value::Array(items) => items.iter().any(|item| is_json_deeper_than(item, inner)),
        Value::Object(entries) => entries.values().any(|entry| is_json_deeper_than(entry, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Content of a message: text, or parts that are kept unchanged.
pub trait IntoParts {
    fn into_message_parts(self) -> Vec<Part>;
}

impl IntoParts for &str {
    fn into_message_parts(self) -> Vec<Part> {
        vec![Part::text(self)]
    }
}

impl IntoParts for String {
    fn into_message_parts(self) -> Vec<Part> {
        vec![Part::text(self)]
    }
}

impl IntoParts for Part {
    fn into_message_parts(self) -> Vec<Part> {
        vec![self]
    }
}

impl IntoParts for Vec<Part> {
    fn into_message_parts(self) -> Vec<Part> {
        self
    }
}

impl<const N: usize> IntoParts for [Part; N] {
    fn into_message_parts(self) -> Vec<Part> {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels| (1..levels).fold(serde_json::json!(1), |inner, _| serde_json::json!([inner]));
        assert!(!is_json_too_deep(&nested(JSON_DEPTH_MAX)));
        assert!(is_json_too_deep(&nested(JSON_DEPTH_MAX + 1)));
        assert!(Part::data(nested(JSON_DEPTH_MAX + 1)).is_nested_too_deep());
    }

    /// Proves L2.
    #[test]
    fn text_becomes_one_text_part_and_parts_stay_as_given() {
        assert_eq!("hi".into_message_parts(), vec![Part::text("hi")]);
        let parts = vec![Part::text("a").with_metadata("k", 1), Part::data(serde_json::json!({"b": 2}))];
        assert_eq!(parts.clone().into_message_parts(), parts);
        assert_eq!(parts[1].metadata["mimeType"], "application/json");
    }
}
