//! Protocol 1.0: the member that is there says what a part is; states and roles are names of an
//! enumeration.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::{self as domain, Content, FileSource, Object, StateName};

use super::{dialect::Dialect, shapes::present};
use crate::ClientError;

/// Text and data have no place of their own for these in the domain: their metadata keep them.
const MIME_TYPE: &str = "mimeType";
const FILENAME: &str = "filename";

#[derive(Debug)]
pub(super) struct V1;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Object>,
}

impl Dialect for V1 {
    type Part = Part;
    const TAGGED: bool = false;
    const USER: &'static str = "ROLE_USER";
    const AGENT: &'static str = "ROLE_AGENT";

    fn part_in(part: Part) -> Result<domain::Part, ClientError> {
        let mut metadata = part.metadata.unwrap_or_default();
        // Some writers put an empty text for an absent one.
        let filename = part.filename.filter(|name| !name.is_empty());
        let media_type = part.media_type.filter(|name| !name.is_empty());
        let content = match (part.text, part.raw, part.url, part.data) {
            (Some(text), None, None, None) => Content::Text(text),
            (None, None, None, Some(data)) => Content::Data(data),
            (None, Some(raw), None, None) => {
                let source = FileSource::Base64(raw);
                let file = domain::File { name: filename, mime_type: media_type, source };
                return Ok(domain::Part { content: Content::File(file), metadata });
            }
            (None, None, Some(url), None) => {
                let source = FileSource::Uri(url);
                let file = domain::File { name: filename, mime_type: media_type, source };
                return Ok(domain::Part { content: Content::File(file), metadata });
            }
            _ => {
                let why = "a part holds exactly one of text, raw, url and data";
                return Err(ClientError::malformed(why));
            }
        };
        for (key, value) in [(MIME_TYPE, media_type), (FILENAME, filename)] {
            if let Some(value) = value {
                metadata.insert(key.to_owned(), value.into());
            }
        }
        Ok(domain::Part { content, metadata })
    }

    fn part_out(part: &domain::Part) -> Part {
        let metadata = (!part.metadata.is_empty()).then(|| part.metadata.clone());
        let named =
            |key: &str| part.metadata.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        let plain = Part {
            filename: named(FILENAME),
            media_type: named(MIME_TYPE),
            metadata: metadata.clone(),
            ..Part::default()
        };
        match &part.content {
            Content::Text(text) => Part { text: Some(text.clone()), ..plain },
            Content::Data(data) => Part { data: Some(data.clone()), ..plain },
            Content::File(file) => {
                let (raw, url) = match &file.source {
                    FileSource::Base64(bytes) => (Some(bytes.clone()), None),
                    FileSource::Uri(uri) => (None, Some(uri.clone())),
                };
                let (filename, media_type) = (file.name.clone(), file.mime_type.clone());
                Part { raw, url, filename, media_type, metadata, ..Part::default() }
            }
        }
    }

    fn state_in(name: &str) -> StateName {
        match name {
            "TASK_STATE_SUBMITTED" => StateName::Submitted,
            "TASK_STATE_WORKING" => StateName::Working,
            "TASK_STATE_INPUT_REQUIRED" => StateName::InputRequired,
            "TASK_STATE_AUTH_REQUIRED" => StateName::AuthRequired,
            "TASK_STATE_COMPLETED" => StateName::Completed,
            "TASK_STATE_FAILED" => StateName::Failed,
            "TASK_STATE_CANCELED" => StateName::Canceled,
            "TASK_STATE_REJECTED" => StateName::Rejected,
            _ => StateName::Unknown,
        }
    }

    fn state_out(state: StateName) -> Option<&'static str> {
        match state {
            StateName::Submitted => Some("TASK_STATE_SUBMITTED"),
            StateName::Working => Some("TASK_STATE_WORKING"),
            StateName::InputRequired => Some("TASK_STATE_INPUT_REQUIRED"),
            StateName::AuthRequired => Some("TASK_STATE_AUTH_REQUIRED"),
            StateName::Completed => Some("TASK_STATE_COMPLETED"),
            StateName::Failed => Some("TASK_STATE_FAILED"),
            StateName::Canceled => Some("TASK_STATE_CANCELED"),
            StateName::Rejected => Some("TASK_STATE_REJECTED"),
            StateName::Unknown => None,
        }
    }
}
