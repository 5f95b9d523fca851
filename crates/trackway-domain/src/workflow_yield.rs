//! The four things that a workflow can yield, and two that refer to another run or are for one.

use serde_json::Value;

use crate::{Artifact, ArtifactChunk, InterruptReason, Object, Part, RunId};

/// What a workflow yields. It cannot set a state or publish an event, and errors are returned, not
/// yielded.
#[derive(Debug, Clone, PartialEq)]
pub enum Yield {
    /// Progress; the run stays in its state.
    Status {
        parts: Vec<Part>,
    },
    /// Progress that refers to another run.
    Reference {
        run: RunId,
        parts: Vec<Part>,
        metadata: Object,
    },
    Artifact(ArtifactChunk),
    /// A question. The artifact, if there is one, comes first.
    Interrupted {
        reason: InterruptReason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
        /// Name of the Rust type that an answer is parsed into.
        answer_type: Option<String>,
    },
    /// The answer for a run that waits for the first answer. It is not visible to other clients.
    Answer {
        parts: Vec<Part>,
    },
    /// The workflow declines to continue.
    Reject {
        reason: String,
    },
}
