//! What a reader of a stream already knows of its task, in a few words per artifact. This is enough to
//! decide whether a Task that arrives again after a break contains anything new.

use std::collections::HashMap;

use trackway_domain::{ArtifactId, MessageId, Timestamp};

use super::{Task, TaskState, TaskStatus, TaskUpdate};

/// Most artifacts that are tracked. Above this a repeated Task is always passed on.
/// Limit (A2A): artifacts of one task that our client keeps track of.
const ARTIFACTS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct ReceivedTaskProgress {
    status: Option<StatusSummary>,
    /// How many parts each artifact has.
    artifacts: HashMap<ArtifactId, usize>,
    /// There were more artifacts than are tracked.
    lost_count: bool,
}

#[derive(Debug, PartialEq)]
struct StatusSummary {
    state: TaskState,
    timestamp: Option<Timestamp>,
    message: Option<MessageId>,
}

impl StatusSummary {
    fn from_status(status: &TaskStatus) -> Self {
        Self {
            state: status.state,
            timestamp: status.timestamp,
            message: status.message.as_ref().map(|message| message.id.clone()),
        }
    }
}

impl ReceivedTaskProgress {
    pub(super) fn record_received_update(&mut self, update: &TaskUpdate) {
        match update {
            TaskUpdate::Task(task) => {
                self.status = Some(StatusSummary::from_status(&task.status));
                self.artifacts.clear();
                self.lost_count = false;
                for artifact in &task.artifacts {
                    self.count_artifact_parts(&artifact.id, artifact.parts.len(), false);
                }
            }
            TaskUpdate::Status(update) => self.status = Some(StatusSummary::from_status(&update.status)),
            TaskUpdate::Artifact(update) => {
                let chunk = &update.chunk;
                self.count_artifact_parts(&chunk.artifact.id, chunk.artifact.parts.len(), chunk.append);
            }
            TaskUpdate::Message(_) => {}
        }
    }

    fn count_artifact_parts(&mut self, id: &ArtifactId, parts: usize, append: bool) {
        if let Some(known) = self.artifacts.get_mut(id) {
            *known = if append { *known + parts } else { parts };
        } else if self.artifacts.len() < ARTIFACTS_MAX {
            self.artifacts.insert(id.clone(), parts);
        } else {
            self.lost_count = true;
        }
    }

    /// Whether the Task contains nothing new. If an agent joins the pieces of an artifact into one
    /// part, this cannot be verified: the Task is then passed on, which repeats content but loses
    /// nothing.
    pub(super) fn has_received_task_state(&self, task: &Task) -> bool {
        !self.lost_count
            && self.has_received_status(&task.status)
            && self.artifacts.len() == task.artifacts.len()
            && task
                .artifacts
                .iter()
                .all(|artifact| self.artifacts.get(&artifact.id) == Some(&artifact.parts.len()))
    }

    pub(super) fn has_received_status(&self, status: &TaskStatus) -> bool {
        self.status == Some(StatusSummary::from_status(status))
    }
}

#[cfg(test)]
mod tests;
