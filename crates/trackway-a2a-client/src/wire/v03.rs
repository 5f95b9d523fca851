//! Protocol 0.3: parts name their kind, states and roles are plain words.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::{self as domain, Content, FileSource, Object, StateName};

use super::{dialect::Dialect, shapes::present};
use crate::ClientError;

/// Mark of a data part whose value is no object and is therefore wrapped, as the official SDKs do.
const DATA_PART_COMPAT: &str = "data_part_compat";

#[derive(Debug)]
pub(super) struct V03;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Part {
    #[serde(default)]
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<File>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Object>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

impl Dialect for V03 {
    type Part = Part;
    const TAGGED: bool = true;
    const USER: &'static str = "user";
    const AGENT: &'static str = "agent";

    fn part_in(part: Part) -> Result<domain::Part, ClientError> {
        let mut metadata = part.metadata.unwrap_or_default();
        let content = match (part.kind.as_str(), part.text, part.data, part.file) {
            ("text", Some(text), _, _) => Content::Text(text),
            ("data", _, Some(data), _) => Content::Data(unwrapped(data, &mut metadata)),
            ("file", _, _, Some(file)) => Content::File(file.taken()?),
            (kind, ..) => {
                let why = format_args!("a part of kind {kind:?} lacks its content");
                return Err(ClientError::malformed(why));
            }
        };
        Ok(domain::Part { content, metadata })
    }

    fn part_out(part: &domain::Part) -> Part {
        let mut metadata = part.metadata.clone();
        let (kind, text, data, file) = match &part.content {
            Content::Text(text) => ("text", Some(text.clone()), None, None),
            Content::Data(data) if data.is_object() => ("data", None, Some(data.clone()), None),
            Content::Data(data) => {
                metadata.insert(DATA_PART_COMPAT.to_owned(), true.into());
                ("data", None, Some(json!({ "value": data })), None)
            }
            Content::File(file) => ("file", None, None, Some(File::of(file))),
        };
        let metadata = (!metadata.is_empty()).then_some(metadata);
        Part { kind: kind.to_owned(), text, data, file, metadata }
    }

    fn state_in(name: &str) -> StateName {
        name.parse().unwrap_or(StateName::Unknown)
    }

    fn state_out(state: StateName) -> Option<&'static str> {
        Some(state.as_str())
    }
}

fn unwrapped(data: Value, metadata: &mut Object) -> Value {
    let marked = metadata.get(DATA_PART_COMPAT) == Some(&Value::Bool(true));
    match data {
        Value::Object(mut fields) if marked && fields.contains_key("value") => {
            metadata.remove(DATA_PART_COMPAT);
            fields.remove("value").unwrap_or_default()
        }
        data => data,
    }
}

impl File {
    fn of(file: &domain::File) -> Self {
        let (bytes, uri) = match &file.source {
            FileSource::Base64(bytes) => (Some(bytes.clone()), None),
            FileSource::Uri(uri) => (None, Some(uri.clone())),
        };
        Self { name: file.name.clone(), mime_type: file.mime_type.clone(), bytes, uri }
    }

    fn taken(self) -> Result<domain::File, ClientError> {
        let source = match (self.bytes, self.uri) {
            (Some(bytes), _) => FileSource::Base64(bytes),
            (None, Some(uri)) => FileSource::Uri(uri),
            (None, None) => return Err(ClientError::malformed("a file has neither bytes nor uri")),
        };
        Ok(domain::File { name: self.name, mime_type: self.mime_type, source })
    }
}
