//! What servers say when something is wrong, in the forms that are met with OpenAI's formats.

use serde_json::Value;

use super::ModelError;

/// The server's own words: `{"error": {"message"}}`, `{"error": "…"}`, `{"message"}`, `{"detail"}`.
pub(super) fn complaint(body: &Value) -> Option<String> {
    let places = [&body["error"]["message"], &body["error"], &body["message"], &body["detail"]];
    let words = places.into_iter().find_map(Value::as_str)?;
    let code = [&body["error"]["code"], &body["code"]].into_iter().find_map(Value::as_str);
    Some(match code {
        Some(code) if !words.contains(code) => format!("{words} ({code})"),
        _ => words.to_owned(),
    })
}

/// An error inside of a stream. What is wrong with the request is wrong the next time too.
pub(super) fn failed(body: &Value) -> ModelError {
    let reason = complaint(body).unwrap_or_else(|| "it gave no reason".to_owned());
    ModelError::Failed { reason, retryable: !is_lasting(body) && !is_lasting(&body["error"]) }
}

fn is_lasting(error: &Value) -> bool {
    // A status instead of a word, as some servers write it.
    let status = [&error["code"], &error["status"]].into_iter().find_map(Value::as_u64);
    let lasting =
        status.is_some_and(|status| (400..500).contains(&status) && status != 408 && status != 429);
    let words = [&error["type"], &error["code"]];
    lasting
        || words.into_iter().filter_map(Value::as_str).any(|word| {
            let marks = ["invalid", "authentication", "permission", "not_found", "quota", "policy"];
            word.contains("context_length") || marks.iter().any(|mark| word.contains(mark))
        })
}
