//! Reads a stream of Messages: blocks that start, grow and end, and the end of the message.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ECHO;
use crate::{
    conversation::{Finish, Usage},
    provider::{
        Delta, ModelError,
        format::Reader,
        wire::{non_empty, parse, push_end, push_start, with_code},
    },
};

/// Transient errors inside a stream.
const PASSING: &[&str] = &["overloaded_error", "api_error", "rate_limit_error", "timeout_error"];

#[derive(Debug, Default)]
pub(super) struct MessageReader {
    started: bool,
    blocks: BTreeMap<u64, Block>,
    /// The block that started last; pieces without an index belong to it.
    newest: u64,
    /// Calls so far.
    calls: usize,
    /// Thoughts since the last call. The next call must be sent back after them.
    thoughts: Vec<Value>,
    finish: Option<Finish>,
    usage: Tokens,
}

/// Counts from the server. Cached tokens are counted in addition to the input.
#[derive(Debug, Default)]
struct Tokens {
    input: Option<u64>,
    written: u64,
    cached: u64,
    output: u64,
    thought: u64,
}

#[derive(Debug)]
enum Block {
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

impl Reader for MessageReader {
    fn event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let event = parse(data)?;
        match event["type"].as_str().unwrap_or(kind) {
            "message_start" => self.start(&event["message"], out),
            "content_block_start" => {
                self.newest = event["index"].as_u64().unwrap_or(self.newest);
                self.begin(&event["content_block"], out);
            }
            "content_block_delta" => self.grow(&event, out)?,
            "content_block_stop" => self.close(event["index"].as_u64().unwrap_or(self.newest), out),
            "message_delta" => {
                self.usage.learn(&event["usage"]);
                self.stop(&event["delta"]["stop_reason"]);
            }
            "message_stop" => return self.end(out),
            "message" => return self.whole(&event, out),
            "error" => return Err(failed(&event["error"])),
            // Pings, and events that later versions of the format add.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(finish) = self.finish else { return Err(ModelError::Truncated) };
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        for index in open {
            self.close(index, out);
        }
        push_end(finish, self.calls > 0, self.usage.counted(), out);
        Ok(())
    }
}

impl MessageReader {
    fn start(&mut self, message: &Value, out: &mut Vec<Delta>) {
        push_start(&mut self.started, &message["model"], out);
        self.usage.learn(&message["usage"]);
    }

    /// A server that does not stream sends the whole message.
    fn whole(&mut self, message: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        self.start(message, out);
        for block in message["content"].as_array().into_iter().flatten() {
            self.begin(block, out);
            self.close(self.newest, out);
        }
        self.stop(&message["stop_reason"]);
        self.end(out)
    }

    fn begin(&mut self, block: &Value, out: &mut Vec<Delta>) {
        // A server that gives every block the same index starts the next block this way.
        self.close(self.newest, out);
        let begun = match block["type"].as_str() {
            Some("text") => {
                push_text(&block["text"], out, Delta::Text);
                Block::Text
            }
            Some("thinking") => {
                push_text(&block["thinking"], out, Delta::Reasoning);
                let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
                Block::Thought { text: text("thinking"), signature: text("signature") }
            }
            Some("redacted_thinking") => {
                self.thoughts.push(block.clone());
                Block::Other
            }
            Some("tool_use") => {
                let slot = self.calls;
                self.calls += 1;
                let id = non_empty(&block["id"]).map(str::to_owned);
                let tool = block["name"].as_str().unwrap_or_default().to_owned();
                out.push(Delta::Call { slot, id, tool });
                if !self.thoughts.is_empty() {
                    let value = json!({ ECHO: std::mem::take(&mut self.thoughts) });
                    out.push(Delta::Echo { slot, value });
                }
                let input = &block["input"];
                let is_empty = input.is_null() || input.as_object().is_some_and(|it| it.is_empty());
                Block::Call { slot, input: (!is_empty).then(|| input.clone()) }
            }
            _ => Block::Other,
        };
        self.blocks.insert(self.newest, begun);
    }

    fn grow(&mut self, event: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let index = event["index"].as_u64().unwrap_or(self.newest);
        let delta = &event["delta"];
        match (delta["type"].as_str(), self.blocks.get_mut(&index)) {
            (Some("text_delta"), _) => push_text(&delta["text"], out, Delta::Text),
            (Some("thinking_delta"), block) => {
                push_text(&delta["thinking"], out, Delta::Reasoning);
                if let Some(Block::Thought { text, .. }) = block {
                    text.push_str(delta["thinking"].as_str().unwrap_or_default());
                }
            }
            (Some("signature_delta"), Some(Block::Thought { signature, .. })) => {
                signature.push_str(delta["signature"].as_str().unwrap_or_default());
            }
            (Some("input_json_delta"), Some(Block::Call { slot, input })) => {
                *input = None;
                let slot = *slot;
                push_text(&delta["partial_json"], out, |text| Delta::Arguments { slot, text });
            }
            (Some("input_json_delta"), None) => {
                let reason = "a piece of a call came before the call".to_owned();
                return Err(ModelError::Unreadable { reason });
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, index: u64, out: &mut Vec<Delta>) {
        match self.blocks.remove(&index) {
            // Without a signature the provider rejects it when it is sent back.
            Some(Block::Thought { text, signature }) if !signature.is_empty() => {
                let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
                self.thoughts.push(block);
            }
            Some(Block::Call { slot, input: Some(input) }) => {
                out.push(Delta::Arguments { slot, text: input.to_string() });
            }
            _ => {}
        }
    }

    fn stop(&mut self, reason: &Value) {
        let Some(reason) = reason.as_str() else { return };
        self.finish = Some(match reason {
            "tool_use" => Finish::Calls,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Filtered,
            _ => Finish::Stop,
        });
    }
}

impl Tokens {
    /// Counts cover the whole answer so far; a later count replaces an earlier one.
    fn learn(&mut self, usage: &Value) {
        let count = |key: &str| usage[key].as_u64();
        self.input = count("input_tokens").or(self.input);
        self.written = count("cache_creation_input_tokens").unwrap_or(self.written);
        self.cached = count("cache_read_input_tokens").unwrap_or(self.cached);
        self.output = count("output_tokens").unwrap_or(self.output);
        let thought = usage["output_tokens_details"]["thinking_tokens"].as_u64();
        self.thought = thought.unwrap_or(self.thought);
    }

    fn counted(&self) -> Option<Usage> {
        Some(Usage {
            input_tokens: self.input?.saturating_add(self.written).saturating_add(self.cached),
            output_tokens: self.output,
            cached_tokens: self.cached,
            reasoning_tokens: self.thought,
        })
    }
}

fn push_text(text: &Value, out: &mut Vec<Delta>, make: impl FnOnce(String) -> Delta) {
    out.extend(non_empty(text).map(|text| make(text.to_owned())));
}

fn failed(error: &Value) -> ModelError {
    let kind = error["type"].as_str().unwrap_or("error");
    let reason = with_code(error["message"].as_str().unwrap_or(kind), Some(kind));
    ModelError::Failed { reason, retryable: PASSING.contains(&kind) }
}
