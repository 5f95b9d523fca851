//! Providers: access to models.

mod answer_builder;
mod anthropic;
mod call_assembler;
#[cfg(test)]
mod examples;
mod format_helpers;
mod gemini;
mod http_provider;
mod model_backoff;
pub mod offline;
mod openai_chat;
mod openai_responses;
mod provider_format;
mod provider_kinds;
pub mod recording;
pub mod scripted_model;
mod simulated_stream;
mod system_prompt;

use std::{fmt, time::Duration};

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

pub(crate) use self::model_backoff::ModelBackoff;
pub use self::{
    answer_builder::ModelAnswerBuilder,
    http_provider::{HttpModelProvider, ModelEndpoint, ModelEndpointError},
    provider_kinds::{open_http_provider, provider_kind_names},
};
use crate::conversation::{FinishReason, ModelRequest, TokenUsage};

/// A model that can be called.
pub trait ModelProvider: Send + Sync + fmt::Debug {
    /// The label in events and user interfaces: `openai/gpt-5`, `offline-rules/1`.
    fn model_label(&self) -> &str;

    /// Whether entries may have images.
    fn accepts_images(&self) -> bool;

    /// Calls the model once. Dropping the stream drops the connection. An error is the last item. A
    /// stream never ends without [`Delta::Done`]: it ends in [`ModelError::Truncated`] instead.
    fn stream_answer(&self, request: &ModelRequest) -> DeltaStream;
}

pub type DeltaStream = BoxStream<'static, Result<Delta, ModelError>>;

/// A piece of an answer, as it arrives. Recordings consist of these, so their form is stable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delta {
    /// The model starts to answer.
    Start {
        model: Option<String>,
    },
    Text(String),
    Reasoning(String),
    /// A call starts. `slot` counts the calls of the answer from 0. The id is absent if the provider
    /// gave none.
    Call {
        slot: usize,
        id: Option<String>,
        tool: String,
    },
    /// A piece of a call's arguments. Empty arguments mean `{}`.
    Arguments {
        slot: usize,
        text: String,
    },
    /// Opaque data that the provider expects back with that call.
    Echo {
        slot: usize,
        value: serde_json::Value,
    },
    /// The model has stopped. Usage may still follow.
    End(FinishReason),
    Usage(TokenUsage),
    /// Nothing follows.
    Done,
}

/// Why a model gave no complete answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No connection, or it was lost before the answer began.
    #[error("the model cannot be reached: {reason}")]
    Unreachable { reason: String },
    /// The answer broke off.
    #[error("the model's answer broke off before its end")]
    Truncated,
    /// It sent nothing for longer than the agent allows.
    #[error("the model was silent for {seconds} seconds")]
    Silent { seconds: u64 },
    #[error("the model is busy ({status}): {reason}")]
    Busy { status: u16, reason: String, retry_after: Option<Duration> },
    /// The request is wrong: a retry would not help.
    #[error("the model refused the request ({status}): {reason}")]
    Refused { status: u16, reason: String },
    /// The provider reported an error inside its stream.
    #[error("the model failed while it answered: {reason}")]
    Failed { reason: String, retryable: bool },
    /// The answer is not in the provider's own format.
    #[error("the model's answer cannot be read: {reason}")]
    Unreadable { reason: String },
    /// A recording or script has nothing for this request.
    #[error("{reason}")]
    Unscripted { reason: String },
}

impl ModelError {
    /// Whether a retry may help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Truncated | Self::Silent { .. } | Self::Busy { .. } => true,
            Self::Failed { retryable, .. } => *retryable,
            Self::Refused { .. } | Self::Unreadable { .. } | Self::Unscripted { .. } => false,
        }
    }

    /// How long the provider asks callers to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
