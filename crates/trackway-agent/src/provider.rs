//! Providers: where models are asked.

mod anthropic;
mod calls;
#[cfg(test)]
mod examples;
mod format;
mod gather;
mod gemini;
mod http;
pub mod offline;
mod open;
mod openai;
mod prompt;
pub mod record;
mod responses;
mod retry;
pub mod scripted;
mod spoken;
mod wire;

use std::{fmt, time::Duration};

use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};

pub(crate) use self::retry::Backoff;
pub use self::{
    gather::Gather,
    http::{BadEndpoint, Endpoint, HttpProvider},
    open::{kinds, open},
};
use crate::conversation::{Finish, Request, Usage};

/// A model that can be asked.
pub trait Provider: Send + Sync + fmt::Debug {
    /// What is shown of it in events and on screens: `openai/gpt-5`, `offline-rules/1`.
    fn label(&self) -> &str;

    /// Whether entries may have images.
    fn takes_images(&self) -> bool;

    /// Asks once. Dropping the stream drops the connection. An error is the last item; a stream that
    /// ends without [`Delta::Done`] does not occur: it ends in [`ModelError::Truncated`].
    fn ask(&self, request: &Request) -> Deltas;
}

pub type Deltas = BoxStream<'static, Result<Delta, ModelError>>;

/// A piece of an answer, as it arrives. Recordings are made of these, and keep their form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delta {
    /// The model begins to answer.
    Start {
        model: Option<String>,
    },
    Text(String),
    Reasoning(String),
    /// A call begins. `slot` counts the calls of the answer from 0; no id where the provider gave none.
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
    /// What the provider wants to see again with that call.
    Echo {
        slot: usize,
        value: serde_json::Value,
    },
    /// The model has stopped. Usage may still follow.
    End(Finish),
    Usage(Usage),
    /// Nothing follows.
    Done,
}

/// Why a model gave no whole answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No connection, or it was lost before the answer began.
    #[error("the model cannot be reached: {reason}")]
    Unreachable { reason: String },
    /// The answer broke off.
    #[error("the model's answer broke off before its end")]
    Truncated,
    /// It said nothing for longer than the agent lets it.
    #[error("the model was silent for {seconds} seconds")]
    Silent { seconds: u64 },
    #[error("the model is busy ({status}): {reason}")]
    Busy { status: u16, reason: String, retry_after: Option<Duration> },
    /// The request is at fault: asking again would not help.
    #[error("the model refused the request ({status}): {reason}")]
    Refused { status: u16, reason: String },
    /// The provider reported an error inside of its stream.
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
    /// Whether asking again may help.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Truncated
            | Self::Silent { .. }
            | Self::Busy { .. } => true,
            Self::Failed { retryable, .. } => *retryable,
            Self::Refused { .. } | Self::Unreadable { .. } | Self::Unscripted { .. } => false,
        }
    }

    /// How long the provider wants to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
