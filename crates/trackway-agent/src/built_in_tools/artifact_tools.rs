//! `artifact_list`, `artifact_read` and `artifact_write`: the artifacts that the user of a conversation may use,
//! over the artifact service, and new ones from the model.
//!
//! A model sees what was made in its own conversation, and what its user stored for all conversations or the
//! tenant for all users. It writes only to its own turn: what it writes is yielded, and the index of artifacts
//! follows from that.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trackway_artifacts::{ArtifactError, ArtifactListQuery, ArtifactLookup, ArtifactService, StoredArtifact};
use trackway_domain::{
    Access, Artifact, ArtifactFilename, ArtifactId, ArtifactScope, ArtifactScopeKind, Failure, File,
    FileSource, Part, RunId,
};
use trackway_engine::is_conversation_artifact_id;
use trackway_runtime::{Tool, ToolCallContext, ToolOutput};

use super::tool_from_function;
use crate::content_pieces::{IMAGE_BYTES_MAX, PART_BYTES_MAX};

/// Most artifacts that are listed, the last made first.
/// Limit (Agents): artifacts that the listing tool names.
const LISTED_MAX: usize = 200;

/// Versions that are searched for the one that a task made, the newest first.
/// Limit (Agents): versions of an artifact that are searched for the one of a task.
const VERSIONS_SEARCHED_MAX: usize = 500;

/// Characters that one call returns. A model requests the rest if it needs it.
/// Limit (Agents): artifact text that one read returns.
const READ_CHARS_MAX: usize = 50_000;

/// Bytes that one call returns: half of the limit for one text, because JSON escapes some characters
/// with two. Text that is cut at that limit would be missing before the next piece.
/// Limit (Agents): artifact text that one read returns, in bytes.
const READ_BYTES_MAX: usize = PART_BYTES_MAX / 2;

/// Largest text of one artifact. It is recorded with the run.
/// Limit (Agents): text of an artifact that an agent writes.
const WRITTEN_BYTES_MAX: usize = 1024 * 1024;

pub(super) fn artifact_list_tool(artifacts: Option<Arc<ArtifactService>>) -> Arc<dyn Tool> {
    let description = "Lists the artifacts (documents, data, files) of this conversation and those that the \
                       user keeps for every conversation: name, version, media type, size, scope, and the \
                       task that made them.";
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    tool_from_function("artifact_list", description, schema, move |_, call| {
        let artifacts = artifacts.clone();
        Box::pin(async move {
            let listed = list_usable_artifacts(require_service(artifacts.as_deref())?, &call).await?;
            let entries: Vec<Value> = listed.iter().take(LISTED_MAX).map(artifact_list_entry).collect();
            let mut value = json!({"artifacts": entries});
            if listed.len() > LISTED_MAX {
                value["truncated"] = json!(true);
            }
            Ok(ToolOutput::from(value))
        })
    })
}

/// Those of the session, then the user's, then the tenant's; one more than the limit if there are more.
async fn list_usable_artifacts(
    artifacts: &ArtifactService,
    call: &ToolCallContext,
) -> Result<Vec<StoredArtifact>, Failure> {
    let access = Access::own_only(call.caller.clone());
    let all = ArtifactListQuery::new(LISTED_MAX + 1);
    let of_scope = |scope| ArtifactListQuery { scope: Some(scope), ..all.clone() };
    let queries = [
        ArtifactListQuery { session: Some(call.session.clone()), ..all.clone() },
        of_scope(ArtifactScopeKind::User),
        of_scope(ArtifactScopeKind::Tenant),
    ];
    let mut listed: Vec<StoredArtifact> = Vec::new();
    for query in queries {
        let page = artifacts.list(&access, &query).await.map_err(|error| artifact_failure(&error))?;
        // What was made in the session for all of them is in two of the lists.
        let is_new = |item: &StoredArtifact| listed.iter().all(|known| known.cursor != item.cursor);
        let new: Vec<StoredArtifact> = page.items.into_iter().filter(is_new).collect();
        listed.extend(new);
        if listed.len() > LISTED_MAX {
            break;
        }
    }
    Ok(listed)
}

