//! An answer that must be JSON: how it is parsed, and the message for the model if it is wrong.

use std::fmt::Write as _;

use serde_json::Value;
use trackway_domain::{JSON_DEPTH_MAX, ValidationError, is_json_too_deep, normalize_integers};

/// How often a model may repair its output. A model that still fails does not understand the schema,
/// and more attempts only cost money.
/// Limit (Agents): times that a model may correct its output.
pub(super) const REPAIRS_MAX: u32 = 2;

/// Problems that a model receives at once; it repairs them together.
/// Limit (Agents): problems of an output that a model is given.
const PROBLEMS_SHOWN_MAX: usize = 16;

/// The value of a final answer. Models often put JSON into a fenced block, even if the prompt forbids
/// it.
pub(super) fn parse_model_output_json(text: &str) -> Result<Value, String> {
    let text = strip_code_fence(text.trim());
    if text.is_empty() {
        return Err("the answer was empty".to_owned());
    }
    match serde_json::from_str(text) {
        Ok(value) if is_json_too_deep(&value) => {
            Err(format!("the answer is nested deeper than {JSON_DEPTH_MAX} levels"))
        }
        Ok(mut value) => {
            normalize_integers(&mut value);
            Ok(value)
        }
        Err(why) => Err(format!("the answer is not JSON: {why}")),
    }
}

/// The content, if the whole text is one fenced block.
fn strip_code_fence(text: &str) -> &str {
    let inside = || {
        let (_language, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let inside = rest.trim_end().strip_suffix("```")?;
        (!inside.contains("```")).then_some(inside.trim())
    };
    inside().unwrap_or(text)
}

/// Problems as a list, one on each line.
pub(super) fn render_validation_problems(problems: &[ValidationError]) -> String {
    let mut text = String::new();
    for problem in problems.iter().take(PROBLEMS_SHOWN_MAX) {
        let place = if problem.path.is_empty() { "the whole answer" } else { &problem.path };
        // Writing to a string does not fail.
        let _ = write!(text, "\n- {place}: {}", problem.message);
        if let Some(hint) = &problem.hint {
            let _ = write!(text, " ({hint})");
        }
    }
    if let Some(more) = problems.len().checked_sub(PROBLEMS_SHOWN_MAX).filter(|more| *more > 0) {
        let _ = write!(text, "\n- and {more} more");
    }
    text
}

/// The message for the model.
pub(super) fn output_repair_prompt(problems_text: &str) -> String {
    format!(
        "Your answer is not of the required form: {problems_text}\n\
         Answer again with the whole corrected JSON and nothing else."
    )
}
