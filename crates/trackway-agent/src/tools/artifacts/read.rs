//! `artifact_read`: what is in one.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trackway_domain::{Artifact, Content, Failure, File, FileSource, Part};
use trackway_runtime::{Tool, ToolCall, ToolFuture, ToolInfo, ToolOutput};

use crate::{pieces::PART_BYTES_MAX, tools::shelf::find};

/// Letters that are given at once. A model asks for the rest where it needs it.
/// Limit (Agents): artifact text that one reading gives.
const TEXT_CHARS_MAX: usize = 50_000;

/// Bytes that they may have: half of what a model is shown of one text, since JSON writes some letters as
/// two. What was cut off behind this bound would be missing before the next piece.
/// Limit (Agents): artifact text that one reading gives, in bytes.
const TEXT_BYTES_MAX: usize = PART_BYTES_MAX / 2;

#[derive(Debug)]
pub(in crate::tools) struct ArtifactRead {
    info: ToolInfo,
}

impl ArtifactRead {
    pub(in crate::tools) fn new() -> Self {
        let description = "Reads an artifact of this conversation. A long one is given in pieces: ask \
                           again with the offset that is named as `next`.";
        let info = ToolInfo {
            name: "artifact_read".to_owned(),
            description: description.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The name, as artifact_list gives it"},
                    "taskId": {
                        "type": "string",
                        "description": "The task that made it; else the newest of that name is read",
                    },
                    "offset": {"type": "integer", "minimum": 0, "description": "Letters to leave out"},
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
        };
        Self { info }
    }
}

impl Tool for ArtifactRead {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn call(&self, arguments: Value, call: ToolCall) -> ToolFuture {
        Box::pin(async move {
            let name = arguments["name"].as_str().unwrap_or_default();
            let task = arguments["taskId"].as_str();
            let offset = arguments["offset"].as_u64().unwrap_or(0);
            let found = find(&call, name, task).await?.ok_or_else(|| {
                Failure::new(format!(
                    "there is no artifact {name:?} in this conversation; artifact_list names them"
                ))
            })?;
            let head = json!({"name": name, "taskId": found.run});
            Ok(shown(head, &found.artifact, usize::try_from(offset).unwrap_or(usize::MAX)))
        })
    }
}

/// The text of an artifact from `offset` on, and its images beside it.
pub(super) fn shown(mut head: Value, artifact: &Artifact, offset: usize) -> ToolOutput {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for part in &artifact.parts {
        match &part.content {
            Content::Text(text) => texts.push(text.clone()),
            Content::Data(value) => texts.push(value.to_string()),
            Content::File(file) => match text_of(file) {
                Some(text) => texts.push(text),
                None => {
                    texts.push(said_of(file));
                    let is_image =
                        file.mime_type.as_deref().is_some_and(|kind| kind.starts_with("image/"));
                    images.extend(is_image.then(|| part.clone()));
                }
            },
        }
    }
    let text = texts.concat();
    let begin = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = &text[begin..];
    let end = rest.char_indices().nth(TEXT_CHARS_MAX).map_or(rest.len(), |(at, _)| at);
    let piece = &rest[..end.min(rest.floor_char_boundary(TEXT_BYTES_MAX))];
    if piece.len() < rest.len() {
        head["next"] = json!(offset.saturating_add(piece.chars().count()));
    }
    head["text"] = json!(piece);
    let parts = match images.is_empty() {
        true => Vec::new(),
        // Where parts are given, a model is shown them alone.
        false => std::iter::once(Part::data(head.clone())).chain(images).collect(),
    };
    ToolOutput { value: head, parts }
}

/// A file's text, where its bytes are here and are text.
fn text_of(file: &File) -> Option<String> {
    let FileSource::Base64(bytes) = &file.source else { return None };
    let is_image = file.mime_type.as_deref().is_some_and(|kind| kind.starts_with("image/"));
    if is_image {
        return None;
    }
    String::from_utf8(BASE64_STANDARD.decode(bytes).ok()?).ok()
}

fn said_of(file: &File) -> String {
    let name = file.name.as_deref().unwrap_or("without a name");
    let kind = file.mime_type.as_deref().unwrap_or("of unknown type");
    match &file.source {
        FileSource::Base64(bytes) => {
            format!("[file {name}, {kind}, {} bytes]", bytes.len() / 4 * 3)
        }
        FileSource::Uri(uri) => format!("[file {name}, {kind}, at {uri}]"),
    }
}
