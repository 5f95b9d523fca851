//! What is said between an agent and a model, in words that every provider's format is made from.
//!
//! These are data of the log: an [`Answer`] is the recorded outcome of a model call, and keeps its form
//! across versions.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call of a model: everything that it is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Request {
    /// The agent's prompt.
    pub system: String,
    /// What waits for the user's answer. It was written by others: data beside the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenNote>,
    /// What became of tasks that the conversation dispatched, since the turn before. Data as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedTask>,
    pub entries: Vec<Entry>,
    /// In a stable order, so that providers can cache what comes before the conversation.
    /// Shared, since schemas are long and the same in every call.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The answer is to be JSON of this schema. Tools may be called before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The most tokens that the answer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl Request {
    /// What the user said last, each piece on lines of its own.
    pub fn newest_user_text(&self) -> Option<String> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::User { pieces } => Some(Piece::join_texts(pieces, "\n")),
            Entry::Model { .. } | Entry::Result { .. } => None,
        })
    }
}

/// A question of a task that waits for the user's answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenNote {
    pub task_id: String,
    pub workflow: String,
    /// What is asked.
    pub asks: String,
    /// What an answer has to be; none where that is too long to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// It asks for an authorization: the model may speak of it and cannot answer it.
    #[serde(rename = "onlyAPersonAnswers", skip_serializing_if = "std::ops::Not::not")]
    pub person_only: bool,
}

/// A task that the conversation dispatched, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndedTask {
    pub task_id: String,
    pub workflow: String,
    pub state: String,
    /// Why it failed, was rejected, or what it said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One entry of a conversation, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    User {
        pieces: Vec<Piece>,
    },
    Model {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<Call>,
    },
    /// What a call came to. Every call of the entry before has exactly one.
    Result {
        call: String,
        tool: String,
        pieces: Vec<Piece>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

/// A piece of content as a model takes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Piece {
    Text(String),
    /// Bytes in base64. Only for providers that say that they take images.
    Image {
        media_type: String,
        base64: String,
    },
}

impl Entry {
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { pieces: vec![Piece::Text(text.into())] }
    }
}

impl Piece {
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

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// At most 64 of `[A-Za-z0-9_-]`, which every provider takes.
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// A tool call that a model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// As the model gave it, or made by us where it gave none; unique within the answer.
    pub id: String,
    pub tool: String,
    pub arguments: Arguments,
    /// What the provider wants to see again with this call, unread by us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<Value>,
}

/// The arguments of a call, read once when the answer is whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arguments {
    Json(Value),
    /// Not JSON. The model is told; nothing is called.
    Broken {
        text: String,
        reason: String,
    },
}

impl Call {
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        let arguments = Arguments::Json(arguments);
        Self { id: id.into(), tool: tool.into(), arguments, echo: None }
    }
}

impl Arguments {
    /// Their value; those that are not JSON are a text.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Broken { text, .. } => Value::String(text.clone()),
        }
    }

    /// As the model wrote them.
    pub fn to_text(&self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Broken { text, .. } => text.clone(),
        }
    }
}

/// A whole answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    pub finish: Finish,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, as the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Why a model stopped. Calls are calls whatever is given here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    #[default]
    Stop,
    Calls,
    /// The answer is cut off at its longest.
    Length,
    /// The provider held the answer back.
    Filtered,
}

/// Tokens that a call has used, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Of the input, what the provider had cached.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Of the output, what was not shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
