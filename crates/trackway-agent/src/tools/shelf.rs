//! What the runs of a conversation have produced, found in their logs.

use std::sync::Arc;

use trackway_domain::{Artifact, Content, Failure, FileSource, Part, RunId};
use trackway_engine::RunView;
use trackway_runtime::{Archive, ToolCall};

/// Runs of a conversation that are looked through, the newest first. A model asks for what it has just
/// made or been told of.
/// Limit (Agents): runs of a conversation that are searched for artifacts.
const RUNS_MAX: usize = 100;

/// Artifacts with these ids, or beginnings of them, are the conversation itself: what the model said, and
/// what it called.
const TALK: [&str; 3] = ["text-response", "tool-call-", "tool-result-"];

/// An artifact, and the run that it is of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kept {
    pub(super) run: RunId,
    pub(super) workflow: String,
    pub(super) artifact: Arc<Artifact>,
}

/// Whether an id belongs to the conversation rather than to what came of it.
pub(super) fn is_talk(id: &str) -> bool {
    TALK.iter().any(|start| id.starts_with(start))
}

/// The artifacts of the session that the call is of, those of the newest run first. Only runs of the
/// caller's own tenant are in an archive.
pub(super) async fn look_through(call: &ToolCall) -> Result<Vec<Kept>, Failure> {
    let archive = archive(call)?;
    let mut kept = Vec::new();
    for (run, workflow) in runs(&archive).await? {
        let artifacts = artifacts_of(&archive, run).await?;
        kept.extend(artifacts.map(|artifact| Kept { run, workflow: workflow.clone(), artifact }));
    }
    Ok(kept)
}

/// The newest artifact of that name, or that of the task where one is named. Whole logs are read for it,
/// so no more of them than it takes.
pub(super) async fn find(
    call: &ToolCall,
    name: &str,
    task: Option<&str>,
) -> Result<Option<Kept>, Failure> {
    let archive = archive(call)?;
    for (run, workflow) in runs(&archive).await? {
        if task.is_some_and(|task| run.to_string() != task) {
            continue;
        }
        let mut artifacts = artifacts_of(&archive, run).await?;
        if let Some(artifact) = artifacts.find(|artifact| artifact.id.as_str() == name) {
            return Ok(Some(Kept { run, workflow, artifact }));
        }
    }
    Ok(None)
}

fn archive(call: &ToolCall) -> Result<Archive, Failure> {
    call.archive().ok_or_else(|| Failure::new("no session is behind this call"))
}

async fn runs(archive: &Archive) -> Result<Vec<(RunId, String)>, Failure> {
    let unreadable = |error| Failure::new(format!("the session cannot be read: {error}"));
    archive.runs(RUNS_MAX).await.map_err(unreadable)
}

/// What a run has produced, but for the conversation itself.
async fn artifacts_of(
    archive: &Archive,
    run: RunId,
) -> Result<impl Iterator<Item = Arc<Artifact>>, Failure> {
    let events = archive.events(run, None).await;
    let events = events.map_err(|error| Failure::new(format!("a run cannot be read: {error}")))?;
    let view = RunView::of_log(events.iter().map(|stored| (&stored.event, stored.at, stored.pos)));
    let artifacts = view.map(|view| view.artifacts).unwrap_or_default();
    Ok(artifacts.into_iter().filter(|artifact| !is_talk(artifact.id.as_str())))
}

/// What a part is, in a word.
pub(super) fn kind(part: &Part) -> &'static str {
    match &part.content {
        Content::Text(_) => "text",
        Content::Data(_) => "data",
        Content::File(_) => "file",
    }
}

/// How much a part holds, as it is written down.
pub(super) fn size(part: &Part) -> usize {
    match &part.content {
        Content::Text(text) => text.len(),
        Content::Data(value) => value.to_string().len(),
        Content::File(file) => match &file.source {
            FileSource::Base64(bytes) => bytes.len() / 4 * 3,
            FileSource::Uri(uri) => uri.len(),
        },
    }
}
