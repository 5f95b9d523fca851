//! A stream of the chat format, read as leniently as servers write it.

use serde_json::{Value, json};

use super::body::ECHO;
use crate::{
    conversation::{Finish, Usage},
    provider::{
        Delta, ModelError,
        calls::{CallPiece, OpenCalls},
        complaint::failed,
        format::Reader,
    },
};

/// Fields of a call that a server wants to see again with it: Google's signature of a thought.
const EXTRA: &str = "extra_content";

#[derive(Debug, Default)]
pub(super) struct ChatReader {
    started: bool,
    calls: OpenCalls,
    finish: Option<Finish>,
    usage: Option<Usage>,
    /// `[DONE]` was sent.
    done: bool,
}

impl Reader for ChatReader {
    fn event(&mut self, kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return self.end(out);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| ModelError::Unreadable { reason: error.to_string() })?;
        let complains = !chunk["error"].is_null() || chunk["object"] == "error";
        if complains || kind == "error" {
            return Err(failed(&chunk));
        }
        if !self.started {
            self.started = true;
            let model = chunk["model"].as_str().filter(|model| !model.is_empty());
            out.push(Delta::Start { model: model.map(str::to_owned) });
        }
        self.usage = usage(&chunk["usage"]).or(self.usage);
        // One answer was asked for.
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
        let finish = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty());
        self.finish = finish.map(finished).or(self.finish);
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if self.finish.is_none() && !self.done {
            return Err(ModelError::Truncated);
        }
        self.calls.close(out);
        let finish = self.finish.unwrap_or(Finish::Stop);
        let called = finish == Finish::Stop && !self.calls.is_empty();
        out.push(Delta::End(if called { Finish::Calls } else { finish }));
        out.extend(self.usage.map(Delta::Usage));
        out.push(Delta::Done);
        Ok(())
    }
}

impl ChatReader {
    fn call(&mut self, call: &Value, out: &mut Vec<Delta>) {
        let arguments = match &call["function"]["arguments"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
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
        // Servers have words of their own for an ordinary end.
        _ => Finish::Stop,
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    Some(Usage {
        input_tokens: usage["prompt_tokens"].as_u64()?,
        output_tokens: usage["completion_tokens"].as_u64().unwrap_or(0),
        cached_tokens: usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
        reasoning_tokens: usage["completion_tokens_details"]["reasoning_tokens"]
            .as_u64()
            .unwrap_or(0),
    })
}
