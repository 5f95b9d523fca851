//! The content of an artifact as a JSON value, by its type: how a workflow receives it as input.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trackway_domain::{ArtifactFilename, is_json_too_deep};
use trackway_engine::media_type_from_content;

use crate::csv_rows::parse_csv_rows;

/// The value becomes an input, which is recorded in one event and held in memory by its run.
/// Limit (Artifacts): content that is read as a value.
const VALUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Why content cannot be read as what its type says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    #[error("it is not valid {format}: {reason}")]
    Malformed { format: &'static str, reason: String },
    #[error("it has {bytes} bytes; as an input it may have {max}")]
    TooLarge { bytes: usize, max: usize },
    #[error("its {what} would have more than {max} as a value")]
    TooManyValues { what: &'static str, max: usize },
    #[error("it is nested too deeply")]
    TooDeep,
}

/// The forms of content that are read in their own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    Json,
    JsonLines,
    Yaml,
    Csv,
    Text,
    Binary,
}

impl ContentKind {
    pub(crate) fn from_media_type(media_type: &str) -> Self {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match &*essence {
            "application/json" | "text/json" => Self::Json,
            "application/x-ndjson" | "application/jsonl" => Self::JsonLines,
            "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => Self::Yaml,
            "text/csv" | "application/csv" | "text/tab-separated-values" => Self::Csv,
            essence if essence.ends_with("+json") => Self::Json,
            essence if essence.ends_with("+yaml") => Self::Yaml,
            essence if essence.starts_with("text/") || essence.ends_with("+xml") => Self::Text,
            "application/xml" | "application/javascript" | "application/toml" => Self::Text,
            _ => Self::Binary,
        }
    }

    /// Whether content of this kind has a schema.
    pub(crate) const fn is_structured(self) -> bool {
        matches!(self, Self::Json | Self::JsonLines | Self::Yaml | Self::Csv)
    }
}

/// The content as a value: JSON and YAML as they are, JSON lines as a list, CSV as `{"rows": [{column: text}]}`,
/// text as a string, and anything else as `{"name", "mimeType", "bytes"}` in base64. Where the type says nothing
/// (empty or `application/octet-stream`), the filename and the content decide.
pub fn content_as_value(media_type: &str, filename: &str, bytes: &[u8]) -> Result<Value, ContentError> {
    if bytes.len() > VALUE_BYTES_MAX {
        return Err(ContentError::TooLarge { bytes: bytes.len(), max: VALUE_BYTES_MAX });
    }
    let media_type = match media_type.trim() {
        "" | "application/octet-stream" => {
            media_type_from_content(&ArtifactFilename::from_text_lossy(filename), bytes)
        }
        given => given,
    };
    let value = match ContentKind::from_media_type(media_type) {
        ContentKind::Json => parse_json(decode_text(bytes)?)?,
        ContentKind::JsonLines => {
            let lines = decode_text(bytes)?.lines().filter(|line| !line.trim().is_empty());
            Value::Array(lines.map(parse_json).collect::<Result<_, _>>()?)
        }
        ContentKind::Yaml => {
            let malformed = |error: serde_saphyr::Error| ContentError::Malformed {
                format: "YAML",
                reason: error.to_string(),
            };
            serde_saphyr::from_str(decode_text(bytes)?).map_err(malformed)?
        }
        ContentKind::Csv => json!({"rows": parse_csv_rows(decode_text(bytes)?)?}),
        ContentKind::Text => Value::String(decode_text(bytes)?.to_owned()),
        ContentKind::Binary => {
            json!({"name": filename, "mimeType": media_type, "bytes": BASE64_STANDARD.encode(bytes)})
        }
    };
    if is_json_too_deep(&value) {
        return Err(ContentError::TooDeep);
    }
    Ok(value)
}

fn parse_json(text: &str) -> Result<Value, ContentError> {
    serde_json::from_str(text)
        .map_err(|error| ContentError::Malformed { format: "JSON", reason: error.to_string() })
}

/// Some programs begin their files with a byte order mark, which is not content.
fn decode_text(bytes: &[u8]) -> Result<&str, ContentError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| ContentError::Malformed { format: "UTF-8", reason: error.to_string() })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests;
