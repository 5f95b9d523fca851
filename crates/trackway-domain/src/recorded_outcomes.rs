//! How things ended, as recorded. These are data of the log: they keep their form across versions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Part, RunId, StateName};

/// Why a run or a step failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub message: String,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// The outcome of a step. It is recorded once; a replay returns it and does not execute the step again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    Ok(Value),
    Err(Failure),
}

/// How a child run ended, as its parent receives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildOutcome {
    pub state: StateName,
    /// The child's output, when it completed.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// The reason, when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The first answer of a run after another run began to wait for it. Later messages and questions do
/// not change it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildFirstAnswer {
    pub kind: ChildFirstAnswerKind,
    /// The content; an empty answer is an answer too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The schema that a question requires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Why the run did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The kind of a first answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChildFirstAnswerKind {
    Answered,
    Rejected,
    InputRequired,
    AuthRequired,
    Failed,
}

impl ChildFirstAnswer {
    pub fn answered_with_parts(parts: Vec<Part>) -> Self {
        Self { kind: ChildFirstAnswerKind::Answered, parts, schema: None, reason: None }
    }

    /// An answer without content, for this reason.
    pub fn from_failure(kind: ChildFirstAnswerKind, reason: impl Into<String>) -> Self {
        Self { kind, parts: Vec::new(), schema: None, reason: Some(reason.into()) }
    }
}

/// A run that waits for a person, as the runs above it see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitingRun {
    pub run: RunId,
    pub workflow: String,
    pub state: StateName,
    /// The question, in a few words.
    pub text: String,
}

/// Why a run could not be replayed: the operation that the code requested, and what the log has
/// instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayMismatch {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
}
