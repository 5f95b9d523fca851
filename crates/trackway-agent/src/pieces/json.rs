//! Parts as JSON, in the form that dispatch results have (D3): `{"kind":"text","text":…}`,
//! `{"kind":"data","data":…}` and `{"kind":"file","file":{name?,mimeType?,bytes|uri}}`.

use serde_json::{Map, Value, json};
use trackway_domain::{Content, File, FileSource, Part};

/// Longest base64 that a model is shown inside of JSON. It cannot read it; a few bytes do no harm.
const BYTES_TOLD_MAX: usize = 1024;

/// Parts whole. No parts are an empty list, which is a valid answer.
pub fn parts_json(parts: &[Part]) -> Value {
    list(parts, |base64| ("bytes", base64.into()))
}

/// Parts as a model is told of them: the bytes of larger files are left out, and that is said.
pub fn parts_told(parts: &[Part]) -> Value {
    list(parts, |base64| {
        if base64.len() <= BYTES_TOLD_MAX {
            return ("bytes", base64.into());
        }
        ("leftOut", format!("about {} bytes", base64.len() / 4 * 3).into())
    })
}

fn list(parts: &[Part], bytes: impl Fn(&str) -> (&'static str, Value)) -> Value {
    let one = |part: &Part| match &part.content {
        Content::Text(text) => json!({ "kind": "text", "text": text }),
        Content::Data(data) => json!({ "kind": "data", "data": data }),
        Content::File(file) => json!({ "kind": "file", "file": described(file, &bytes) }),
    };
    parts.iter().map(one).collect()
}

fn described(file: &File, bytes: &impl Fn(&str) -> (&'static str, Value)) -> Map<String, Value> {
    let (key, source) = match &file.source {
        FileSource::Base64(base64) => bytes(base64),
        FileSource::Uri(uri) => ("uri", uri.as_str().into()),
    };
    let name = file.name.as_ref().map(|name| ("name".to_owned(), name.as_str().into()));
    let kind = file.mime_type.as_ref().map(|kind| ("mimeType".to_owned(), kind.as_str().into()));
    name.into_iter().chain(kind).chain([(key.to_owned(), source)]).collect()
}