fn artifact_list_entry(artifact: &StoredArtifact) -> Value {
    let mut entry = json!({
        "name": artifact.filename,
        "version": artifact.version,
        "mediaType": artifact.media_type,
        "bytes": artifact.size_bytes,
        "scope": artifact.scope.kind(),
    });
    let made_by = match &artifact.scope {
        ArtifactScope::Run(run) => Some(*run),
        ArtifactScope::Session(_) | ArtifactScope::User | ArtifactScope::Tenant => artifact.run,
    };
    if let Some(run) = made_by {
        entry["taskId"] = json!(run);
    }
    if !artifact.tags.is_empty() {
        entry["tags"] = json!(artifact.tags);
    }
    entry
}

pub(super) fn artifact_read_tool(artifacts: Option<Arc<ArtifactService>>) -> Arc<dyn Tool> {
    let description = "Reads an artifact: one of this conversation, or else one that the user keeps for \
                       every conversation. A long one is given in pieces: ask again with the offset that is \
                       named as `next`.";
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The name, as artifact_list gives it"},
            "version": {"type": "integer", "minimum": 0, "description": "Which version; else the newest"},
            "taskId": {
                "type": "string",
                "description": "The task that made it; else the newest of that name is read",
            },
            "offset": {"type": "integer", "minimum": 0, "description": "Letters to leave out"},
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    tool_from_function("artifact_read", description, schema, move |arguments, call| {
        let artifacts = artifacts.clone();
        Box::pin(async move {
            let artifacts = require_service(artifacts.as_deref())?;
            let artifact = find_named_artifact(artifacts, &call, &arguments).await?;
            let content = artifacts.read(&artifact).await.map_err(|error| artifact_failure(&error))?;
            let offset = arguments["offset"].as_u64().unwrap_or(0);
            Ok(artifact_content_output(&artifact, &content, usize::try_from(offset).unwrap_or(usize::MAX)))
        })
    })
}

/// The artifact that the arguments of a read name.
async fn find_named_artifact(
    artifacts: &ArtifactService,
    call: &ToolCallContext,
    arguments: &Value,
) -> Result<StoredArtifact, Failure> {
    let name = arguments["name"].as_str().unwrap_or_default();
    let unknown = || {
        Failure::new(format!("there is no artifact {name:?} in this conversation; artifact_list names them"))
    };
    let filename = ArtifactFilename::new(name).map_err(|_| unknown())?;
    let version = match arguments["version"].as_u64() {
        Some(version) => Some(u32::try_from(version).map_err(|_| unknown())?),
        None => None,
    };
    let access = Access::own_only(call.caller.clone());
    let lookup = ArtifactLookup {
        run: call.run_id(),
        session: Some(call.session.clone()),
        version,
        ..ArtifactLookup::new(filename)
    };
    let found = match arguments["taskId"].as_str() {
        Some(task) => {
            let task = task.parse().map_err(|_| unknown())?;
            find_artifact_of_run(artifacts, &access, &lookup, task).await
        }
        None => artifacts.find(&access, &lookup).await,
    };
    match found {
        Err(ArtifactError::Unknown { .. }) => Err(unknown()),
        found => found.map_err(|error| artifact_failure(&error)),
    }
}

/// The version in the scope of a run, or else the newest one that the run made in the session.
async fn find_artifact_of_run(
    artifacts: &ArtifactService,
    access: &Access,
    lookup: &ArtifactLookup,
    run: RunId,
) -> Result<StoredArtifact, ArtifactError> {
    let of_session = ArtifactLookup { scope: Some(ArtifactScopeKind::Session), ..lookup.clone() };
    let is_wanted = |item: &StoredArtifact| {
        item.run == Some(run) && lookup.version.is_none_or(|version| item.version == version)
    };
    match artifacts.list_versions(access, &of_session, None, VERSIONS_SEARCHED_MAX).await {
        Ok(page) => {
            if let Some(found) = page.items.into_iter().find(is_wanted) {
                return Ok(found);
            }
        }
        Err(ArtifactError::Unknown { .. }) => {}
        Err(error) => return Err(error),
    }
    let of_run = ArtifactLookup { run: Some(run), scope: Some(ArtifactScopeKind::Run), ..lookup.clone() };
    artifacts.find(access, &of_run).await
}

