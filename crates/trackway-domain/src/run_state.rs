//! The states of a run.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Failure, InterruptReason, Question};

/// The state of a run, with exactly the data of that state. Each variant's doc names the events that
/// enter it and those that leave it; `engine::transition` is the only function that moves between them.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Entered by `Submitted`. Left by `Started`, `Rejected`, `Failed`, `Canceled`.
    Submitted,
    /// Entered by `Started`, `Resumed`, `Withdrawn`. Left by `Asked`, `Completed`, `Failed`,
    /// `Rejected`, `Canceled`.
    Working,
    /// Entered by `Asked`. Left by `Resumed`, `Withdrawn`, `Rejected`, `Canceled`.
    InputRequired(Box<Question>),
    /// As `InputRequired`, for a question about permission.
    AuthRequired(Box<Question>),
    /// Entered by `Completed`; final.
    Completed { output: Value },
    /// Entered by `Failed`; final.
    Failed { failure: Failure },
    /// Entered by `Canceled`; final.
    Canceled,
    /// Entered by `Rejected`; final.
    Rejected { reason: String },
    /// For a run whose log can no longer be read. No event enters or leaves it.
    Unknown,
}

/// The name of a state, without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateName {
    Submitted,
    Working,
    InputRequired,
    AuthRequired,
    Completed,
    Failed,
    Canceled,
    Rejected,
    Unknown,
}

impl State {
    pub const fn name(&self) -> StateName {
        match self {
            Self::Submitted => StateName::Submitted,
            Self::Working => StateName::Working,
            Self::InputRequired(_) => StateName::InputRequired,
            Self::AuthRequired(_) => StateName::AuthRequired,
            Self::Completed { .. } => StateName::Completed,
            Self::Failed { .. } => StateName::Failed,
            Self::Canceled => StateName::Canceled,
            Self::Rejected { .. } => StateName::Rejected,
            Self::Unknown => StateName::Unknown,
        }
    }

    /// The question that this state waits on.
    pub fn open_question(&self) -> Option<&Question> {
        match self {
            Self::InputRequired(question) | Self::AuthRequired(question) => Some(question),
            Self::Submitted
            | Self::Working
            | Self::Completed { .. }
            | Self::Failed { .. }
            | Self::Canceled
            | Self::Rejected { .. }
            | Self::Unknown => None,
        }
    }

    pub fn interrupted_by_question(question: Question) -> Self {
        match question.reason {
            InterruptReason::InputRequired => Self::InputRequired(Box::new(question)),
            InterruptReason::AuthRequired => Self::AuthRequired(Box::new(question)),
        }
    }
}

impl StateName {
    pub const ALL: [Self; 9] = [
        Self::Submitted,
        Self::Working,
        Self::InputRequired,
        Self::AuthRequired,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::Rejected,
        Self::Unknown,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::InputRequired => "input-required",
            Self::AuthRequired => "auth-required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the state is final.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected | Self::Unknown)
    }

    /// Whether the run waits for an answer.
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

impl fmt::Display for StateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for StateName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a run state"))
    }
}
