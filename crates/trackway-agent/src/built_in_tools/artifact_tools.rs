//! `artifact_list`, `artifact_read` and `artifact_write`: the artifacts of a conversation's runs, read
//! from their logs, and new ones from the model. A model can access only runs of its own conversation,
//! and writes only to its own turn.

use std::sync::Arc;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use trackway_domain::{Artifact, ArtifactId, Failure, File, FileSource, MessagePartContent, Part, RunId};
use trackway_engine::RunView;
use trackway_runtime::{SessionHistory, Tool, ToolCallContext, ToolOutput};

use super::tool_from_function;
use crate::content_pieces::PART_BYTES_MAX;

/// Runs of a conversation that are searched, the newest first. A model usually asks for recent
/// artifacts.
/// Limit (Agents): runs of a conversation that are searched for artifacts.
const RUNS_MAX: usize = 100;

/// Most artifacts that are listed, the newest runs first.
/// Limit (Agents): artifacts that the listing tool names.
const LISTED_MAX: usize = 200;

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

/// Artifacts with these ids, or ids with these prefixes, are the conversation itself: the model's text
/// and its calls.
const TALK: [&str; 3] = ["text-response", "tool-call-", "tool-result-"];

pub(super) fn artifact_list_tool() -> Arc<dyn Tool> {
    let description = "Lists the artifacts (documents, data, files) of this conversation: name, \
                       task and workflow that made them, kinds of content and size.";
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    tool_from_function("artifact_list", description, schema, |_, call| {
        Box::pin(async move {
            let kept = list_session_artifacts(&call).await?;
            let listed: Vec<Value> = kept.iter().take(LISTED_MAX).map(artifact_list_entry).collect();
            let mut value = json!({"artifacts": listed});
            if kept.len() > LISTED_MAX {
                value["truncated"] = json!(true);
            }
            Ok(ToolOutput::from(value))
        })
    })
}

fn artifact_list_entry(session_artifact: &SessionArtifact) -> Value {
    let artifact = &session_artifact.artifact;
    let mut kinds: Vec<&str> = artifact.parts.iter().map(part_kind).collect();
    kinds.dedup();
    let mut entry = json!({
        "name": artifact.id,
        "taskId": session_artifact.run,
        "workflow": session_artifact.workflow,
        "kinds": kinds,
        "bytes": artifact.parts.iter().map(part_size_bytes).sum::<usize>(),
    });
    if let Some(title) = artifact.name.as_deref().filter(|name| *name != artifact.id.as_str()) {
        entry["title"] = json!(title);
    }
    if let Some(description) = &artifact.description {
        entry["description"] = json!(description);
    }
    entry
}

pub(super) fn artifact_read_tool() -> Arc<dyn Tool> {
    let description = "Reads an artifact of this conversation. A long one is given in pieces: ask \
                       again with the offset that is named as `next`.";
    let schema = json!({
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
    });
    tool_from_function("artifact_read", description, schema, |arguments, call| {
        Box::pin(async move {
            let name = arguments["name"].as_str().unwrap_or_default();
            let offset = arguments["offset"].as_u64().unwrap_or(0);
            let found =
                find_session_artifact(&call, name, arguments["taskId"].as_str()).await?.ok_or_else(|| {
                    Failure::new(format!(
                        "there is no artifact {name:?} in this conversation; artifact_list names them"
                    ))
                })?;
            let head = json!({"name": name, "taskId": found.run});
            Ok(artifact_text_output(head, &found.artifact, usize::try_from(offset).unwrap_or(usize::MAX)))
        })
    })
}

/// The text of an artifact from `offset` on, followed by its images.
fn artifact_text_output(mut head: Value, artifact: &Artifact, offset: usize) -> ToolOutput {
    let mut text = String::new();
    let mut images = Vec::new();
    for part in &artifact.parts {
        match &part.content {
            MessagePartContent::Text(own) => text.push_str(own),
            MessagePartContent::Data(value) => text.push_str(&value.to_string()),
            MessagePartContent::File(file) => {
                text.push_str(&inline_file_text(file).unwrap_or_else(|| describe_file(file)));
                images.extend(is_image_file(file).then(|| part.clone()));
            }
        }
    }
    let begin = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
    let rest = &text[begin..];
    let end = rest.char_indices().nth(READ_CHARS_MAX).map_or(rest.len(), |(at, _)| at);
    let piece = &rest[..end.min(rest.floor_char_boundary(READ_BYTES_MAX))];
    if piece.len() < rest.len() {
        head["next"] = json!(offset.saturating_add(piece.chars().count()));
    }
    head["text"] = json!(piece);
    let parts = match images.is_empty() {
        true => Vec::new(),
        // If there are parts, a model receives only the parts.
        false => std::iter::once(Part::data(head.clone())).chain(images).collect(),
    };
    ToolOutput { value: head, parts }
}

/// A file's text, if the file is inline and is text.
fn inline_file_text(file: &File) -> Option<String> {
    let FileSource::Base64(bytes) = &file.source else { return None };
    let bytes = BASE64_STANDARD.decode(bytes).ok().filter(|_| !is_image_file(file))?;
    String::from_utf8(bytes).ok()
}

