//! The messages between an agent and a model, independent of any provider's format.
//!
//! These types are stored in the log: a [`ModelAnswer`] is the recorded outcome of a model call. Their form
//! is stable across versions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call of a model: everything that it receives.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelRequest {
    /// The agent's prompt.
    pub system: String,
    /// Questions that wait for the user's answer. Others wrote them, so they are data, separate from
    /// the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenQuestionNote>,
    /// Tasks of the conversation that ended since the previous turn. Data as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedTaskNote>,
    pub entries: Vec<ConversationEntry>,
    /// In a stable order, so that providers can cache the part before the conversation.
    /// Shared, since schemas are long and the same in every call.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The answer must be JSON of this schema. Tools may be called before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The most tokens that the answer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl ModelRequest {
    /// The user's newest message, each piece on its own lines.
    pub fn latest_user_text(&self) -> Option<String> {
        self.entries.iter().rev().find_map(|entry| match entry {
            ConversationEntry::User { pieces } => Some(ContentPiece::join_texts(pieces, "\n")),
            ConversationEntry::Model { .. } | ConversationEntry::Result { .. } => None,
        })
    }
}

/// A question of a task that waits for the user's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestionNote {
    pub task_id: String,
    pub workflow: String,
    /// The question.
    pub asks: String,
    /// The schema of an answer; none if it is too long for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// It asks for an authorization: the model may mention it but cannot answer it.
    #[serde(rename = "onlyAPersonAnswers", skip_serializing_if = "std::ops::Not::not")]
    pub person_only: bool,
}

/// A task that the conversation dispatched, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedTaskNote {
    pub task_id: String,
    pub workflow: String,
    pub state: String,
    /// Why it failed or was rejected, or its last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One entry of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConversationEntry {
    User {
        pieces: Vec<ContentPiece>,
    },
    Model {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolUse>,
    },
    /// The result of a call. Every call of the previous entry has exactly one.
    Result {
        call: String,
        tool: String,
        pieces: Vec<ContentPiece>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

/// A piece of content that a model accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContentPiece {
    Text(String),
    /// Bytes in base64. Only for providers that accept images.
    Image {
        media_type: String,
        base64: String,
    },
}

impl ConversationEntry {
    pub fn user_text_entry(text: impl Into<String>) -> Self {
        Self::User { pieces: vec![ContentPiece::Text(text.into())] }
    }
}

impl ContentPiece {
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image { .. } => None,
        }
    }

    pub fn is_image(&self) -> bool {
        self.as_text().is_none()
    }

    /// The texts among the pieces.
    pub fn join_texts(pieces: &[Self], separator: &str) -> String {
        pieces.iter().filter_map(Self::as_text).collect::<Vec<_>>().join(separator)
    }
}

/// A tool definition for a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// At most 64 of `[A-Za-z0-9_-]`, which every provider accepts.
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// A tool call that a model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The model's id, or a generated one if the model gave none; unique within the answer.
    pub id: String,
    pub tool: String,
    pub arguments: ToolArguments,
    /// Opaque data that the provider expects back with this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<Value>,
}

/// The arguments of a call, parsed once when the answer is complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolArguments {
    Json(Value),
    /// Not JSON. The model receives an error; nothing is called.
    Broken {
        text: String,
        reason: String,
    },
}

impl ToolUse {
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        let arguments = ToolArguments::Json(arguments);
        Self { id: id.into(), tool: tool.into(), arguments, echo: None }
    }
}

impl ToolArguments {
    /// The arguments as a value. Arguments that are not JSON are a text.
    pub fn arguments_to_value(&self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Broken { text, .. } => Value::String(text.clone()),
        }
    }

    /// As the model wrote them.
    pub fn arguments_to_text(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Broken { text, .. } => text.clone(),
        }
    }
}

/// A complete answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolUse>,
    pub finish: FinishReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// The model that answered, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Why a model stopped. Calls are run whatever the reason is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FinishReason {
    #[default]
    Stop,
    Calls,
    /// The answer was cut off at the maximum length.
    Length,
    /// The provider withheld the answer.
    Filtered,
}

/// Tokens that a call has used, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The part of the input that the provider had cached.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// The part of the output that is not visible.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