/// The content from `offset` on: as text if it is text, an image as an image, anything else as a line about it.
fn artifact_content_output(artifact: &StoredArtifact, content: &[u8], offset: usize) -> ToolOutput {
    let mut head = json!({
        "name": artifact.filename,
        "version": artifact.version,
        "mediaType": artifact.media_type,
    });
    if let Some(run) = artifact.run {
        head["taskId"] = json!(run);
    }
    let is_image = artifact.media_type.starts_with("image/");
    let described;
    let text = match std::str::from_utf8(content) {
        Ok(text) if !is_image => text,
        _ => {
            described =
                format!("[file {}, {}, {} bytes]", artifact.filename, artifact.media_type, content.len());
            &described
        }
    };
    let begin = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = &text[begin..];
    let end = rest.char_indices().nth(READ_CHARS_MAX).map_or(rest.len(), |(at, _)| at);
    let piece = &rest[..end.min(rest.floor_char_boundary(READ_BYTES_MAX))];
    if piece.len() < rest.len() {
        head["next"] = json!(offset.saturating_add(piece.chars().count()));
    }
    head["text"] = json!(piece);
    let parts = match is_image && content.len() <= IMAGE_BYTES_MAX {
        false => Vec::new(),
        true => {
            let image = Part::file(File {
                name: Some(artifact.filename.to_string()),
                mime_type: Some(artifact.media_type.clone()),
                source: FileSource::Base64(BASE64_STANDARD.encode(content)),
            });
            // If there are parts, a model receives only the parts.
            vec![Part::data(head.clone()), image]
        }
    };
    ToolOutput { parts, ..ToolOutput::from(head) }
}

pub(super) fn artifact_write_tool() -> Arc<dyn Tool> {
    let description = "Writes an artifact (a document or data) that the user can keep. Writing a name again \
                       makes its next version.";
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "A file-like name such as report.md"},
            "text": {"type": "string", "description": "Its content, where it is text"},
            "data": {"description": "Its content, where it is JSON"},
            "description": {"type": "string"},
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    tool_from_function("artifact_write", description, schema, |arguments, call| {
        Box::pin(async move {
            let artifact = parse_artifact_arguments(&arguments)?;
            let id = artifact.id.clone();
            call.emit_artifact(artifact).await?;
            Ok(ToolOutput::from(json!({"written": id})))
        })
    })
}

/// The artifact that the arguments describe. Its name is its id and its filename.
fn parse_artifact_arguments(arguments: &Value) -> Result<Artifact, Failure> {
    let filename = ArtifactFilename::new(arguments["name"].as_str().unwrap_or_default())
        .map_err(|error| Failure::new(error.to_string()))?;
    let name = filename.as_str();
    if is_conversation_artifact_id(name) {
        return Err(Failure::new(format!("{name:?} is the name of a part of the conversation itself")));
    }
    let id = ArtifactId::new(name).map_err(|error| Failure::new(error.to_string()))?;
    let (part, size_bytes) = match (arguments.get("text"), arguments.get("data")) {
        (Some(Value::String(text)), None) => (Part::text(text.clone()), text.len()),
        (None, Some(data)) => (Part::data(data.clone()), data.to_string().len()),
        _ => return Err(Failure::new("give either `text` or `data`")),
    };
    if size_bytes > WRITTEN_BYTES_MAX {
        return Err(Failure::new("it is larger than 1 MiB; write it in several artifacts"));
    }
    if part.is_nested_too_deep() {
        return Err(Failure::new("its data is nested too deeply"));
    }
    let artifact = Artifact::new(id, vec![part]).named(name);
    Ok(match arguments["description"].as_str() {
        Some(description) => artifact.described(description),
        None => artifact,
    })
}

/// Tools are also made where nothing is called, to look at their descriptions.
fn require_service(artifacts: Option<&ArtifactService>) -> Result<&ArtifactService, Failure> {
    artifacts.ok_or_else(|| Failure::new("there are no artifacts here"))
}

fn artifact_failure(error: &ArtifactError) -> Failure {
    Failure::new(format!("the artifact cannot be used: {error}"))
}

#[cfg(test)]
mod tests;
