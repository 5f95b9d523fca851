//! The turn: a pure state machine between an agent, a model and tools. It performs no IO.
//!
//! The driver asks [`AgentTurn::next_action`] for the next action, runs it, and gives the result to the
//! turn, until the turn is over:
//!
//! ```text
//! Ask     → the model gets `turn.build_model_request(offer)`    → turn.apply_model_answer(recorded)
//! Call    → every waiting call is made, in any order            → turn.apply_call_result(call id, record)
//! Judge   → the value is checked against the output's schema    → turn.apply_output_validation(problems)
//! Done, Limit, Failed: it is over
//! ```
//!
//! The inputs are the records of the log ([`crate::turn_record`]): a turn that is driven again over its
//! recorded outcomes makes the same decisions. A compaction is applied with [`AgentTurn::apply_compaction`]
//! before a request.
//!
//! The turn tracks calls only from the answer that made them until their results arrive (D6). Results
//! are matched by call id and are in the order of the calls (D7).

mod output_repair;
mod pending_calls;
mod turn_request;
mod turn_usage;

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{Timestamp, ValidationError};

use crate::{
    AgentSpec, ContentPiece, ConversationEntry, DISPATCH_PREFIX, FinishReason, ModelAnswer, TokenUsage,
    TurnBudgets, history_compaction,
    turn_record::{
        self, ANSWER_CALLS_MAX, CompactedHistory, RecordedModelCall, ToolCallPosition, ToolCallRecord,
        UserWaitPeriod,
    },
};

pub use pending_calls::PendingToolCall;
pub use turn_request::{TurnRequestContext, WORKFLOW_INPUT_NOTE};
pub use turn_usage::{TurnLimit, TurnUsage};

use output_repair::REPAIRS_MAX;
use pending_calls::PendingToolCalls;
pub(crate) use pending_calls::to_result_entry as result_entry;

/// One turn of an agent: from a user's message to the end of the answer.
#[derive(Debug, Clone)]
pub struct AgentTurn {
    prompt: String,
    budgets: TurnBudgets,
    /// The conversation so far: earlier turns, then this one.
    entries: Vec<ConversationEntry>,
    state: AgentTurnState,
    /// The schema of the answer, if it must be more than text.
    output: Option<Value>,
    repairs: u32,
    used: TurnUsage,
    /// Text of this turn's answers, oldest first.
    said: Vec<String>,
    /// The model's reasoning before its answers, if it provides it.
    reasoned: Vec<String>,
    /// Calls of each tool in this turn.
    uses: BTreeMap<String, u32>,
}

/// Each state holds only its own data.
#[derive(Debug, Clone)]
enum AgentTurnState {
    /// Entered at the start, after the last result, or for a repair; left by an answer.
    Ready,
    /// Entered by an answer with calls; left by the last of their results.
    Calling(PendingToolCalls),
    /// Entered by a final answer that is JSON; left by a judgement.
    Judging(Value),
    Over(NextTurnAction),
}

/// The next action.
#[derive(Debug, Clone, PartialEq)]
pub enum NextTurnAction {
    /// Call the model.
    Ask,
    /// These calls wait for their results, in the order in which the model made them. This includes calls
    /// whose arguments are not JSON; their result is
    /// [`broken_arguments_record`](crate::turn_record::broken_arguments_record).
    Call(Vec<PendingToolCall>),
    /// Check this value against the required schema.
    Judge(Value),
    Done(TurnOutcome),
    /// A budget is used up. The limit prints as a sentence for the user.
    Limit(TurnLimit),
    /// The model did not produce the required output.
    Failed(String),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnOutcome {
    /// The model's last text.
    pub text: String,
    /// The value that satisfies the schema, if one is required.
    pub output: Option<Value>,
    pub ending: TurnEnding,
}

/// Why a turn ended. All but the first have a sentence for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnding {
    /// The model finished its answer.
    Said,
    /// The answer was cut off at the maximum length.
    Length,
    /// The provider withheld the answer.
    Filtered,
    /// The model gave no text in the whole turn.
    Silent,
}

impl TurnEnding {
    /// A sentence for the user, in addition to the text.
    pub fn ending_note_for_user(self) -> Option<&'static str> {
        match self {
            Self::Said => None,
            Self::Length => Some("The answer ends here: it reached the longest that the model may give."),
            Self::Filtered => Some("The model's provider held the answer back."),
            Self::Silent => Some("The model gave no answer."),
        }
    }
}

/// An input that the turn did not expect. The turn is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnError {
    #[error("no call {call:?} waits for a result (waiting: {})", if waiting.is_empty() { "none".to_owned() } else { waiting.join(", ") })]
    NotWaiting { call: String, waiting: Vec<String> },
    #[error("the model was not asked")]
    NotAsked,
    #[error("there is nothing to judge")]
    NothingToJudge,
}

