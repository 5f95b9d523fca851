//! Reads a stream of Gemini's responses: each is a whole response with the next pieces, and the last
//! has a finish reason.

use serde_json::{Map, Value, json};

use super::ECHO;
use crate::{
    conversation::{Finish, Usage},
    provider::{
        Delta, ModelError,
        format::Reader,
        wire::{non_empty, parse, push_end, push_start, with_code},
    },
};

#[derive(Debug, Default)]
pub(super) struct ContentReader {
    started: bool,
    /// Calls so far.
    calls: usize,
    finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Reader for ContentReader {
    fn event(&mut self, _kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        match parse(data)? {
            // Without `alt=sse` a stream is a list of responses.
            Value::Array(responses) => {
                responses.iter().try_for_each(|response| self.response(response, out))
            }
            response => self.response(&response, out),
        }
    }

    /// The format has no marker after the last response. A finish reason completes the answer, and the
    /// counts may come after it.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(finish) = self.finish else { return Err(ModelError::Truncated) };
        push_end(finish, self.calls > 0, self.usage, out);
        Ok(())
    }
}

impl ContentReader {
    fn response(&mut self, response: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Some(error) = response.get("error") {
            return Err(failed(error));
        }
        push_start(&mut self.started, &response["modelVersion"], out);
        self.usage = usage(&response["usageMetadata"]).or(self.usage);
        // The prompt was blocked: there is no candidate at all.
        if response["promptFeedback"]["blockReason"].is_string() {
            self.finish = Some(Finish::Filtered);
        }
        // Only one answer was requested.
        let candidate = &response["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, out);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.finish = Some(finished(reason, &candidate["finishMessage"])?);
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, out: &mut Vec<Delta>) {
        if let Some(text) = non_empty(&part["text"]) {
            let is_thought = part["thought"] == true;
            let make = if is_thought { Delta::Reasoning } else { Delta::Text };
            out.push(make(text.to_owned()));
        }
        let Some(call) = part.get("functionCall") else { return };
        let slot = self.calls;
        self.calls += 1;
        let id = non_empty(&call["id"]);
        let tool = call["name"].as_str().unwrap_or_default().to_owned();
        out.push(Delta::Call { slot, id: id.map(str::to_owned), tool });
        let arguments = match &call["args"] {
            // Calls arrive complete: a call without arguments was not cut off.
            Value::Null => "{}".to_owned(),
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        if !arguments.is_empty() {
            out.push(Delta::Arguments { slot, text: arguments });
        }
        let mut echo = Map::new();
        echo.extend(id.map(|id| ("id".to_owned(), json!(id))));
        let signature = ["thoughtSignature", "thought_signature"].into_iter();
        let signature = signature.filter_map(|key| part.get(key)).next();
        echo.extend(signature.map(|it| ("thoughtSignature".to_owned(), it.clone())));
        if !echo.is_empty() {
            out.push(Delta::Echo { slot, value: json!({ ECHO: echo }) });
        }
    }
}

fn finished(reason: &str, message: &Value) -> Result<Finish, ModelError> {
    Ok(match reason {
        "STOP" => Finish::Stop,
        "MAX_TOKENS" => Finish::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Finish::Filtered,
        // The model's output went wrong, usually in a call. A retry usually works.
        other => {
            let message = message.as_str().map(|it| format!(": {it}")).unwrap_or_default();
            let reason = format!("it stopped with {other}{message}");
            return Err(ModelError::Failed { reason, retryable: true });
        }
    })
}

/// Counts cover the whole answer so far. Thoughts are counted separately from the text.
fn usage(usage: &Value) -> Option<Usage> {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    usage.is_object().then(|| Usage {
        input_tokens: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        output_tokens: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
        cached_tokens: count("cachedContentTokenCount"),
        reasoning_tokens: count("thoughtsTokenCount"),
    })
}

fn failed(error: &Value) -> ModelError {
    let status = error["status"].as_str().unwrap_or_default();
    let code = error["code"].as_u64().unwrap_or(0);
    let passing = ["RESOURCE_EXHAUSTED", "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED"];
    let message = error["message"].as_str().unwrap_or("it gave no reason");
    let reason = with_code(message, non_empty(&error["status"]));
    let retryable = passing.contains(&status) || matches!(code, 408 | 429 | 500..=599);
    ModelError::Failed { reason, retryable }
}
