//! The records of a turn, and their keys. The log of a turn contains the whole conversation of that
//! turn. These forms and keys are stored in the log, so they are stable across versions.
//!
//! | step | outcome |
//! | --- | --- |
//! | `model` (its occurrence counts the model calls of the turn from 0) | [`RecordedModelCall`] |
//! | `call <model call>.<index> <tool>`, see [`ToolCallPosition`] | [`ToolCallRecord`] |
//! | `begin call …`, before a call that cannot be repeated | null |
//! | `compact` | [`CompactedHistory`] |
//! | `begin` | the moment, the earlier turns and the open questions that the turn began with |
//! | `find <model call>.<index>`, `send <model call>.<index>` | the question that a reply is for, and the errors of the reply; both come before their `call` |
//!
//! Everything that the model receives for a call is the outcome of its step, even if nothing was
//! called: an unknown tool, one that may never be called, an approval that the user refused. The
//! available tools change while a turn runs, and a replay must find the same result. Only arguments
//! that are not JSON need no record: the error follows from the answer itself ([`broken_arguments_record`]).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trackway_domain::{Failure, StepOutcome, Timestamp};

use crate::{
    ContentPiece, ConversationEntry, ModelAnswer, TokenUsage, ToolArguments, ToolUse, content_pieces,
};

/// The key of the step that is a model call.
pub const MODEL_KEY: &str = "model";

/// The key of the step that compacts a long history.
pub const COMPACT_KEY: &str = "compact";

/// The author of the call that sends a user's reply to its run: no model made it.
pub const REPLY_LABEL: &str = "trackway/reply";

const CALL: &str = "call";

/// More calls than a model needs in parallel. Further calls of such an answer are not made, and the
/// model receives an error for them.
///
/// Limit (Agents): tool calls of one model answer that are made.
pub const ANSWER_CALLS_MAX: usize = 32;

/// Calls of one answer that the conversation keeps: each has a result in every later request. Further
/// calls are dropped, as if the model had not made them.
///
/// Limit (Agents): tool calls of one model answer that are kept in the conversation.
pub const ANSWER_CALLS_KEPT_MAX: usize = 64;

/// The outcome of a model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedModelCall {
    pub answer: ModelAnswer,
    /// The model that answered, as in [`crate::ModelProvider::model_label`].
    pub label: String,
    /// The cost, if the model has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub ended_at: Timestamp,
}

/// The outcome of a tool call or a dispatch, as the model receives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCallRecord {
    pub pieces: Vec<ContentPiece>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Counts towards the time of the turn, if present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Time in which the call waited for people; this does not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<UserWaitPeriod>,
}

/// A time in which the turn waited for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UserWaitPeriod {
    pub from: Timestamp,
    pub to: Timestamp,
}

/// The outcome of a compaction. It is complete in itself: a reader that goes backwards through the log
/// may stop here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CompactedHistory {
    /// Replaces everything that is not kept.
    pub summary: String,
    /// The entries after the summary, word for word.
    pub kept: Vec<ConversationEntry>,
    /// The model that wrote the summary, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_usage: Option<SummaryCallUsage>,
    /// Counts towards the time of the turn, if present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// A model call outside the conversation, and its usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryCallUsage {
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A record that does not have the expected form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record of {what} cannot be read: {reason}")]
pub struct RecordError {
    pub what: &'static str,
    pub reason: String,
}

/// Types that are stored as the outcome of a step.
macro_rules! outcome {
    ($name:ident, $what:literal) => {
        impl $name {
            /// Serializes into a step's outcome. This never fails for values of a turn, but the types
            /// cannot express that.
            pub fn to_value(&self) -> Result<Value, Failure> {
                let value = serde_json::to_value(self);
                value.map_err(|why| Failure::new(format!("cannot record {}: {why}", $what)))
            }

            pub fn from_value(value: &Value) -> Result<Self, RecordError> {
                Self::deserialize(value).map_err(|why| RecordError { what: $what, reason: why.to_string() })
            }
        }
    };
}

outcome!(RecordedModelCall, "a model call");
outcome!(ToolCallRecord, "a tool call");
outcome!(CompactedHistory, "a compaction");

