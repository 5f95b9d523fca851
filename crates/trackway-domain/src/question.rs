//! Questions: what an interrupted run waits for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Part, QuestionId};

/// Why a run is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptReason {
    InputRequired,
    AuthRequired,
}

/// An open request for input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    pub reason: InterruptReason,
    /// The prompt, in the workflow's own parts. The schema is added when the question is rendered.
    pub prompt: Vec<Part>,
    /// JSON Schema that an answer must satisfy.
    pub schema: Value,
    /// Name of the Rust type that an answer is parsed into, if there is one. The runtime knows how to
    /// parse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_type: Option<String>,
}
