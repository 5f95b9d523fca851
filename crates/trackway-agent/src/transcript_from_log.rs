//! The conversation of a turn: a pure projection of the events in its log.
//!
//! The conversation is valid for a model in every state of the turn: every call has a result, and the
//! turn ends with an entry of the model. A turn that was cancelled, failed or is still running has a
//! note in place of the missing part.

use std::collections::BTreeMap;

use serde_json::Value;
use trackway_domain::{Event, MessageRole, OpKind, Seq, StepOutcome};

use crate::{
    ConversationEntry, content_pieces, history_compaction, turn,
    turn_record::{
        self, COMPACT_KEY, CompactedHistory, MODEL_KEY, RecordedModelCall, ToolCallPosition, ToolCallRecord,
    },
};

/// The conversation with one more turn: `earlier`, then the entries of this turn's log up to `upto`
/// (the first event has number 1). A compaction in the log replaces everything before it.
pub fn append_turn_from_log(
    earlier: Vec<ConversationEntry>,
    log: &[Event],
    last_seq: Seq,
) -> Vec<ConversationEntry> {
    let upto = usize::try_from(last_seq).unwrap_or(usize::MAX).min(log.len());
    let log = &log[..upto];
    let results = tool_results_by_position(log);
    let end = LoggedTurnEnd::turn_end_from_log(log);
    let mut said =
        TranscriptBuilder { entries: earlier, answered: false, results, missing: end.missing_result_text() };
    for event in log {
        said.apply_log_event(event);
    }
    said.close_with_model_entry(&end);
    said.entries
}

/// Whether this log has a compaction, so that turns before it need not be read.
pub(crate) fn log_has_compaction(log: &[Event]) -> bool {
    log.iter().any(|event| compaction_from_event(event).is_some())
}

/// How the turn ended.
enum LoggedTurnEnd<'a> {
    Open,
    Completed(&'a Value),
    Failed(&'a str),
    Canceled,
    Rejected(&'a str),
}

impl<'a> LoggedTurnEnd<'a> {
    fn turn_end_from_log(log: &'a [Event]) -> Self {
        let end = log.iter().rev().find_map(|event| match event {
            Event::Completed { output, .. } => Some(Self::Completed(output)),
            Event::Failed { failure, .. } => Some(Self::Failed(&failure.message)),
            Event::Canceled => Some(Self::Canceled),
            Event::Rejected { reason, .. } => Some(Self::Rejected(reason)),
            _ => None,
        });
        end.unwrap_or(Self::Open)
    }

    /// The result of a call that has none.
    fn missing_result_text(&self) -> &'static str {
        match self {
            Self::Open => "(no result yet)",
            Self::Completed(_) | Self::Failed(_) | Self::Rejected(_) => {
                "(the turn ended before there was a result)"
            }
            Self::Canceled => "(cancelled)",
        }
    }

    /// The model's last entry, if it has none of its own.
    fn closing_model_text(&self) -> String {
        match self {
            Self::Open => "(This turn has not ended yet.)".to_owned(),
            Self::Completed(output) => {
                let text = output.get("text").and_then(Value::as_str).unwrap_or_default();
                let text = text.trim();
                if text.is_empty() { "(no answer)".to_owned() } else { text.to_owned() }
            }
            Self::Failed(why) => format!("(This turn failed: {why})"),
            Self::Canceled => "(This turn was cancelled.)".to_owned(),
            Self::Rejected(why) => format!("(This turn was rejected: {why})"),
        }
    }
}

/// The results of calls, by the position of the call.
fn tool_results_by_position(log: &[Event]) -> BTreeMap<ToolCallPosition, ToolCallRecord> {
    let one = |event: &Event| match event {
        Event::StepDone { op, outcome } if op.kind == OpKind::Step => Some((
            ToolCallPosition::position_from_step_key(&op.key)?,
            ToolCallRecord::record_from_step_outcome(outcome),
        )),
        _ => None,
    };
    log.iter().filter_map(one).collect()
}

fn compaction_from_event(event: &Event) -> Option<CompactedHistory> {
    let Event::StepDone { op, outcome: StepOutcome::Ok(value) } = event else { return None };
    let is_one = op.kind == OpKind::Step && *op.key == *COMPACT_KEY;
    is_one.then(|| CompactedHistory::from_value(value).ok())?
}

/// The conversation while it is built.
struct TranscriptBuilder {
    entries: Vec<ConversationEntry>,
    /// The last answer of this turn, if it made no calls, is the model's last entry.
    answered: bool,
    results: BTreeMap<ToolCallPosition, ToolCallRecord>,
    missing: &'static str,
}

impl TranscriptBuilder {
    fn apply_log_event(&mut self, event: &Event) {
        match event {
            Event::Submitted(submission) => {
                let message = submission.message.as_ref();
                let pieces = content_pieces::pieces_from_user_input(message, &submission.input);
                self.entries.push(ConversationEntry::User { pieces });
            }
            // A message to a turn that had not asked. The model did not receive it then and receives it
            // now.
            Event::Noted { message } if message.role == MessageRole::User => {
                self.entries
                    .push(ConversationEntry::User { pieces: content_pieces::pieces_from_message(message) });
            }
            Event::StepDone { op, outcome: StepOutcome::Ok(value) }
                if op.kind == OpKind::Step && *op.key == *MODEL_KEY =>
            {
                if let Ok(recorded) = RecordedModelCall::from_value(value) {
                    self.push_answer_and_results(op.occurrence, &recorded);
                }
            }
            event => {
                if let Some(compacted) = compaction_from_event(event) {
                    self.entries = history_compaction::compacted_entries(&compacted);
                }
            }
        }
    }

    fn push_answer_and_results(&mut self, model_call: u32, recorded: &RecordedModelCall) {
        let calls = turn_record::calls_with_unique_ids(&recorded.answer);
        let text = recorded.answer.text.clone();
        if text.is_empty() && calls.is_empty() {
            return;
        }
        // Two answers in a row: the first was sent back for a repair and is not part of the
        // conversation.
        if let Some(ConversationEntry::Model { calls, .. }) = self.entries.last()
            && calls.is_empty()
            && self.answered
        {
            self.entries.pop();
        }
        self.answered = calls.is_empty();
        self.entries.push(ConversationEntry::Model { text, calls: calls.clone() });
        for (index, call) in calls.into_iter().enumerate() {
            let known = self.results.remove(&ToolCallPosition { model_call, index });
            let known = known.or_else(|| turn_record::broken_arguments_record(&call)).or_else(|| {
                (index >= turn_record::ANSWER_CALLS_MAX)
                    .then(|| turn_record::call_left_out_record(turn_record::ANSWER_CALLS_MAX))
            });
            let record = known.unwrap_or_else(|| ToolCallRecord::failed_call_with_reason(self.missing));
            self.entries.push(turn::result_entry(call, record));
        }
    }

    /// Ends with an entry of the model.
    fn close_with_model_entry(&mut self, end: &LoggedTurnEnd<'_>) {
        if self.answered || matches!(self.entries.last(), Some(ConversationEntry::Model { .. }) | None) {
            return;
        }
        self.entries.push(ConversationEntry::Model { text: end.closing_model_text(), calls: Vec::new() });
    }
}

#[cfg(test)]
mod tests;