impl AgentTurn {
    /// Starts a turn. `history` is the result of [`crate::append_turn_from_log`] for earlier turns; `began`
    /// is the recorded time from which its seconds count.
    pub fn begin_turn(
        spec: &AgentSpec,
        history: Vec<ConversationEntry>,
        user: Vec<ContentPiece>,
        started_at: Timestamp,
    ) -> Self {
        let mut entries = history;
        entries.push(ConversationEntry::User { pieces: user });
        Self {
            prompt: spec.prompt.clone(),
            budgets: spec.budgets.clone(),
            entries,
            state: AgentTurnState::Ready,
            output: None,
            repairs: 0,
            used: TurnUsage::usage_starting_at(started_at),
            said: Vec::new(),
            reasoned: Vec::new(),
            uses: BTreeMap::new(),
        }
    }

    /// Requires the final answer to be JSON of this schema.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// The next action. It stays the same until the turn receives an input.
    pub fn next_action(&self) -> NextTurnAction {
        match &self.state {
            // Budgets are checked only here, before a model call: pending calls are still made, and
            // existing text is still published.
            AgentTurnState::Ready => self
                .used
                .first_reached_limit(&self.budgets)
                .map_or(NextTurnAction::Ask, NextTurnAction::Limit),
            AgentTurnState::Calling(calls) => NextTurnAction::Call(calls.calls_without_result()),
            AgentTurnState::Judging(value) => NextTurnAction::Judge(value.clone()),
            AgentTurnState::Over(end) => end.clone(),
        }
    }

    /// The current conversation.
    pub fn conversation_entries(&self) -> &[ConversationEntry] {
        &self.entries
    }

    /// Texts of this turn's answers so far, oldest first; answers without text have none.
    pub fn answer_texts(&self) -> &[String] {
        &self.said
    }

    /// Whether this turn called a workflow.
    pub fn has_dispatched_workflow(&self) -> bool {
        self.uses.keys().any(|tool| tool.starts_with(DISPATCH_PREFIX))
    }

    /// The model's reasoning in this turn so far, if it provides it, oldest first.
    pub fn reasoning_texts(&self) -> &[String] {
        &self.reasoned
    }

    pub fn turn_usage(&self) -> &TurnUsage {
        &self.used
    }

    /// A rule requires this call. It is applied as if the model had made it, without a model call.
    pub fn apply_synthetic_call(&mut self, recorded: &RecordedModelCall) -> Result<(), TurnError> {
        if !matches!(self.state, AgentTurnState::Ready) {
            return Err(TurnError::NotAsked);
        }
        let place = ToolCallPosition { model_call: self.used.calls, index: 0 };
        self.used.count_synthetic_call(recorded);
        self.apply_answer_and_calls(&recorded.answer, place, usize::MAX);
        Ok(())
    }

    /// Applies the model's answer.
    pub fn apply_model_answer(&mut self, recorded: &RecordedModelCall) -> Result<(), TurnError> {
        if !matches!(self.state, AgentTurnState::Ready) {
            return Err(TurnError::NotAsked);
        }
        let answer = &recorded.answer;
        let place = ToolCallPosition { model_call: self.used.calls, index: 0 };
        // If a server does not count tokens, they are estimated. Otherwise a token budget would never
        // be reached.
        let entries = &self.entries;
        self.used.count_model_answer(recorded, || TokenUsage {
            input_tokens: history_compaction::estimate_conversation_tokens(entries),
            output_tokens: history_compaction::estimate_text_tokens(&answer.text),
            ..TokenUsage::default()
        });
        let left = self.budgets.tool_calls.saturating_sub(self.used.tool_calls);
        let room = ANSWER_CALLS_MAX.min(usize::try_from(left).unwrap_or(usize::MAX));
        let made = u32::try_from(answer.calls.len().min(room)).unwrap_or(u32::MAX);
        self.used.tool_calls = self.used.tool_calls.saturating_add(made);
        self.apply_answer_and_calls(answer, place, room);
        Ok(())
    }

    /// `room` is the number of its calls that are made; the model receives an error for the others.
    fn apply_answer_and_calls(&mut self, answer: &ModelAnswer, position: ToolCallPosition, max_calls: usize) {
        let calls = turn_record::calls_with_unique_ids(answer);
        if !answer.text.is_empty() {
            self.said.push(answer.text.clone());
        }
        if !answer.reasoning.is_empty() {
            self.reasoned.push(answer.reasoning.clone());
        }
        // Providers reject an empty entry.
        if !(answer.text.is_empty() && calls.is_empty()) {
            self.entries.push(ConversationEntry::Model { text: answer.text.clone(), calls: calls.clone() });
        }
        if calls.is_empty() {
            self.finish_without_calls(answer);
        } else {
            self.state =
                AgentTurnState::Calling(PendingToolCalls::new(position, calls, max_calls, &mut self.uses));
            self.collect_complete_results();
        }
    }

