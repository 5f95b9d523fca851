//! The artifacts of a remote task in a result: small ones with their content, large ones saved here and named.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use trackway_a2a_client::{Artifact, FileSource, Part};
use trackway_artifacts::{NewArtifact, media_type_from_content};
use trackway_domain::{Access, ArtifactFilename, ArtifactScope, MessagePartContent, Object};
use trackway_runtime::ToolCallContext;

use super::{PeerCallServices, derived_uuid, remote_task::RemoteTask};

/// Content that a model reads at once.
/// Limit (Mesh): content of one artifact inside a result, in bytes.
const INLINE_BYTES_MAX: usize = 16 * 1024;
/// Limit (Mesh): contents of all artifacts inside a result, in bytes.
const INLINE_TOTAL_BYTES_MAX: usize = 64 * 1024;

/// The content of an artifact: one value, and its bytes as a file.
struct ArtifactFile {
    media_type: String,
    bytes: Bytes,
    /// None if a model cannot read it.
    value: Option<Value>,
}

/// The artifacts of a task that ended, for its result.
pub(super) async fn render_artifacts(
    services: &PeerCallServices,
    peer: &str,
    call: &ToolCallContext,
    remote: &RemoteTask,
) -> Vec<Value> {
    let mut rendered = Vec::new();
    let mut room = INLINE_TOTAL_BYTES_MAX;
    for (index, artifact) in remote.result_artifacts().enumerate() {
        let name = artifact.name.as_deref().unwrap_or(artifact.id.as_str());
        let mut entry = Map::from_iter([("name".to_owned(), name.into())]);
        if let Some(uri) = only_uri(artifact) {
            entry.insert("uri".to_owned(), uri.into());
            rendered.push(Value::Object(entry));
            continue;
        }
        let Some(file) = artifact_file(name, artifact) else {
            entry.insert("error".to_owned(), "its content cannot be read".into());
            rendered.push(Value::Object(entry));
            continue;
        };
        let size = file.bytes.len();
        entry.insert("mediaType".to_owned(), file.media_type.clone().into());
        match file.value {
            Some(value) if size <= INLINE_BYTES_MAX.min(room) => {
                room -= size;
                entry.insert("content".to_owned(), value);
            }
            _ => match save_file(services, peer, call, (index, name), file.media_type, file.bytes).await {
                Ok((filename, version)) => {
                    entry.insert("filename".to_owned(), filename.into());
                    entry.insert("version".to_owned(), version.into());
                    entry.insert("sizeBytes".to_owned(), size.into());
                }
                Err(error) => {
                    entry.insert("error".to_owned(), format!("it cannot be saved: {error}").into());
                }
            },
        }
        rendered.push(Value::Object(entry));
    }
    if remote.is_truncated {
        rendered.push(json!({ "error": "there are more artifacts, or they are too large" }));
    }
    rendered
}

async fn save_file(
    services: &PeerCallServices,
    peer: &str,
    call: &ToolCallContext,
    (index, name): (usize, &str),
    media_type: String,
    bytes: Bytes,
) -> Result<(String, u32), String> {
    let uuid = derived_uuid(&call.attempt.idempotency_key, &format!("artifact {index}"));
    let scope = ArtifactScope::Session(call.session.clone());
    let new = NewArtifact {
        media_type: Some(media_type),
        metadata: Object::from_iter([("peer".to_owned(), peer.into())]),
        run: call.run_id(),
        request_id: Some(uuid),
        ..NewArtifact::new(ArtifactFilename::from_text_lossy(name), scope, bytes)
    };
    let saved = services.artifacts.save(&Access::own_only(call.caller.clone()), new).await;
    let saved = saved.map_err(|error| error.to_string())?;
    Ok((saved.filename.as_str().to_owned(), saved.version))
}

/// The address of an artifact that is one file elsewhere.
fn only_uri(artifact: &Artifact) -> Option<&str> {
    match artifact.parts.as_slice() {
        [Part { content: MessagePartContent::File(file), .. }] => match &file.source {
            FileSource::Uri(uri) => Some(uri),
            FileSource::Base64(_) => None,
        },
        _ => None,
    }
}

/// One part is a file of its type; several parts are a list.
fn artifact_file(name: &str, artifact: &Artifact) -> Option<ArtifactFile> {
    match artifact.parts.as_slice() {
        [] => Some(text_file("")),
        [Part { content: MessagePartContent::Text(text), .. }] => Some(text_file(text)),
        [Part { content: MessagePartContent::Data(data), .. }] => Some(json_file(data.clone())),
        [Part { content: MessagePartContent::File(file), .. }] => {
            let FileSource::Base64(encoded) = &file.source else { return None };
            let bytes = Bytes::from(BASE64_STANDARD.decode(encoded).ok()?);
            let filename = ArtifactFilename::from_text_lossy(file.name.as_deref().unwrap_or(name));
            let media_type = file.mime_type.clone();
            let media_type =
                media_type.unwrap_or_else(|| media_type_from_content(&filename, &bytes).to_owned());
            let value = readable_value(&media_type, &bytes);
            Some(ArtifactFile { media_type, bytes, value })
        }
        several => Some(json_file(several.iter().map(part_value).collect())),
    }
}

/// What a model can read: data, or text of any kind.
fn readable_value(media_type: &str, bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    let data = media_type.contains("json").then(|| serde_json::from_str(text).ok()).flatten();
    Some(data.unwrap_or_else(|| text.into()))
}

fn text_file(text: &str) -> ArtifactFile {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    ArtifactFile { media_type: "text/plain".to_owned(), bytes, value: Some(text.into()) }
}

fn json_file(value: Value) -> ArtifactFile {
    let bytes = Bytes::from(value.to_string());
    ArtifactFile { media_type: "application/json".to_owned(), bytes, value: Some(value) }
}

fn part_value(part: &Part) -> Value {
    match &part.content {
        MessagePartContent::Text(text) => text.as_str().into(),
        MessagePartContent::Data(data) => data.clone(),
        MessagePartContent::File(file) => match &file.source {
            FileSource::Uri(uri) => json!({ "uri": uri }),
            FileSource::Base64(bytes) => {
                json!({ "name": file.name, "mediaType": file.mime_type, "base64": bytes })
            }
        },
    }
}
