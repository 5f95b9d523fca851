//! Reads a stream of Gemini's responses: each is a whole response with the next pieces, and the last
//! has a finish reason.

use serde_json::{Map, Value, json};

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

#[derive(Debug, Default)]
pub(super) struct GeminiStreamReader {
    started: bool,
    /// Calls so far.
    calls: usize,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
}

impl AnswerStreamReader for GeminiStreamReader {
    fn read_stream_event(&mut self, _kind: &str, data: &str, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        match parse_event_json(data)? {
            // Without `alt=sse` a stream is a list of responses.
            Value::Array(responses) => {
                responses.iter().try_for_each(|response| self.read_response_chunk(response, out))
            }
            response => self.read_response_chunk(&response, out),
        }
    }

    /// The format has no marker after the last response. A finish reason completes the answer, and the
    /// counts may come after it.
    fn finish_stream(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let Some(finish) = self.finish else { return Err(ModelError::Truncated) };
        push_end_deltas(finish, self.calls > 0, self.usage, out);
        Ok(())
    }
}

impl GeminiStreamReader {
    fn read_response_chunk(&mut self, response: &Value, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if let Some(error) = response.get("error") {
            return Err(parse_stream_error(error));
        }
        push_start_delta_once(&mut self.started, &response["modelVersion"], out);
        self.usage = parse_gemini_usage(&response["usageMetadata"]).or(self.usage);
        // The prompt was blocked: there is no candidate at all.
        if response["promptFeedback"]["blockReason"].is_string() {
            self.finish = Some(FinishReason::Filtered);
        }
        // Only one answer was requested.
        let candidate = &response["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.read_response_part(part, out);
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.finish = Some(parse_finish_reason(reason, &candidate["finishMessage"])?);
        }
        Ok(())
    }

    fn read_response_part(&mut self, part: &Value, out: &mut Vec<Delta>) {
        if let Some(text) = non_empty_str(&part["text"]) {
            let is_thought = part["thought"] == true;
            let make = if is_thought { Delta::Reasoning } else { Delta::Text };
            out.push(make(text.to_owned()));
        }
        let Some(call) = part.get("functionCall") else { return };
        let slot = self.calls;
        self.calls += 1;
        let id = non_empty_str(&call["id"]);
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

fn parse_finish_reason(reason: &str, message: &Value) -> Result<FinishReason, ModelError> {
    Ok(match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::Filtered,
        // The model's output went wrong, usually in a call. A retry usually works.
        other => {
            let message = message.as_str().map(|it| format!(": {it}")).unwrap_or_default();
            let reason = format!("it stopped with {other}{message}");
            return Err(ModelError::Failed { reason, retryable: true });
        }
    })
}

/// Counts cover the whole answer so far. Thoughts are counted separately from the text.
fn parse_gemini_usage(usage: &Value) -> Option<TokenUsage> {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    usage.is_object().then(|| TokenUsage {
        input_tokens: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        output_tokens: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
        cached_tokens: count("cachedContentTokenCount"),
        reasoning_tokens: count("thoughtsTokenCount"),
    })
}

fn parse_stream_error(error: &Value) -> ModelError {
    let status = error["status"].as_str().unwrap_or_default();
    let code = error["code"].as_u64().unwrap_or(0);
    let passing = ["RESOURCE_EXHAUSTED", "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED"];
    let message = error["message"].as_str().unwrap_or("it gave no reason");
    let reason = error_message_with_code(message, non_empty_str(&error["status"]));
    let retryable = passing.contains(&status) || matches!(code, 408 | 429 | 500..=599);
    ModelError::Failed { reason, retryable }
}
