//! Reads a stream of Messages: blocks that start, grow and end, and the end of the message.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ECHO;
use crate::{
    conversation::{FinishReason, TokenUsage},
    provider::{
        Delta, ModelError,
        format_helpers::{
            error_message_with_code, non_empty_str, parse_event_json, push_end_deltas, push_start_delta_once,
        },
        provider_format::AnswerStreamReader,
    },
};

/// Transient errors inside a stream.
const PASSING: &[&str] = &["overloaded_error", "api_error", "rate_limit_error", "timeout_error"];

#[derive(Debug, Default)]
pub(super) struct MessagesStreamReader {
    started: bool,
    blocks: BTreeMap<u64, OpenContentBlock>,
    /// The block that started last; pieces without an index belong to it.
    newest: u64,
    /// Calls so far.
    calls: usize,
    /// Thoughts since the last call. The next call must be sent back after them.
    thoughts: Vec<Value>,
    finish: Option<FinishReason>,
    usage: ReportedTokenCounts,
}

/// Counts from the server. Cached tokens are counted in addition to the input.
#[derive(Debug, Default)]
struct ReportedTokenCounts {
    input: Option<u64>,
    written: u64,
    cached: u64,
    output: u64,
    thought: u64,
}

#[derive(Debug)]
enum OpenContentBlock {
    Text,
    Thought {
        text: String,
        signature: String,
    },
    /// A call, and its input if the input came with the start of the block and no piece followed.
    Call {
        slot: usize,
        input: Option<Value>,
    },
    /// A kind of block that we did not request.
    Other,
}

impl AnswerStreamReader for MessagesStreamReader {
    fn read_stream_event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let event = parse_event_json(data)?;
        match event["type"].as_str().unwrap_or(kind) {
            "message_start" => self.begin_message(&event["message"], out),
            "content_block_start" => {
                self.newest = event["index"].as_u64().unwrap_or(self.newest);
                self.begin_content_block(&event["content_block"], out);
            }
            "content_block_delta" => self.extend_content_block(&event, out)?,
            "content_block_stop" => {
                self.close_content_block(event["index"].as_u64().unwrap_or(self.newest), out)
            }
            "message_delta" => {
                self.usage.update_token_counts(&event["usage"]);
                self.set_finish_reason(&event["delta"]["stop_reason"]);
            }
            "message_stop" => return self.finish_stream(out),
            "message" => return self.read_unstreamed_message(&event, out),
            "error" => return Err(parse_stream_error(&event["error"])),
            // Pings, and events that later versions of the format add.
            _ => {}
        }
        Ok(())
    }

    fn finish_stream(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(finish) = self.finish else { return Err(ModelError::Truncated) };
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        for index in open {
            self.close_content_block(index, out);
        }
        push_end_deltas(finish, self.calls > 0, self.usage.to_token_usage(), out);
        Ok(())
    }
}

impl MessagesStreamReader {
    fn begin_message(&mut self, message: &Value, out: &mut Vec<Delta>) {
        push_start_delta_once(&mut self.started, &message["model"], out);
        self.usage.update_token_counts(&message["usage"]);
    }

    /// A server that does not stream sends the whole message.
    fn read_unstreamed_message(&mut self, message: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        self.begin_message(message, out);
        for block in message["content"].as_array().into_iter().flatten() {
            self.begin_content_block(block, out);
            self.close_content_block(self.newest, out);
        }
        self.set_finish_reason(&message["stop_reason"]);
        self.finish_stream(out)
    }

    fn begin_content_block(&mut self, block: &Value, out: &mut Vec<Delta>) {
        // A server that gives every block the same index starts the next block this way.
        self.close_content_block(self.newest, out);
        let begun = match block["type"].as_str() {
            Some("text") => {
                push_delta_unless_empty(&block["text"], out, Delta::Text);
                OpenContentBlock::Text
            }
            Some("thinking") => {
                push_delta_unless_empty(&block["thinking"], out, Delta::Reasoning);
                let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
                OpenContentBlock::Thought { text: text("thinking"), signature: text("signature") }
            }
            Some("redacted_thinking") => {
                self.thoughts.push(block.clone());
                OpenContentBlock::Other
            }
            Some("tool_use") => {
                let slot = self.calls;
                self.calls += 1;
                let id = non_empty_str(&block["id"]).map(str::to_owned);
                let tool = block["name"].as_str().unwrap_or_default().to_owned();
                out.push(Delta::Call { slot, id, tool });
                if !self.thoughts.is_empty() {
                    let value = json!({ ECHO: std::mem::take(&mut self.thoughts) });
                    out.push(Delta::Echo { slot, value });
                }
                let input = &block["input"];
                let is_empty = input.is_null() || input.as_object().is_some_and(|it| it.is_empty());
                OpenContentBlock::Call { slot, input: (!is_empty).then(|| input.clone()) }
            }
            _ => OpenContentBlock::Other,
        };
        self.blocks.insert(self.newest, begun);
    }

