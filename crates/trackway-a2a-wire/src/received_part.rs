//! Reads a part of 1.0.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trackway_domain::{self as domain, File, FileSource, MessagePartContent, Object};

use crate::wire_part::{FILENAME, MIME_TYPE};

/// One of the four contents, and the members that each of them may have. Both spellings of a name are
/// accepted, as in the JSON form of protobuf.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReceivedPartV1 {
    text: Option<String>,
    raw: Option<String>,
    url: Option<String>,
    /// A null is a value here.
    #[serde(default, deserialize_with = "deserialize_present")]
    data: Option<Value>,
    metadata: Option<Object>,
    filename: Option<String>,
    #[serde(alias = "media_type")]
    media_type: Option<String>,
}

/// A part without content, or with more than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartContentError;

impl ReceivedPartV1 {
    /// Does not check whether a file's bytes or address are usable.
    pub fn into_part(self) -> Result<domain::Part, PartContentError> {
        let mut metadata = self.metadata.unwrap_or_default();
        // An empty text counts as absent.
        let name = self.filename.filter(|name| !name.is_empty());
        let mime_type = self.media_type.filter(|kind| !kind.is_empty());
        let source = match (self.text, self.raw, self.url, self.data) {
            (Some(text), None, None, None) => Err(MessagePartContent::Text(text)),
            (None, Some(raw), None, None) => Ok(FileSource::Base64(raw)),
            (None, None, Some(url), None) => Ok(FileSource::Uri(url)),
            (None, None, None, Some(data)) => Err(MessagePartContent::Data(data)),
            _ => return Err(PartContentError),
        };
        let content = match source {
            Ok(source) => MessagePartContent::File(File { name, mime_type, source }),
            Err(content) => {
                // For text and data, the domain keeps these where 0.3 has them: in the metadata.
                for (key, value) in [(MIME_TYPE, mime_type), (FILENAME, name)] {
                    if let Some(value) = value {
                        metadata.insert(key.to_owned(), value.into());
                    }
                }
                content
            }
        };
        Ok(domain::Part { content, metadata })
    }
}

/// Whether a field is present; a null is present.
fn deserialize_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
