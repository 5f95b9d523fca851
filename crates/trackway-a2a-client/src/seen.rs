//! What a reader of a stream already knows of its task, in a few words per artifact. This is enough to
//! decide whether a Task that arrives again after a break contains anything new.

use std::collections::HashMap;

use trackway_domain::{ArtifactId, MessageId, Timestamp};

use super::{Task, TaskState, TaskStatus, Update};

/// Most artifacts that are tracked. Above this a repeated Task is always passed on.
/// Limit (A2A): artifacts of one task that our client keeps track of.
const ARTIFACTS_MAX: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Seen {
    status: Option<Status>,
    /// How many parts each artifact has.
    artifacts: HashMap<ArtifactId, usize>,
    /// There were more artifacts than are tracked.
    lost_count: bool,
}

#[derive(Debug, PartialEq)]
struct Status {
    state: TaskState,
    timestamp: Option<Timestamp>,
    message: Option<MessageId>,
}

impl Status {
    fn of(status: &TaskStatus) -> Self {
        Self {
            state: status.state,
            timestamp: status.timestamp,
            message: status.message.as_ref().map(|message| message.id.clone()),
        }
    }
}

impl Seen {
    pub(super) fn note(&mut self, update: &Update) {
        match update {
            Update::Task(task) => {
                self.status = Some(Status::of(&task.status));
                self.artifacts.clear();
                self.lost_count = false;
                for artifact in &task.artifacts {
                    self.count(&artifact.id, artifact.parts.len(), false);
                }
            }
            Update::Status(update) => self.status = Some(Status::of(&update.status)),
            Update::Artifact(update) => {
                let chunk = &update.chunk;
                self.count(&chunk.artifact.id, chunk.artifact.parts.len(), chunk.append);
            }
            Update::Message(_) => {}
        }
    }

    fn count(&mut self, id: &ArtifactId, parts: usize, append: bool) {
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
    pub(super) fn knows(&self, task: &Task) -> bool {
        !self.lost_count
            && self.knows_status(&task.status)
            && self.artifacts.len() == task.artifacts.len()
            && task
                .artifacts
                .iter()
                .all(|artifact| self.artifacts.get(&artifact.id) == Some(&artifact.parts.len()))
    }

    pub(super) fn knows_status(&self, status: &TaskStatus) -> bool {
        self.status == Some(Status::of(status))
    }
}

#[cfg(test)]
mod tests;
