//! Reads a stream of the chat format, tolerant of the differences between servers.

use serde_json::{Value, json};

use super::chat_request_body::ECHO;
use crate::{
    conversation::{FinishReason, TokenUsage},
    provider::{
        Delta, ModelError,
        call_assembler::{ToolCallAssembler, ToolCallFragment},
        format_helpers::{
            arguments_json_to_text, non_empty_str, parse_event_json, parse_stream_error, parse_token_usage,
            push_end_deltas, push_start_delta_once,
        },
        provider_format::AnswerStreamReader,
    },
};

/// Where the counts are.
const COUNTS: [&str; 4] = [
    "/prompt_tokens",
    "/completion_tokens",
    "/prompt_tokens_details/cached_tokens",
    "/completion_tokens_details/reasoning_tokens",
];

/// Fields of a call that a server expects back with it, such as Google's signature of a thought.
const EXTRA: &str = "extra_content";

#[derive(Debug, Default)]
pub(super) struct ChatStreamReader {
    started: bool,
    calls: ToolCallAssembler,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
}

impl AnswerStreamReader for ChatStreamReader {
    fn read_stream_event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.finish.get_or_insert(FinishReason::Stop);
            return self.finish_stream(out);
        }
        let chunk = parse_event_json(data)?;
        let complains = !chunk["error"].is_null() || chunk["object"] == "error";
        if complains || kind == "error" {
            return Err(parse_stream_error(&chunk));
        }
        push_start_delta_once(&mut self.started, &chunk["model"], out);
        self.usage = parse_token_usage(&chunk["usage"], COUNTS).or(self.usage);
        // Only one answer was requested.
        let choice = &chunk["choices"][0];
        // A server that does not stream sends the whole message.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let reasoning = [&delta["reasoning_content"], &delta["reasoning"]];
        if let Some(text) = reasoning.into_iter().find_map(text_of_content) {
            out.push(Delta::Reasoning(text));
        }
        out.extend(
            [&delta["content"], &delta["refusal"]].into_iter().filter_map(text_of_content).map(Delta::Text),
        );
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.read_tool_call(call, out);
        }
        self.finish = non_empty_str(&choice["finish_reason"]).map(parse_finish_reason).or(self.finish);
        Ok(())
    }

    fn finish_stream(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(finish) = self.finish else { return Err(ModelError::Truncated) };
        self.calls.emit_unnamed_calls(out);
        push_end_deltas(finish, !self.calls.has_no_calls(), self.usage, out);
        Ok(())
    }
}

impl ChatStreamReader {
    fn read_tool_call(&mut self, call: &Value, out: &mut Vec<Delta>) {
        let arguments = arguments_json_to_text(&call["function"]["arguments"]);
        let id = call["id"].as_str();
        let piece = ToolCallFragment {
            key: id,
            index: call["index"].as_u64(),
            id,
            tool: call["function"]["name"].as_str(),
            arguments: &arguments,
        };
        let slot = self.calls.push_call_fragment(piece, out);
        if let Some(extra) = call.get(EXTRA) {
            out.push(Delta::Echo { slot, value: json!({ECHO: {EXTRA: extra}}) });
        }
    }
}

/// Text, or a list of parts of it.
fn text_of_content(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason {
        "tool_calls" | "function_call" => FinishReason::Calls,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::Filtered,
        // Servers use different words for a normal end.
        _ => FinishReason::Stop,
    }
}
