//! Writes parts. Also handles the values of a part or message that have no field in a dialect.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;
use trackway_domain::{self as domain, File, FileSource, Message, MessagePartContent, Object};

use crate::JsonDialect;

/// Marks a data part whose value is not an object and is therefore wrapped: data of 0.3 is an object.
/// The official SDKs use the same mark, so a value comes back unchanged.
pub const DATA_PART_COMPAT: &str = "data_part_compat";

/// The domain has no fields for these on text and data: the metadata contains them.
pub(crate) const MIME_TYPE: &str = "mimeType";
pub(crate) const FILENAME: &str = "filename";

const REFERENCES: &str = "referenceTaskIds";

pub(crate) struct WirePart<'a> {
    pub(crate) part: &'a domain::Part,
    pub(crate) dialect: JsonDialect,
}

impl Serialize for WirePart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = serializer.serialize_map(None)?;
        match self.dialect {
            JsonDialect::V1 => serialize_part_v1(self.part, fields),
            JsonDialect::V03 | JsonDialect::V03Protobuf => {
                serialize_part_v03(self.part, self.dialect, fields)
            }
        }
    }
}

/// The name of the member identifies the content.
fn serialize_part_v1<M: SerializeMap>(part: &domain::Part, mut fields: M) -> Result<M::Ok, M::Error> {
    let metadata = &part.metadata;
    let (filename, media_type) = match &part.content {
        MessagePartContent::Text(text) => {
            fields.serialize_entry("text", text)?;
            part_name_and_media_type(metadata)
        }
        MessagePartContent::Data(data) => {
            fields.serialize_entry("data", data)?;
            part_name_and_media_type(metadata)
        }
        MessagePartContent::File(file) => {
            match &file.source {
                FileSource::Base64(bytes) => fields.serialize_entry("raw", bytes)?,
                FileSource::Uri(uri) => fields.serialize_entry("url", uri)?,
            }
            (file.name.as_deref(), file.mime_type.as_deref())
        }
    };
    if !metadata.is_empty() {
        fields.serialize_entry("metadata", metadata)?;
    }
    if let Some(filename) = filename {
        fields.serialize_entry("filename", filename)?;
    }
    if let Some(media_type) = media_type {
        fields.serialize_entry("mediaType", media_type)?;
    }
    fields.end()
}

/// Name and type of a text or data part, which the domain keeps in the metadata.
pub fn part_name_and_media_type(metadata: &Object) -> (Option<&str>, Option<&str>) {
    let text = |name: &str| metadata.get(name).and_then(Value::as_str);
    (text(FILENAME), text(MIME_TYPE))
}

/// On JSON-RPC the kind identifies the content; the protobuf form has the same members and no kind.
fn serialize_part_v03<M: SerializeMap>(
    part: &domain::Part,
    dialect: JsonDialect,
    mut fields: M,
) -> Result<M::Ok, M::Error> {
    let kind = match &part.content {
        MessagePartContent::Text(_) => "text",
        MessagePartContent::Data(_) => "data",
        MessagePartContent::File(_) => "file",
    };
    if dialect.has_kind_field() {
        fields.serialize_entry("kind", kind)?;
    }
    let mut wrapped = false;
    match &part.content {
        MessagePartContent::Text(text) => fields.serialize_entry(kind, text)?,
        MessagePartContent::Data(data) => {
            wrapped = !data.is_object();
            fields.serialize_entry(kind, &WireData { data, wrapped, dialect })?;
        }
        MessagePartContent::File(file) => fields.serialize_entry(kind, &WireFile { file, dialect })?,
    }
    if wrapped {
        fields.serialize_entry("metadata", &WrappedDataMetadata(&part.metadata))?;
    } else if !part.metadata.is_empty() {
        fields.serialize_entry("metadata", &part.metadata)?;
    }
    fields.end()
}

/// Data inside its wrappers: a protobuf message, and an object if the value is not one.
struct WireData<'a> {
    data: &'a Value,
    wrapped: bool,
    dialect: JsonDialect,
}

impl Serialize for WireData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { data, wrapped, dialect } = *self;
        let around = match (dialect.has_kind_field(), wrapped) {
            (true, false) => return data.serialize(serializer),
            (true, true) => "value",
            (false, _) => "data",
        };
        let mut fields = serializer.serialize_map(Some(1))?;
        if around == "data" {
            fields.serialize_entry(around, &WireData { data, wrapped, dialect: JsonDialect::V03 })?;
        } else {
            fields.serialize_entry(around, data)?;
        }
        fields.end()
    }
}

struct WrappedDataMetadata<'a>(&'a Object);

impl Serialize for WrappedDataMetadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_map(Some(self.0.len() + 1))?;
        for (key, value) in self.0.iter().filter(|(key, _)| *key != DATA_PART_COMPAT) {
            entries.serialize_entry(key, value)?;
        }
        entries.serialize_entry(DATA_PART_COMPAT, &true)?;
        entries.end()
    }
}

struct WireFile<'a> {
    file: &'a File,
    dialect: JsonDialect,
}

impl Serialize for WireFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, content) = match (&self.file.source, self.dialect.has_kind_field()) {
            (FileSource::Base64(bytes), true) => ("bytes", bytes),
            (FileSource::Base64(bytes), false) => ("fileWithBytes", bytes),
            (FileSource::Uri(uri), true) => ("uri", uri),
            (FileSource::Uri(uri), false) => ("fileWithUri", uri),
        };
        let mut fields = serializer.serialize_map(None)?;
        if let Some(name) = &self.file.name {
            fields.serialize_entry("name", name)?;
        }
        if let Some(kind) = &self.file.mime_type {
            fields.serialize_entry("mimeType", kind)?;
        }
        fields.serialize_entry(name, content)?;
        fields.end()
    }
}

/// A value before it was wrapped.
pub fn unwrap_data_value(data: Value, metadata: &mut Object) -> Value {
    let marked = metadata.get(DATA_PART_COMPAT).is_some_and(|mark| mark == true);
    match data {
        Value::Object(mut fields) if marked && fields.contains_key("value") => {
            metadata.remove(DATA_PART_COMPAT);
            fields.remove("value").unwrap_or_default()
        }
        data => data,
    }
}

/// The metadata of a message, including the tasks that it refers to.
///
/// JSON-RPC of 0.3 has a field for them. The protobuf messages of 0.3, which its gRPC and HTTP+JSON
/// use, have none: there they are in the metadata, under the same name.
pub fn metadata_with_referenced_tasks(message: &Message) -> Cow<'_, Object> {
    if message.references.is_empty() {
        return Cow::Borrowed(&message.metadata);
    }
    let mut metadata = message.metadata.clone();
    metadata.insert(REFERENCES.to_owned(), message.references.as_slice().into());
    Cow::Owned(metadata)
}

/// Removes the tasks that a message refers to from its metadata. Any value except a list of ids belongs
/// to the client and stays.
pub fn take_referenced_task_ids(metadata: &mut Object) -> Vec<String> {
    let Some(Value::Array(items)) = metadata.get(REFERENCES) else { return Vec::new() };
    let ids = items.iter().map(|item| item.as_str().map(str::to_owned));
    let Some(ids) = ids.collect::<Option<Vec<String>>>() else { return Vec::new() };
    metadata.remove(REFERENCES);
    ids
}
