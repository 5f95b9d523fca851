//! Parts as JSON, in the form of dispatch results (D3): `{"kind":"text","text":…}`,
//! `{"kind":"data","data":…}` and `{"kind":"file","file":{name?,mimeType?,bytes|uri}}`, each with the
//! part's `metadata` if it has any.

use serde_json::{Map, Value, json};
use trackway_domain::{Content, File, FileSource, Part};

use super::{
    PARTS_MAX,
    cut::{self, Room},
    file,
};

/// Longest base64 inside JSON for a model. A model cannot read it, but a few bytes do no harm.
/// Limit (Agents): base64 inside of JSON that a model is given.
const BYTES_TOLD_MAX: usize = 1024;

/// Longest address for a model. Servers reject longer ones, and a cut address is useless.
/// Limit (Agents): address that a model is given.
const URI_BYTES_MAX: usize = 8 * 1024;

const JSON_MIME: &str = "application/json";

/// Parts as JSON for a model, within the limits of a message. A note marks everything that is cut or
/// left out, such as the bytes of larger files. No parts become an empty list, which is a valid answer.
pub fn parts_told(parts: &[Part]) -> Value {
    let mut room = Room::default();
    let mut told: Vec<Value> =
        parts.iter().take(PARTS_MAX).map(|part| with_metadata(part, &mut room)).collect();
    told.extend(cut::more_parts(parts.len()).map(|line| text(&line)));
    told.into()
}

fn text(text: &str) -> Value {
    json!({ "kind": "text", "text": text })
}

fn with_metadata(part: &Part, room: &mut Room) -> Value {
    let mut told = one(part, room);
    let mut metadata = part.metadata.clone();
    // Every data part has this type, and its kind implies it.
    if part.as_data().is_some() && metadata.get("mimeType").is_some_and(|mime| mime == JSON_MIME) {
        metadata.remove("mimeType");
    }
    if metadata.is_empty() {
        return told;
    }
    let metadata = Value::Object(metadata);
    if room.takes(metadata.to_string().len()) {
        told["metadata"] = metadata;
    }
    told
}

fn one(part: &Part, room: &mut Room) -> Value {
    match &part.content {
        Content::Text(said) => text(&room.fit(said)),
        Content::Data(data) => {
            let written = data.to_string();
            if room.takes(written.len()) {
                return json!({ "kind": "data", "data": data });
            }
            // A cut value is not valid JSON, so it becomes text.
            text(&room.fit(&written))
        }
        Content::File(file) => json!({ "kind": "file", "file": described(file, room) }),
    }
}

fn described(file: &File, room: &mut Room) -> Map<String, Value> {
    let (key, source) = match &file.source {
        FileSource::Base64(base64) => {
            let shown = base64.len() <= BYTES_TOLD_MAX && room.takes(base64.len());
            match shown {
                true => ("bytes", base64.clone()),
                false => ("leftOut", format!("about {} bytes", base64.len() / 4 * 3)),
            }
        }
        FileSource::Uri(uri) => {
            let shown = uri.len() <= URI_BYTES_MAX && room.takes(uri.len());
            match shown {
                true => ("uri", uri.clone()),
                false => ("leftOut", format!("an address of {} bytes", uri.len())),
            }
        }
    };
    let named = |key: &str, text: &Option<String>| {
        let text = text.as_deref().map(|text| file::plain(text, file::NAME_CHARS_MAX));
        text.map(|text| (key.to_owned(), text.into()))
    };
    let name = named("name", &file.name).into_iter();
    name.chain(named("mimeType", &file.mime_type))
        .chain([(key.to_owned(), source.into())])
        .collect()
}