    fn extend_content_block(&mut self, event: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let index = event["index"].as_u64().unwrap_or(self.newest);
        let delta = &event["delta"];
        match (delta["type"].as_str(), self.blocks.get_mut(&index)) {
            (Some("text_delta"), _) => push_delta_unless_empty(&delta["text"], out, Delta::Text),
            (Some("thinking_delta"), block) => {
                push_delta_unless_empty(&delta["thinking"], out, Delta::Reasoning);
                if let Some(OpenContentBlock::Thought { text, .. }) = block {
                    text.push_str(delta["thinking"].as_str().unwrap_or_default());
                }
            }
            (Some("signature_delta"), Some(OpenContentBlock::Thought { signature, .. })) => {
                signature.push_str(delta["signature"].as_str().unwrap_or_default());
            }
            (Some("input_json_delta"), Some(OpenContentBlock::Call { slot, input })) => {
                *input = None;
                let slot = *slot;
                push_delta_unless_empty(&delta["partial_json"], out, |text| Delta::Arguments { slot, text });
            }
            (Some("input_json_delta"), None) => {
                let reason = "a piece of a call came before the call".to_owned();
                return Err(ModelError::Unreadable { reason });
            }
            _ => {}
        }
        Ok(())
    }

    fn close_content_block(&mut self, index: u64, out: &mut Vec<Delta>) {
        match self.blocks.remove(&index) {
            // Without a signature the provider rejects it when it is sent back.
            Some(OpenContentBlock::Thought { text, signature }) if !signature.is_empty() => {
                let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
                self.thoughts.push(block);
            }
            Some(OpenContentBlock::Call { slot, input: Some(input) }) => {
                out.push(Delta::Arguments { slot, text: input.to_string() });
            }
            _ => {}
        }
    }

    fn set_finish_reason(&mut self, reason: &Value) {
        let Some(reason) = reason.as_str() else { return };
        self.finish = Some(match reason {
            "tool_use" => FinishReason::Calls,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "refusal" => FinishReason::Filtered,
            _ => FinishReason::Stop,
        });
    }
}

impl ReportedTokenCounts {
    /// Counts cover the whole answer so far; a later count replaces an earlier one.
    fn update_token_counts(&mut self, usage: &Value) {
        let count = |key: &str| usage[key].as_u64();
        self.input = count("input_tokens").or(self.input);
        self.written = count("cache_creation_input_tokens").unwrap_or(self.written);
        self.cached = count("cache_read_input_tokens").unwrap_or(self.cached);
        self.output = count("output_tokens").unwrap_or(self.output);
        let thought = usage["output_tokens_details"]["thinking_tokens"].as_u64();
        self.thought = thought.unwrap_or(self.thought);
    }

    fn to_token_usage(&self) -> Option<TokenUsage> {
        Some(TokenUsage {
            input_tokens: self.input?.saturating_add(self.written).saturating_add(self.cached),
            output_tokens: self.output,
            cached_tokens: self.cached,
            reasoning_tokens: self.thought,
        })
    }
}

fn push_delta_unless_empty(text: &Value, out: &mut Vec<Delta>, make: impl FnOnce(String) -> Delta) {
    out.extend(non_empty_str(text).map(|text| make(text.to_owned())));
}

fn parse_stream_error(error: &Value) -> ModelError {
    let kind = error["type"].as_str().unwrap_or("error");
    let reason = error_message_with_code(error["message"].as_str().unwrap_or(kind), Some(kind));
    ModelError::Failed { reason, retryable: PASSING.contains(&kind) }
}
