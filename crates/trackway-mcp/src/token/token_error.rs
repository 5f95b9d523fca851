//! What can be wrong with a token, in words that tell an agent which parameter it is and what to send.

use std::fmt;

use trackway_domain::ErrorCode;

/// The argument that a token was sent as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenParameter {
    State,
    Ack,
}

impl TokenParameter {
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "stateToken",
            Self::Ack => "ackToken",
        }
    }

    /// Its name in a sentence.
    pub(super) const fn with_article(self) -> &'static str {
        match self {
            Self::State => "a stateToken",
            Self::Ack => "an ackToken",
        }
    }

    /// What every token of this kind begins with.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Self::State => "st.v1.",
            Self::Ack => "ack.v1.",
        }
    }

    pub(super) const fn other_parameter(self) -> Self {
        match self {
            Self::State => Self::Ack,
            Self::Ack => Self::State,
        }
    }
}

impl fmt::Display for TokenParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A token that was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{param}: {fault}")]
pub struct TokenError {
    pub param: TokenParameter,
    pub fault: TokenErrorKind,
}

/// What is wrong with it. The same problem in either token is the same variant, and has the same code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenErrorKind {
    #[error("this is not a token: {hint}")]
    Malformed { hint: String },
    #[error("this token was altered after it was made")]
    Altered,
    #[error("this token was made in another data folder")]
    Foreign,
    #[error("this token was signed with a key that has been retired")]
    Expired,
    #[error("this is {}", match .is { TokenParameter::State => "a state token, not an ack token", TokenParameter::Ack => "an ack token, not a state token" })]
    Swapped { is: TokenParameter },
    #[error("this ack token belongs to another run than the state token")]
    OtherRun,
    #[error("this ack token belongs to another snapshot of the run than the state token")]
    OtherSnapshot,
}

impl TokenError {
    pub fn code(&self) -> ErrorCode {
        match self.fault {
            TokenErrorKind::Malformed { .. } => ErrorCode::TokenMalformed,
            TokenErrorKind::Altered => ErrorCode::TokenChanged,
            TokenErrorKind::Foreign => ErrorCode::TokenForeign,
            TokenErrorKind::Expired => ErrorCode::TokenExpired,
            TokenErrorKind::Swapped { .. } => ErrorCode::TokenSwapped,
            TokenErrorKind::OtherRun => ErrorCode::AckOfOtherRun,
            TokenErrorKind::OtherSnapshot => ErrorCode::AckOfOtherSnapshot,
        }
    }

    /// What the agent can do about it.
    pub fn recovery_hint(&self) -> String {
        let param = self.param;
        match self.fault {
            TokenErrorKind::Malformed { .. } | TokenErrorKind::Altered => format!(
                "Copy {param} again, character by character, from the answer that gave it, and send the same call."
            ),
            TokenErrorKind::Foreign => {
                "Use the server that gave this token. If it was this one, its keys were lost: workflow_resume finds your runs again, and a person gets new tokens for a run with `trackway runs fork RUN`.".to_owned()
            }
            TokenErrorKind::Expired => {
                "This token cannot be used any more, but the run is still there: workflow_resume finds it and gives a new token, and so does `trackway runs fork RUN`.".to_owned()
            }
            TokenErrorKind::Swapped { .. } => {
                "Send the text that begins with st.v1. as stateToken and the one that begins with ack.v1. as ackToken.".to_owned()
            }
            TokenErrorKind::OtherRun | TokenErrorKind::OtherSnapshot => {
                "Send a stateToken and an ackToken from the same answer; workflow_advance with the stateToken alone gives a fresh ackToken for it.".to_owned()
            }
        }
    }
}
