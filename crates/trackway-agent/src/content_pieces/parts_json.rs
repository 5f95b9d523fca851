//! Parts as JSON, in the form of dispatch results (D3): `{"kind":"text","text":…}`,
//! `{"kind":"data","data":…}` and `{"kind":"file","file":{name?,mimeType?,bytes|uri}}`, each with the
//! part's `metadata` if it has any.

use serde_json::{Map, Value, json};
use trackway_domain::{File, FileSource, MessagePartContent, Part};

use super::{
    PARTS_MAX, file_pieces,
    text_truncation::{self, TextBudget},
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
pub fn parts_to_json(parts: &[Part]) -> Value {
    let mut room = TextBudget::default();
    let mut told: Vec<Value> =
        parts.iter().take(PARTS_MAX).map(|part| part_to_json_with_metadata(part, &mut room)).collect();
    told.extend(text_truncation::omitted_parts_line(parts.len()).map(|line| text_part_json(&line)));
    told.into()
}

fn text_part_json(text: &str) -> Value {
    json!({ "kind": "text", "text": text })
}

fn part_to_json_with_metadata(part: &Part, budget: &mut TextBudget) -> Value {
    let mut told = part_to_json(part, budget);
    let mut metadata = part.metadata.clone();
    // Every data part has this type, and its kind implies it.
    if part.as_data().is_some() && metadata.get("mimeType").is_some_and(|mime| mime == JSON_MIME) {
        metadata.remove("mimeType");
    }
    if metadata.is_empty() {
        return told;
    }
    let metadata = Value::Object(metadata);
    if budget.try_reserve_bytes(metadata.to_string().len()) {
        told["metadata"] = metadata;
    }
    told
}

fn part_to_json(part: &Part, budget: &mut TextBudget) -> Value {
    match &part.content {
        MessagePartContent::Text(said) => text_part_json(&budget.truncate_to_budget(said)),
        MessagePartContent::Data(data) => {
            let written = data.to_string();
            if budget.try_reserve_bytes(written.len()) {
                return json!({ "kind": "data", "data": data });
            }
            // A cut value is not valid JSON, so it becomes text.
            text_part_json(&budget.truncate_to_budget(&written))
        }
        MessagePartContent::File(file) => json!({ "kind": "file", "file": file_to_json(file, budget) }),
    }
}

fn file_to_json(file: &File, budget: &mut TextBudget) -> Map<String, Value> {
    let (key, source) = match &file.source {
        FileSource::Base64(base64) => {
            let shown = base64.len() <= BYTES_TOLD_MAX && budget.try_reserve_bytes(base64.len());
            match shown {
                true => ("bytes", base64.clone()),
                false => ("leftOut", format!("about {} bytes", base64.len() / 4 * 3)),
            }
        }
        FileSource::Uri(uri) => {
            let shown = uri.len() <= URI_BYTES_MAX && budget.try_reserve_bytes(uri.len());
            match shown {
                true => ("uri", uri.clone()),
                false => ("leftOut", format!("an address of {} bytes", uri.len())),
            }
        }
    };
    let named = |key: &str, text: &Option<String>| {
        let text = text.as_deref().map(|text| file_pieces::to_single_line(text, file_pieces::NAME_CHARS_MAX));
        text.map(|text| (key.to_owned(), text.into()))
    };
    let name = named("name", &file.name).into_iter();
    name.chain(named("mimeType", &file.mime_type)).chain([(key.to_owned(), source.into())]).collect()
}
