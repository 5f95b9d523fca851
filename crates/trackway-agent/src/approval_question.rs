//! Asks the user whether a call is allowed: the question, and the meaning of its answer. A refusal goes
//! to the model as the call's result ([`crate::ToolCallRecord::call_refused_by_user`]).

use serde_json::{Value, json};
use trackway_domain::Part;

use crate::ToolUse;

/// Longest arguments in the sentence of the question. The data part next to it contains all of them, so
/// that the user sees everything before agreeing.
/// Limit (Agents): arguments in the sentence of an approval question; the data part has all of them.
const ARGUMENTS_BYTES_MAX: usize = 2 * 1024;

/// The question: a sentence, and tool and arguments as data.
pub fn call_approval_prompt(call: &ToolUse) -> Vec<Part> {
    let shown = truncate_with_note(&call.arguments.arguments_to_value().to_string(), ARGUMENTS_BYTES_MAX);
    approval_prompt_parts(format!("May I call {} with {shown}?", call.tool), call)
}

/// Asks whether a task may be answered with a value that is not in the user's message. Contains the
/// task's question and the proposed answer.
pub fn task_answer_approval_prompt(call: &ToolUse, workflow: &str, asks: &str) -> Vec<Part> {
    let input = call.arguments.arguments_to_value()["input"].to_string();
    let sentence = format!(
        "{workflow} asks: {} May I answer {}?",
        truncate_with_note(asks, ARGUMENTS_BYTES_MAX),
        truncate_with_note(&input, ARGUMENTS_BYTES_MAX)
    );
    approval_prompt_parts(sentence, call)
}

fn approval_prompt_parts(sentence: String, call: &ToolUse) -> Vec<Part> {
    let arguments = call.arguments.arguments_to_value();
    let data = json!({ "tool": call.tool, "arguments": arguments, "toolCallId": call.id });
    vec![Part::text(sentence), Part::data(data)]
}

fn truncate_with_note(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    let rest = if end < text.len() { " … (the rest is in the attached data)" } else { "" };
    format!("{}{rest}", &text[..end])
}

/// The schema of the answer: `{approved: boolean}`.
pub fn approval_answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "approved": { "type": "boolean", "description": "Whether the call may be made." },
        },
        "required": ["approved"],
        "additionalProperties": false,
    })
}

/// Whether the answer is a yes. Anything except a plain yes is a no.
pub fn is_approved(answer: &Value) -> bool {
    answer.get("approved") == Some(&Value::Bool(true))
}

#[cfg(test)]
mod tests;
