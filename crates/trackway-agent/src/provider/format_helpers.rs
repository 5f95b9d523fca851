//! Parts of requests and answers that several formats share.

use serde_json::{Map, Value, json};

use super::{Delta, ModelError};
use crate::conversation::{FinishReason, TokenUsage, ToolArguments};

/// An object of these fields. The fields are moved, while `json!` would copy them: schemas are long,
/// and are part of every model call.
pub(super) fn json_object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(fields.collect::<Map<_, _>>())
}

/// A tool's schema with `type` and `properties`. Servers reject tools without them, although a valid
/// schema may lack both.
pub(super) fn tool_parameters_schema(schema: &Value) -> Value {
    let mut written = if schema.is_object() { schema.clone() } else { json!({}) };
    if let Some(fields) = written.as_object_mut() {
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| json!({}));
    }
    written
}

/// Arguments for formats that accept only an object. The model has already received an error for other
/// values.
pub(super) fn arguments_as_object(arguments: &ToolArguments) -> Value {
    match arguments {
        ToolArguments::Json(value @ Value::Object(_)) => value.clone(),
        other => json!({ "unreadable": other.arguments_to_value() }),
    }
}

/// Arguments for formats that use text. Servers parse the arguments of earlier calls, and fail on
/// invalid JSON.
pub(super) fn arguments_as_text(arguments: &ToolArguments) -> String {
    match arguments {
        ToolArguments::Json(value) => value.to_string(),
        ToolArguments::Broken { text, .. } => json!({ "not_json": text }).to_string(),
    }
}

/// Messages of alternating roles, for formats that reject others.
#[derive(Default)]
pub(super) struct AlternatingRoleMessages(Vec<(&'static str, Vec<Value>)>);

impl AlternatingRoleMessages {
    /// Appends to the last message if it has the same role. An empty answer of the model is omitted.
    pub(super) fn push_role_message(&mut self, role: &'static str, parts: Vec<Value>) {
        match self.0.last_mut() {
            Some((last, known)) if *last == role => known.extend(parts),
            _ if parts.is_empty() && role != "user" => {}
            _ => self.0.push((role, parts)),
        }
    }

    /// The messages with their parts under `key`. A message without parts is rejected, so it gets a
    /// note.
    pub(super) fn into_json_messages(self, key: &str, text: fn(&str) -> Value) -> Vec<Value> {
        let message = |(role, mut parts): (&str, Vec<Value>)| {
            if parts.is_empty() {
                parts.push(text("(no content)"));
            }
            json_object([("role", role.into()), (key, parts.into())])
        };
        self.0.into_iter().map(message).collect()
    }
}

/// Text that is present and not empty.
pub(super) fn non_empty_str(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

pub(super) fn parse_event_json(data: &str) -> Result<Value, ModelError> {
    serde_json::from_str(data).map_err(|error| ModelError::Unreadable { reason: error.to_string() })
}

/// Arguments of a call as text; some servers send them as a value.
pub(super) fn arguments_json_to_text(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The counts at these pointers: input, output, and of these the cached and the reasoning tokens. None
/// if the input is not counted.
pub(super) fn parse_token_usage(counts: &Value, pointers: [&str; 4]) -> Option<TokenUsage> {
    let [input, output, cached, reasoning] =
        pointers.map(|pointer| counts.pointer(pointer).and_then(Value::as_u64));
    Some(TokenUsage {
        input_tokens: input?,
        output_tokens: output.unwrap_or(0),
        cached_tokens: cached.unwrap_or(0),
        reasoning_tokens: reasoning.unwrap_or(0),
    })
}

/// Writes the start of an answer, once.
pub(super) fn push_start_delta_once(started: &mut bool, model: &Value, out: &mut Vec<Delta>) {
    if !std::mem::replace(started, true) {
        out.push(Delta::Start { model: non_empty_str(model).map(str::to_owned) });
    }
}

/// Writes the end of an answer. Servers may report a normal stop although the answer has calls.
pub(super) fn push_end_deltas(
    finish: FinishReason,
    has_calls: bool,
    usage: Option<TokenUsage>,
    out: &mut Vec<Delta>,
) {
    let called = finish == FinishReason::Stop && has_calls;
    out.push(Delta::End(if called { FinishReason::Calls } else { finish }));
    out.extend(usage.map(Delta::Usage));
    out.push(Delta::Done);
}

/// The server's error message, with its error code.
pub(super) fn error_message_with_code(words: &str, code: Option<&str>) -> String {
    match code {
        Some(code) if !words.contains(code) => format!("{words} ({code})"),
        _ => words.to_owned(),
    }
}

/// The server's message, in the forms that occur with OpenAI's formats: `{"error": {"message"}}`,
/// `{"error": "…"}`, `{"message"}`, `{"detail"}`.
pub(super) fn parse_error_message(body: &Value) -> Option<String> {
    let places = [&body["error"]["message"], &body["error"], &body["message"], &body["detail"]];
    let words = places.into_iter().find_map(Value::as_str)?;
    let code = [&body["error"]["code"], &body["code"]].into_iter().find_map(Value::as_str);
    Some(error_message_with_code(words, code))
}

/// An error inside a stream. An invalid request would fail again on a retry.
pub(super) fn parse_stream_error(body: &Value) -> ModelError {
    let reason = parse_error_message(body).unwrap_or_else(|| "it gave no reason".to_owned());
    ModelError::Failed { reason, retryable: !is_permanent_error(body) && !is_permanent_error(&body["error"]) }
}

fn is_permanent_error(error: &Value) -> bool {
    // A status instead of a word, as some servers send it.
    let status = [&error["code"], &error["status"]].into_iter().find_map(Value::as_u64);
    let lasting = status.is_some_and(|status| (400..500).contains(&status) && status != 408 && status != 429);
    let words = [&error["type"], &error["code"]];
    lasting
        || words.into_iter().filter_map(Value::as_str).any(|word| {
            let marks = ["invalid", "authentication", "permission", "not_found", "quota", "policy"];
            word.contains("context_length") || marks.iter().any(|mark| word.contains(mark))
        })
}
