//! What is known of a remote task: its state, what it said, and its artifacts. Pure.

use std::collections::VecDeque;

use trackway_a2a_client::{Artifact, Message, Part, TaskState, TaskStatus, TaskUpdate};
use trackway_domain::MessagePartContent;

/// Artifacts of one remote task that reach the result.
/// Limit (Mesh): artifacts in the result of a call.
const ARTIFACTS_MAX: usize = 64;

/// Everything that the artifacts of one remote task contain, as it is kept in memory.
/// Limit (Mesh): bytes of all artifacts of one remote task.
const ARTIFACT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Status messages that are shown one by one.
/// Limit (Mesh): progress messages of a remote task that are shown without gaps.
const PROGRESS_ALL_MAX: u32 = 64;
/// After those, one of this many.
const PROGRESS_STRIDE: u32 = 16;
/// Limit (Mesh): progress messages of a remote task that are shown at all.
const PROGRESS_SHOWN_MAX: u32 = 256;

/// Ids of status messages that are remembered, so that a repeated one is shown once.
/// Limit (Mesh): progress messages of a remote task that are recognised when they are repeated.
const SEEN_MAX: usize = 64;

/// Artifacts that show how an agent works; its caller gets only what the work made.
const INTERNAL_PREFIXES: [&str; 3] = ["tool-call", "tool-result", "reasoning"];

/// The text of an agent's answer, which Trackway's agents stream as an artifact.
const ANSWER_ARTIFACT: &str = "text-response";

/// A remote task as it is known here.
#[derive(Debug, Default)]
pub(super) struct RemoteTask {
    status: Option<TaskStatus>,
    artifacts: Vec<Artifact>,
    bytes: usize,
    /// Artifacts that are left out, because there are too many or they are too large.
    pub(super) is_truncated: bool,
    progress: ProgressThrottle,
    /// The first snapshot repeats what an earlier process has shown.
    is_resumed: bool,
}

/// Which status messages are shown: bounded by their number, whatever their pace.
#[derive(Debug, Default)]
struct ProgressThrottle {
    received: u32,
    shown: u32,
    seen: VecDeque<String>,
}

impl RemoteTask {
    /// A task that an earlier process has followed.
    pub(super) fn of_earlier_process() -> Self {
        Self { is_resumed: true, ..Self::default() }
    }

    /// Takes an update of the task. Returns a status message that is to be shown.
    pub(super) fn apply_update(&mut self, update: &TaskUpdate) -> Option<Message> {
        match update {
            TaskUpdate::Task(task) => {
                self.artifacts.clear();
                (self.bytes, self.is_truncated) = (0, false);
                for artifact in &task.artifacts {
                    self.add_artifact(artifact, false);
                }
                let shown = self.set_status(&task.status);
                shown.filter(|_| !std::mem::take(&mut self.is_resumed))
            }
            TaskUpdate::Status(update) => self.set_status(&update.status),
            TaskUpdate::Artifact(update) => {
                self.add_artifact(&update.chunk.artifact, update.chunk.append);
                None
            }
            TaskUpdate::Message(_) => None,
        }
    }

    pub(super) fn status(&self) -> Option<&TaskStatus> {
        self.status.as_ref()
    }

    /// What the agent said last, in words; the text of its answer if its status has none.
    pub(super) fn last_message_text(&self) -> String {
        let said = self.status.as_ref().and_then(|status| status.message.as_ref());
        let text = said.map(|message| parts_text(&message.parts)).unwrap_or_default();
        if !text.is_empty() {
            return text;
        }
        let answer = self.artifacts.iter().find(|artifact| artifact.id.as_str() == ANSWER_ARTIFACT);
        answer.map(|artifact| parts_text(&artifact.parts)).unwrap_or_default()
    }

    /// The artifacts for the caller.
    pub(super) fn result_artifacts(&self) -> impl Iterator<Item = &Artifact> {
        self.artifacts.iter().filter(|artifact| {
            let id = artifact.id.as_str();
            id != ANSWER_ARTIFACT && !INTERNAL_PREFIXES.iter().any(|prefix| id.starts_with(prefix))
        })
    }

    fn set_status(&mut self, status: &TaskStatus) -> Option<Message> {
        self.status = Some(status.clone());
        let message = status.message.as_ref()?;
        let is_progress = matches!(status.state, TaskState::Working | TaskState::Submitted);
        (is_progress && self.progress.is_shown(message.id.as_str())).then(|| message.clone())
    }

    fn add_artifact(&mut self, artifact: &Artifact, append: bool) {
        let known = self.artifacts.iter().position(|known| known.id == artifact.id);
        let replaced = known.filter(|_| !append).map_or(0, |at| content_bytes(&self.artifacts[at].parts));
        let added = content_bytes(&artifact.parts);
        if self.bytes - replaced + added > ARTIFACT_BYTES_MAX {
            self.is_truncated = true;
            return;
        }
        self.bytes = self.bytes - replaced + added;
        match known {
            Some(at) if append => append_parts(&mut self.artifacts[at].parts, &artifact.parts),
            Some(at) => self.artifacts[at] = artifact.clone(),
            None if self.artifacts.len() < ARTIFACTS_MAX => self.artifacts.push(artifact.clone()),
            None => {
                self.bytes -= added;
                self.is_truncated = true;
            }
        }
    }
}

impl ProgressThrottle {
    fn is_shown(&mut self, id: &str) -> bool {
        if self.seen.iter().any(|seen| seen == id) {
            return false;
        }
        if self.seen.len() == SEEN_MAX {
            self.seen.pop_front();
        }
        self.seen.push_back(id.to_owned());
        self.received = self.received.saturating_add(1);
        let is_shown = self.received <= PROGRESS_ALL_MAX
            || self.shown < PROGRESS_SHOWN_MAX && self.received.is_multiple_of(PROGRESS_STRIDE);
        self.shown += u32::from(is_shown);
        is_shown
    }
}

/// Text and data as text, one part per line.
pub(super) fn parts_text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match &part.content {
        MessagePartContent::Text(text) => Some(text.clone()),
        MessagePartContent::Data(data) => Some(data.to_string()),
        MessagePartContent::File(_) => None,
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Chunks of a text are one text.
fn append_parts(parts: &mut Vec<Part>, more: &[Part]) {
    for part in more {
        match (parts.last_mut().map(|last| &mut last.content), &part.content) {
            (Some(MessagePartContent::Text(before)), MessagePartContent::Text(text)) => before.push_str(text),
            _ => parts.push(part.clone()),
        }
    }
}

/// The size of the content, as it is kept.
pub(super) fn content_bytes(parts: &[Part]) -> usize {
    let one = |part: &Part| match &part.content {
        MessagePartContent::Text(text) => text.len(),
        MessagePartContent::Data(data) => data.to_string().len(),
        MessagePartContent::File(file) => match &file.source {
            trackway_domain::FileSource::Base64(text) | trackway_domain::FileSource::Uri(text) => text.len(),
        },
    };
    parts.iter().map(one).sum()
}

#[cfg(test)]
mod tests;
