//! Protocol 0.3: parts name their kind.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trackway_a2a_wire::{JsonDialect, unwrap_data_value};
use trackway_domain::{self as domain, FileSource, MessagePartContent, Object};

use super::received_types::ReceivedPart;
use crate::ClientError;

#[derive(Debug, Deserialize)]
pub(super) struct ReceivedPartV03 {
    #[serde(default)]
    kind: String,
    text: Option<String>,
    #[serde(default, deserialize_with = "deserialize_present")]
    data: Option<Value>,
    file: Option<ReceivedFile>,
    metadata: Option<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReceivedFile {
    name: Option<String>,
    mime_type: Option<String>,
    bytes: Option<String>,
    uri: Option<String>,
}

impl ReceivedPart for ReceivedPartV03 {
    const DIALECT: JsonDialect = JsonDialect::V03;

    fn into_part(self) -> Result<domain::Part, ClientError> {
        let mut metadata = self.metadata.unwrap_or_default();
        let content = match (self.kind.as_str(), self.text, self.data, self.file) {
            ("text", Some(text), _, _) => MessagePartContent::Text(text),
            ("data", _, Some(data), _) => MessagePartContent::Data(unwrap_data_value(data, &mut metadata)),
            ("file", _, _, Some(file)) => MessagePartContent::File(file.into_file()?),
            (kind, ..) => {
                let why = format_args!("a part of kind {kind:?} lacks its content");
                return Err(ClientError::malformed_response_error(why));
            }
        };
        Ok(domain::Part { content, metadata })
    }
}

impl ReceivedFile {
    fn into_file(self) -> Result<domain::File, ClientError> {
        let source = match (self.bytes, self.uri) {
            (Some(bytes), _) => FileSource::Base64(bytes),
            (None, Some(uri)) => FileSource::Uri(uri),
            (None, None) => {
                return Err(ClientError::malformed_response_error("a file has neither bytes nor uri"));
            }
        };
        Ok(domain::File { name: self.name, mime_type: self.mime_type, source })
    }
}

/// Whether a field is present; a null is present.
fn deserialize_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