    /// Applies the result of a call. Results may arrive in any order.
    pub fn apply_call_result(&mut self, call: &str, result: ToolCallRecord) -> Result<(), TurnError> {
        let AgentTurnState::Calling(calls) = &mut self.state else {
            return Err(TurnError::NotWaiting { call: call.to_owned(), waiting: Vec::new() });
        };
        let (ended_at, waits) = (result.ended_at, result.waits.clone());
        calls.set_call_result(call, result)?;
        if let Some(moment) = ended_at {
            self.used.advance_latest_time_to(moment);
        }
        self.used.add_user_wait_periods(waits);
        self.collect_complete_results();
        Ok(())
    }

    /// The turn waited for people, but not in a call. This does not count as the turn's time.
    pub fn add_user_waits(&mut self, waits: impl IntoIterator<Item = UserWaitPeriod>) {
        self.used.add_user_wait_periods(waits);
    }

    /// Applies a compaction. Only before a request, never between calls and their results.
    pub fn apply_compaction(&mut self, compacted: &CompactedHistory) -> Result<(), TurnError> {
        if !matches!(self.state, AgentTurnState::Ready) {
            return Err(TurnError::NotAsked);
        }
        self.entries = history_compaction::compacted_entries(compacted);
        if let Some(usage) = &compacted.summary_usage {
            self.used.count_summary_call(usage);
        }
        if let Some(moment) = compacted.ended_at {
            self.used.advance_latest_time_to(moment);
        }
        Ok(())
    }

    /// Applies the problems of the value of [`NextTurnAction::Judge`]; without problems the turn is done.
    pub fn apply_output_validation(&mut self, problems: &[ValidationError]) -> Result<(), TurnError> {
        let AgentTurnState::Judging(value) = &self.state else {
            return Err(TurnError::NothingToJudge);
        };
        if problems.is_empty() {
            let text = self.said.last().cloned().unwrap_or_default();
            let output = Some(value.clone());
            self.state = AgentTurnState::Over(NextTurnAction::Done(TurnOutcome {
                text,
                output,
                ending: TurnEnding::Said,
            }));
        } else {
            self.request_output_repair(&output_repair::render_validation_problems(problems));
        }
        Ok(())
    }

    /// When all results have arrived, they become entries in the order of the calls, and the calls are
    /// no longer tracked.
    fn collect_complete_results(&mut self) {
        if let AgentTurnState::Calling(calls) = &mut self.state
            && let Some(results) = calls.take_results_if_complete()
        {
            self.entries.extend(results);
            self.state = AgentTurnState::Ready;
        }
    }

    /// An answer without calls ends the turn, unless it must be repaired.
    fn finish_without_calls(&mut self, answer: &ModelAnswer) {
        let ending = match answer.finish {
            FinishReason::Length => TurnEnding::Length,
            FinishReason::Filtered => TurnEnding::Filtered,
            FinishReason::Stop | FinishReason::Calls if self.said.is_empty() => TurnEnding::Silent,
            FinishReason::Stop | FinishReason::Calls => TurnEnding::Said,
        };
        if self.output.is_some() {
            return self.finish_with_parsed_output(answer, ending);
        }
        let text = self.said.last().cloned().unwrap_or_default();
        self.state = AgentTurnState::Over(NextTurnAction::Done(TurnOutcome { text, output: None, ending }));
    }

    fn finish_with_parsed_output(&mut self, answer: &ModelAnswer, ending: TurnEnding) {
        match ending {
            // A retry would end the same way.
            TurnEnding::Length | TurnEnding::Filtered => {
                let why = ending.ending_note_for_user().unwrap_or_default();
                self.state =
                    AgentTurnState::Over(NextTurnAction::Failed(format!("There is no output. {why}")));
            }
            TurnEnding::Said | TurnEnding::Silent => {
                match output_repair::parse_model_output_json(&answer.text) {
                    Ok(value) => self.state = AgentTurnState::Judging(value),
                    Err(why) => self.request_output_repair(&why),
                }
            }
        }
    }

    /// Sends the problems of its answer to the model for another attempt, a limited number of times.
    fn request_output_repair(&mut self, problems_text: &str) {
        if self.repairs == REPAIRS_MAX {
            let tries = REPAIRS_MAX + 1;
            let why =
                format!("The model's answer was not of the required form in {tries} tries: {problems_text}");
            self.state = AgentTurnState::Over(NextTurnAction::Failed(why));
            return;
        }
        self.repairs += 1;
        self.entries.push(ConversationEntry::User {
            pieces: vec![ContentPiece::Text(output_repair::output_repair_prompt(problems_text))],
        });
        self.state = AgentTurnState::Ready;
    }
}

#[cfg(test)]
mod tests;