impl ToolCallRecord {
    pub fn new(pieces: Vec<ContentPiece>) -> Self {
        Self { pieces, failed: false, ended_at: None, waits: Vec::new() }
    }

    /// A result that is one JSON value.
    pub fn record_from_json(value: &Value) -> Self {
        Self::new(vec![ContentPiece::Text(value.to_string())])
    }

    /// A failed call and its reason, within the limits of every other result.
    pub fn failed_call_with_reason(why: impl AsRef<str>) -> Self {
        Self {
            failed: true,
            ..Self::new(vec![ContentPiece::Text(content_pieces::truncate_to_part_limit(why.as_ref()))])
        }
    }

    /// The user refused the call.
    pub fn call_refused_by_user(tool: &str) -> Self {
        Self::failed_call_with_reason(format!("The user refused this call of {tool}. It was not made."))
    }

    /// The agent may never call this tool.
    pub fn call_denied_by_permission(tool: &str) -> Self {
        Self::failed_call_with_reason(format!("{tool} may never be called by this agent. It was not called."))
    }

    /// The result of a call's step. A failed step is a failed call. A record that cannot be read is
    /// reported as an error, not dropped.
    pub fn record_from_step_outcome(outcome: &StepOutcome) -> Self {
        match outcome {
            StepOutcome::Ok(value) => Self::from_value(value)
                .unwrap_or_else(|error| Self::failed_call_with_reason(error.to_string())),
            StepOutcome::Err(failure) => Self::failed_call_with_reason(&failure.message),
        }
    }

    #[must_use]
    pub fn with_end_time(mut self, ended_at: Timestamp) -> Self {
        self.ended_at = Some(ended_at);
        self
    }
}

/// The position of a call in its turn: call `index` of answer `model_call`, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolCallPosition {
    pub model_call: u32,
    pub index: usize,
}

impl ToolCallPosition {
    /// The key of the step that is this call.
    pub fn to_step_key(self, tool: &str) -> String {
        format!("{CALL} {}.{} {tool}", self.model_call, self.index)
    }

    /// Parses the position from a key of [`Self::to_step_key`].
    pub fn position_from_step_key(key: &str) -> Option<Self> {
        let rest = key.strip_prefix(CALL)?.strip_prefix(' ')?;
        let (place, _tool) = rest.split_once(' ')?;
        let (model_call, index) = place.split_once('.')?;
        Some(Self { model_call: model_call.parse().ok()?, index: index.parse().ok()? })
    }
}

/// The result of a call whose arguments are not JSON; nothing is called.
pub fn broken_arguments_record(call: &ToolUse) -> Option<ToolCallRecord> {
    match &call.arguments {
        ToolArguments::Json(_) => None,
        ToolArguments::Broken { reason, .. } => Some(ToolCallRecord::failed_call_with_reason(format!(
            "The arguments of this call of {} are not JSON ({reason}). Nothing was called. \
             Call it again with one JSON object.",
            call.tool
        ))),
    }
}

/// The result of a call that is not made, because its answer makes more than `room` calls.
pub(crate) fn call_left_out_record(max_calls: usize) -> ToolCallRecord {
    ToolCallRecord::failed_call_with_reason(format!(
        "This call was not made: only the first {max_calls} calls of this answer are. Make it again later, if \
         it is still needed."
    ))
}

/// The calls of an answer with unique ids. Providers promise unique ids. If one breaks that promise,
/// the second of two equal ids gets a number, so that no result can go to the wrong call.
pub(crate) fn calls_with_unique_ids(answer: &ModelAnswer) -> Vec<ToolUse> {
    let mut calls: Vec<ToolUse> = Vec::with_capacity(answer.calls.len().min(ANSWER_CALLS_KEPT_MAX));
    for call in answer.calls.iter().take(ANSWER_CALLS_KEPT_MAX) {
        let id = make_unique_id(&call.id, |id| calls.iter().any(|other| other.id == id));
        calls.push(ToolUse { id, ..call.clone() });
    }
    calls
}

/// The id, with the first free number appended if it is already in use.
pub(crate) fn make_unique_id(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number: usize| format!("{id}_{number}"));
    let mut ids = std::iter::once(id.to_owned()).chain(numbered);
    ids.find(|id| !is_taken(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
