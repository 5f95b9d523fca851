//! The calls of one answer, until their results arrive.

use std::collections::BTreeMap;

use super::TurnError;
use crate::{
    ConversationEntry, ToolUse,
    turn_record::{self, ToolCallPosition, ToolCallRecord},
};

/// Longest part of an artifact's name that comes from a tool's name; models may make up any name.
/// Limit (Agents): tool name in an artifact's name.
const TOOL_CHARS_MAX: usize = 128;

/// A call that waits for its result.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingToolCall {
    pub call: ToolUse,
    /// Names its step: see [`Self::call_step_key`].
    pub position: ToolCallPosition,
    /// Which call of this tool in the turn it is, from 1.
    pub nth: u32,
}

impl PendingToolCall {
    /// The key of the step that is this call.
    pub fn call_step_key(&self) -> String {
        self.position.to_step_key(&self.call.tool)
    }

    /// Name and id of the artifact for this call: `tool-call-echo`. From the second call of the tool
    /// on, the id has a number: `tool-call-echo.2` (D4).
    pub fn call_artifact_name_and_id(&self, prefix: &str) -> (String, String) {
        let plain = |letter: char| if letter.is_control() { '_' } else { letter };
        let tool: String = self.call.tool.chars().take(TOOL_CHARS_MAX).map(plain).collect();
        // An id has a limit in bytes; the name of a real tool is far below it.
        let tool = if tool.len() > TOOL_CHARS_MAX { "unknown".to_owned() } else { tool };
        let name = format!("{prefix}-{tool}");
        let id = if self.nth == 1 { name.clone() } else { format!("{name}.{}", self.nth) };
        (name, id)
    }
}

/// The calls of one answer with the results that have arrived.
#[derive(Debug, Clone)]
pub(super) struct PendingToolCalls(Vec<(PendingToolCall, Option<ToolCallRecord>)>);

impl PendingToolCalls {
    /// `uses` counts the calls of each tool in the turn. Calls beyond `room` are not made.
    pub(super) fn new(
        first: ToolCallPosition,
        calls: Vec<ToolUse>,
        max_calls: usize,
        uses: &mut BTreeMap<String, u32>,
    ) -> Self {
        let tracked = calls.into_iter().enumerate().map(|(index, call)| {
            let nth = uses.entry(call.tool.clone()).or_default();
            *nth += 1;
            let left_out = (index >= max_calls).then(|| turn_record::call_left_out_record(max_calls));
            (PendingToolCall { call, position: ToolCallPosition { index, ..first }, nth: *nth }, left_out)
        });
        Self(tracked.collect())
    }

    pub(super) fn calls_without_result(&self) -> Vec<PendingToolCall> {
        let open = self.0.iter().filter(|(_, result)| result.is_none());
        open.map(|(waiting, _)| waiting.clone()).collect()
    }

    pub(super) fn set_call_result(&mut self, id: &str, record: ToolCallRecord) -> Result<(), TurnError> {
        let mut open = self.0.iter_mut().filter(|(_, result)| result.is_none());
        if let Some((_, result)) = open.find(|(waiting, _)| waiting.call.id == id) {
            *result = Some(record);
            return Ok(());
        }
        let waiting = self.calls_without_result().into_iter().map(|waiting| waiting.call.id).collect();
        Err(TurnError::NotWaiting { call: id.to_owned(), waiting })
    }

    /// The entries of all results, once all have arrived. After that nothing is tracked.
    pub(super) fn take_results_if_complete(&mut self) -> Option<Vec<ConversationEntry>> {
        if self.0.iter().any(|(_, result)| result.is_none()) {
            return None;
        }
        let done = self.0.drain(..).filter_map(|(waiting, result)| Some((waiting.call, result?)));
        Some(done.map(|(call, record)| to_result_entry(call, record)).collect())
    }
}

/// The entry of a result.
pub(crate) fn to_result_entry(call: ToolUse, record: ToolCallRecord) -> ConversationEntry {
    ConversationEntry::Result { call: call.id, tool: call.tool, pieces: record.pieces, failed: record.failed }
}
