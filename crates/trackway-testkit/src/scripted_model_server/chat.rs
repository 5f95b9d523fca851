//! Answers in OpenAI's chat format, as its own servers stream them.

use serde_json::{Value, json};

use super::ScriptedReply;

/// The model that answers.
const MODEL: &str = "scripted-1";

/// Text first, then calls, then the end with its usage.
#[derive(Debug, Clone, Default)]
pub struct ScriptedChatReply {
    deltas: Vec<Value>,
    calls: usize,
    finish: Option<String>,
    usage: Option<(u64, u64)>,
}

impl ScriptedChatReply {
    /// The model's text, streamed word by word.
    #[must_use]
    pub fn with_text(mut self, text: &str) -> Self {
        let words = text.split_inclusive(' ');
        self.deltas.extend(words.map(|word| json!({"content": word})));
        self
    }

    /// The model's reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, text: &str) -> Self {
        self.deltas.push(json!({"reasoning_content": text}));
        self
    }

    /// The model calls tools: id, tool, and the text of its arguments, which comes in two pieces.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: &[(&str, &str, &str)]) -> Self {
        for (id, tool, arguments) in calls {
            let index = self.calls;
            self.calls += 1;
            let function = json!({"name": tool, "arguments": ""});
            let call = json!({"index": index, "id": id, "type": "function", "function": function});
            self.deltas.push(json!({"tool_calls": [call]}));
            let middle = arguments.char_indices().nth(arguments.chars().count() / 2);
            let (left, right) = arguments.split_at(middle.map_or(0, |(at, _)| at));
            for piece in [left, right] {
                let piece = json!({"index": index, "function": {"arguments": piece}});
                self.deltas.push(json!({"tool_calls": [piece]}));
            }
        }
        self
    }

    /// Why it stopped; by default `tool_calls` or `stop`.
    #[must_use]
    pub fn with_finish_reason(self, reason: &str) -> Self {
        Self { finish: Some(reason.to_owned()), ..self }
    }

    /// Tokens in and out; by default 10 and 5.
    #[must_use]
    pub fn with_usage(self, input: u64, output: u64) -> Self {
        Self { usage: Some((input, output)), ..self }
    }

    /// The events without the end: for answers that break off or wait.
    pub fn to_unfinished_reply(&self) -> ScriptedReply {
        let reply = ScriptedReply::event_stream()
            .send_data_event(chat_chunk(&json!({"role": "assistant"}), &Value::Null));
        self.deltas.iter().fold(reply, |reply, delta| reply.send_data_event(chat_chunk(delta, &Value::Null)))
    }

    /// Adds the end of this answer to a reply that has sent and waited so far.
    pub fn append_finish(&self, reply: ScriptedReply) -> ScriptedReply {
        let ordinary = if self.calls > 0 { "tool_calls" } else { "stop" };
        let finish = self.finish.as_deref().unwrap_or(ordinary);
        let (input, output) = self.usage.unwrap_or((10, 5));
        let usage = json!({
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input + output,
        });
        let last = json!({
            "id": "answer", "object": "chat.completion.chunk", "model": MODEL,
            "choices": [], "usage": usage,
        });
        reply
            .send_data_event(chat_chunk(&json!({}), &finish.into()))
            .send_data_event(last)
            .send_data_event("[DONE]")
    }
}

impl From<ScriptedChatReply> for ScriptedReply {
    fn from(chat: ScriptedChatReply) -> Self {
        chat.append_finish(chat.to_unfinished_reply())
    }
}

fn chat_chunk(delta: &Value, finish: &Value) -> Value {
    json!({
        "id": "answer",
        "object": "chat.completion.chunk",
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}
