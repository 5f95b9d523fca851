//! The content of a script.

use serde::Deserialize;
use serde_json::Value;

use super::ModelScriptError;
use crate::conversation::{FinishReason, ModelAnswer, TokenUsage, ToolArguments, ToolUse};

/// Longest pause of a script. A longer one is probably a wrong unit.
/// Limit (Agents): pause in a scripted model.
const DELAY_MS_MAX: u64 = 10 * 60 * 1_000;

/// Answers in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelScript {
    #[serde(default)]
    pub name: Option<String>,
    pub answers: Vec<ScriptedAnswer>,
}

/// One answer, and its conditions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedAnswer {
    /// The user's newest entry contains this, ignoring case.
    pub user: Option<String>,
    /// The conversation ends with a result of this tool.
    pub after: Option<String>,
    /// May be used repeatedly.
    pub repeat: bool,
    pub text: String,
    pub reasoning: String,
    pub calls: Vec<ScriptedToolCall>,
    /// If absent, `stop`, or `calls` if there are calls.
    pub finish: Option<FinishReason>,
    pub usage: Option<TokenUsage>,
    /// Before the first word.
    pub delay_ms: u64,
    /// Before every further word.
    pub word_delay_ms: u64,
    pub fault: Option<ScriptedFailure>,
    /// The HTTP status of a server that is busy or refuses.
    pub status: Option<u16>,
    /// How long a busy server asks callers to wait.
    pub retry_after_ms: Option<u64>,
    /// The reason for the fault.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedToolCall {
    pub tool: String,
    /// Derived from its index if absent.
    #[serde(default)]
    pub id: Option<String>,
    /// Text is passed on unchanged, so that it can be invalid.
    #[serde(default)]
    pub arguments: Value,
}

/// The kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptedFailure {
    /// There is no answer; a retry may help.
    Busy,
    /// There is no answer, and a retry does not help.
    Refused,
    /// The connection is lost after the text and the calls.
    Cut,
    /// An error follows the text and the calls.
    Failed,
}

impl ModelScript {
    /// YAML, or JSON, which is YAML.
    pub fn parse_model_script(text: &str) -> Result<Self, ModelScriptError> {
        serde_saphyr::from_str(text).map_err(|error| ModelScriptError::Form { reason: error.to_string() })
    }

    /// Every key in a script has an effect.
    pub(super) fn validate_answers(&self) -> Result<(), ModelScriptError> {
        for (index, line) in self.answers.iter().enumerate() {
            let reason = line.find_answer_mistake();
            reason.map_or(Ok(()), |reason| Err(ModelScriptError::Line { number: index + 1, reason }))?;
        }
        Ok(())
    }
}

impl ScriptedAnswer {
    fn find_answer_mistake(&self) -> Option<String> {
        let speechless = matches!(self.fault, Some(ScriptedFailure::Busy | ScriptedFailure::Refused));
        let speaks = !self.text.is_empty() || !self.reasoning.is_empty() || !self.calls.is_empty();
        let mistakes = [
            (speechless && speaks, "a server that is busy or refuses says nothing"),
            (self.fault.is_some() && self.finish.is_some(), "an answer with a fault has no finish"),
            (self.fault.is_some() && self.usage.is_some(), "an answer with a fault has no usage"),
            (self.status.is_some() && !speechless, "status is for the faults busy and refused"),
            (
                self.retry_after_ms.is_some() && self.fault != Some(ScriptedFailure::Busy),
                "retry_after_ms is for the fault busy",
            ),
            (
                self.reason.is_some() && matches!(self.fault, None | Some(ScriptedFailure::Cut)),
                "reason is for the faults busy, refused and failed",
            ),
            (self.delay_ms.max(self.word_delay_ms) > DELAY_MS_MAX, "a pause is at most ten minutes"),
        ];
        mistakes.into_iter().find(|(is_made, _)| *is_made).map(|(_, reason)| reason.to_owned())
    }

    pub(super) fn to_model_answer(&self, label: &str) -> ModelAnswer {
        let calls = self.calls.iter().enumerate().map(|(slot, call)| ToolUse {
            id: call.id.clone().unwrap_or_else(|| format!("call_{slot}")),
            tool: call.tool.clone(),
            arguments: match &call.arguments {
                Value::Null => ToolArguments::Json(Value::Object(serde_json::Map::new())),
                Value::String(text) => ToolArguments::Broken { text: text.clone(), reason: String::new() },
                value => ToolArguments::Json(value.clone()),
            },
            echo: None,
        });
        let usual = if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::Calls };
        ModelAnswer {
            text: self.text.clone(),
            reasoning: self.reasoning.clone(),
            calls: calls.collect(),
            finish: self.finish.unwrap_or(usual),
            usage: self.usage,
            model: Some(label.to_owned()),
        }
    }
}
