//! The four things a workflow can say, and two that speak of or to another run.

use serde_json::Value;

use crate::{Artifact, ArtifactChunk, Object, Part, Reason, RunId};

/// What a workflow yields. It cannot set a state or publish an event, and errors are returned, not
/// yielded.
#[derive(Debug, Clone, PartialEq)]
pub enum Yield {
    /// Progress; the run stays in its state.
    Status {
        parts: Vec<Part>,
    },
    /// Progress that speaks of another run.
    Reference {
        run: RunId,
        parts: Vec<Part>,
        metadata: Object,
    },
    Artifact(ArtifactChunk),
    /// A question. The artifact, where there is one, is shown first.
    Interrupted {
        reason: Reason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
        /// Name of the Rust type that an answer is read into.
        answer_type: Option<String>,
    },
    /// What a run that waits for the first answer is told, and nobody else.
    Answer {
        parts: Vec<Part>,
    },
    /// The workflow declines to go on.
    Reject {
        reason: String,
    },
}
