//! The four things a workflow can say.

use serde_json::Value;

use crate::{Artifact, ArtifactChunk, Part, Reason};

/// What a workflow yields. There is no fifth: a workflow cannot set a state or publish an event, and
/// errors are returned, not yielded.
#[derive(Debug, Clone, PartialEq)]
pub enum Yield {
    /// Progress; the run stays in its state.
    Status {
        parts: Vec<Part>,
    },
    Artifact(ArtifactChunk),
    /// A question. The artifact, where there is one, is shown first.
    Interrupted {
        reason: Reason,
        prompt: Vec<Part>,
        schema: Value,
        artifact: Option<Artifact>,
    },
    /// The workflow declines to go on.
    Reject {
        reason: String,
    },
}
