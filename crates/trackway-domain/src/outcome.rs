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

/// What a step came to. Recorded once; a replay returns it instead of doing the step again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOutcome {
    Ok(Value),
    Err(Failure),
}

/// How a child run ended, as its parent is told.
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

/// The first thing that a run said after somebody began to wait for it. What it says or asks later does
/// not change it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstAnswer {
    pub kind: AnswerKind,
    /// What was said; nothing is an answer too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What a question asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Why it did not go well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What kind of thing a first answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerKind {
    Answered,
    Rejected,
    InputRequired,
    AuthRequired,
    Failed,
}

impl FirstAnswer {
    pub fn said(parts: Vec<Part>) -> Self {
        Self { kind: AnswerKind::Answered, parts, schema: None, reason: None }
    }

    /// It came to nothing, for this reason.
    pub fn without(kind: AnswerKind, reason: impl Into<String>) -> Self {
        Self { kind, parts: Vec::new(), schema: None, reason: Some(reason.into()) }
    }
}

/// A run that waits for a person, as the runs above it are told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaitingRun {
    pub run: RunId,
    pub workflow: String,
    pub state: StateName,
    /// What it asks, in a few words.
    pub text: String,
}

/// Why a run could not be replayed: what the code asked for, and what the log holds instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
}