fn is_image_file(file: &File) -> bool {
    file.mime_type.as_deref().is_some_and(|kind| kind.starts_with("image/"))
}

fn describe_file(file: &File) -> String {
    let name = file.name.as_deref().unwrap_or("without a name");
    let kind = file.mime_type.as_deref().unwrap_or("of unknown type");
    match &file.source {
        FileSource::Base64(bytes) => {
            format!("[file {name}, {kind}, {} bytes]", bytes.len() / 4 * 3)
        }
        FileSource::Uri(uri) => format!("[file {name}, {kind}, at {uri}]"),
    }
}

pub(super) fn artifact_write_tool() -> Arc<dyn Tool> {
    let description = "Writes an artifact (a document or data) that the user can keep. Writing the \
                       same name again in this turn replaces it.";
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

/// The artifact that the arguments describe.
fn parse_artifact_arguments(arguments: &Value) -> Result<Artifact, Failure> {
    let name = arguments["name"].as_str().unwrap_or_default();
    if is_conversation_artifact_id(name) {
        return Err(Failure::new(format!("{name:?} is the name of a part of the conversation itself")));
    }
    let id = ArtifactId::new(name).map_err(|error| Failure::new(error.to_string()))?;
    let part = match (arguments.get("text"), arguments.get("data")) {
        (Some(Value::String(text)), None) => Part::text(text.clone()),
        (None, Some(data)) => Part::data(data.clone()),
        _ => return Err(Failure::new("give either `text` or `data`")),
    };
    if part_size_bytes(&part) > WRITTEN_BYTES_MAX {
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

/// An artifact and its run.
#[derive(Debug, Clone, PartialEq)]
struct SessionArtifact {
    run: RunId,
    workflow: String,
    artifact: Arc<Artifact>,
}

/// Whether an id belongs to the conversation rather than to its results.
fn is_conversation_artifact_id(id: &str) -> bool {
    TALK.iter().any(|start| id.starts_with(start))
}

/// The artifacts of the call's session, those of the newest run first. An archive contains only runs of
/// the caller's own tenant.
async fn list_session_artifacts(call: &ToolCallContext) -> Result<Vec<SessionArtifact>, Failure> {
    let archive = session_history_of_call(call)?;
    let mut kept = Vec::new();
    for (run, workflow) in list_session_runs(&archive).await? {
        let artifacts = load_run_artifacts(&archive, run).await?;
        kept.extend(artifacts.map(|artifact| SessionArtifact { run, workflow: workflow.clone(), artifact }));
    }
    Ok(kept)
}

/// The newest artifact of that name, or the one of the given task. This reads whole logs, so it stops
/// as early as possible.
async fn find_session_artifact(
    call: &ToolCallContext,
    name: &str,
    task: Option<&str>,
) -> Result<Option<SessionArtifact>, Failure> {
    let archive = session_history_of_call(call)?;
    for (run, workflow) in list_session_runs(&archive).await? {
        if task.is_some_and(|task| run.to_string() != task) {
            continue;
        }
        let mut artifacts = load_run_artifacts(&archive, run).await?;
        if let Some(artifact) = artifacts.find(|artifact| artifact.id.as_str() == name) {
            return Ok(Some(SessionArtifact { run, workflow, artifact }));
        }
    }
    Ok(None)
}

fn session_history_of_call(call: &ToolCallContext) -> Result<SessionHistory, Failure> {
    call.session_history().ok_or_else(|| Failure::new("this call has no session"))
}

async fn list_session_runs(history: &SessionHistory) -> Result<Vec<(RunId, String)>, Failure> {
    let unreadable = |error| Failure::new(format!("the session cannot be read: {error}"));
    history.list_runs_with_workflow(RUNS_MAX).await.map_err(unreadable)
}

/// The artifacts of a run, without the conversation itself.
async fn load_run_artifacts(
    history: &SessionHistory,
    run: RunId,
) -> Result<impl Iterator<Item = Arc<Artifact>>, Failure> {
    let events = history.load_run_events(run, None).await;
    let events = events.map_err(|error| Failure::new(format!("a run cannot be read: {error}")))?;
    let view = RunView::from_log(events.iter().map(|stored| (&stored.event, stored.at, stored.pos)));
    let artifacts = view.map(|view| view.artifacts).unwrap_or_default();
    Ok(artifacts.into_iter().filter(|artifact| !is_conversation_artifact_id(artifact.id.as_str())))
}

/// The kind of a part, in one word.
fn part_kind(part: &Part) -> &'static str {
    match &part.content {
        MessagePartContent::Text(_) => "text",
        MessagePartContent::Data(_) => "data",
        MessagePartContent::File(_) => "file",
    }
}

/// The size of a part in its serialized form.
fn part_size_bytes(part: &Part) -> usize {
    match &part.content {
        MessagePartContent::Text(text) => text.len(),
        MessagePartContent::Data(value) => value.to_string().len(),
        MessagePartContent::File(file) => match &file.source {
            FileSource::Base64(bytes) => bytes.len() / 4 * 3,
            FileSource::Uri(uri) => uri.len(),
        },
    }
}

#[cfg(test)]
mod tests;
