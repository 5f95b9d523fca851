//! Reads a stream of the chat format, tolerant of the differences between servers.

use serde_json::{Value, json};

use super::body::ECHO;
use crate::{
    conversation::{Finish, Usage},
    provider::{
        Delta, ModelError,
        calls::{CallPiece, OpenCalls},
        format::Reader,
        wire::{argument_text, failed, non_empty, parse, push_end, push_start, usage},
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
pub(super) struct ChatReader {
    started: bool,
    calls: OpenCalls,
    finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Reader for ChatReader {
    fn event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.finish.get_or_insert(Finish::Stop);
            return self.end(out);
        }
        let chunk = parse(data)?;
        let complains = !chunk["error"].is_null() || chunk["object"] == "error";
        if complains || kind == "error" {
            return Err(failed(&chunk));
        }
        push_start(&mut self.started, &chunk["model"], out);
        self.usage = usage(&chunk["usage"], COUNTS).or(self.usage);
        // Only one answer was requested.
        let choice = &chunk["choices"][0];
        // A server that does not stream sends the whole message.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let reasoning = [&delta["reasoning_content"], &delta["reasoning"]];
        if let Some(text) = reasoning.into_iter().find_map(words) {
            out.push(Delta::Reasoning(text));
        }
        out.extend(
            [&delta["content"], &delta["refusal"]].into_iter().filter_map(words).map(Delta::Text),
        );
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, out);
        }
        self.finish = non_empty(&choice["finish_reason"]).map(finished).or(self.finish);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(finish) = self.finish else { return Err(ModelError::Truncated) };
        self.calls.close(out);
        push_end(finish, !self.calls.is_empty(), self.usage, out);
        Ok(())
    }
}

impl ChatReader {
    fn call(&mut self, call: &Value, out: &mut Vec<Delta>) {
        let arguments = argument_text(&call["function"]["arguments"]);
        let id = call["id"].as_str();
        let piece = CallPiece {
            key: id,
            index: call["index"].as_u64(),
            id,
            tool: call["function"]["name"].as_str(),
            arguments: &arguments,
        };
        let slot = self.calls.piece(piece, out);
        if let Some(extra) = call.get(EXTRA) {
            out.push(Delta::Echo { slot, value: json!({ECHO: {EXTRA: extra}}) });
        }
    }
}

/// Text, or a list of parts of it.
fn words(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn finished(reason: &str) -> Finish {
    match reason {
        "tool_calls" | "function_call" => Finish::Calls,
        "length" => Finish::Length,
        "content_filter" => Finish::Filtered,
        // Servers use different words for a normal end.
        _ => Finish::Stop,
    }
}
