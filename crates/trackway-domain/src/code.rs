//! The catalogue of errors that a person or a program can act on. Each has a page in `docs/errors/`.

use std::fmt;

/// A stable error code. Doors translate it into their own convention and never invent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The input does not satisfy the workflow's schema.
    InvalidInput,
    /// The request does not have the form that the door requires.
    InvalidRequest,
    /// No workflow of that name.
    UnknownWorkflow,
    /// No run of that id for this caller.
    UnknownRun,
    /// The caller did not prove who it is.
    Unauthenticated,
    /// The caller is known, but may not do this.
    Forbidden,
    /// The caller's credentials cannot be checked at the moment.
    AuthUnavailable,
    /// The run belongs to another session than the one in the request.
    SessionMismatch,
    /// The run has ended; nothing can be sent to it.
    RunEnded,
    /// The same message id was used for another message.
    MessageReused,
    /// The program does not fit the run's log.
    ReplayMismatch,
    /// The run's log is damaged; it can be read up to the damage.
    DamagedLog,
    /// The store cannot be read or written now; the same request may succeed later.
    StoreBusy,
    /// The store cannot write; the process must be restarted.
    StoreFailed,
    /// An internal error that no request should cause: a defect.
    Internal,
    /// Another process has locked the data folder.
    DataInUse,
    /// A body, message or name is larger than its bound.
    TooLarge,
    /// The workflow's file cannot be parsed as a definition.
    InvalidWorkflow,
    /// The definition has a construct that is not supported and that would change what runs.
    UnsupportedWorkflow,
    /// The context lacks something that the workflow needs to start.
    MissingContext,
    /// The token does not have the form of a token.
    TokenMalformed,
    /// A token was altered after it was made.
    TokenChanged,
    /// A token was made in another data folder.
    TokenForeign,
    /// A token was signed with a key that has been retired.
    TokenExpired,
    /// A state token was sent as the ack token, or an ack token as the state token.
    TokenSwapped,
    /// The ack token belongs to another run than the state token.
    AckOfOtherRun,
    /// The ack token belongs to another snapshot of the run.
    AckOfOtherSnapshot,
    /// Too many answers to one snapshot were invalid. Further invalid answers are not recorded.
    TooManyAttempts,
    /// The user was asked to agree and answered neither yes nor no.
    ConfirmationUnclear,
    /// No session of that id.
    UnknownSession,
    /// No artifact of that name for this caller.
    UnknownArtifact,
    /// No peer of that name for this caller.
    UnknownPeer,
    /// The peer does not answer, or its answer cannot be used; the same request may succeed later.
    PeerUnavailable,
    /// The run was imported and is not adopted yet.
    NotAdopted,
    /// A session bundle is damaged, has the signature of another signer, or does not fit this
    /// folder.
    BadBundle,
    /// This server has the operation switched off.
    SwitchedOff,
    /// The server is stopping.
    Stopping,
}

impl ErrorCode {
    pub const ALL: [Self; 37] = [
        Self::InvalidInput,
        Self::InvalidRequest,
        Self::UnknownWorkflow,
        Self::UnknownRun,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::AuthUnavailable,
        Self::SessionMismatch,
        Self::RunEnded,
        Self::MessageReused,
        Self::ReplayMismatch,
        Self::DamagedLog,
        Self::StoreBusy,
        Self::StoreFailed,
        Self::Internal,
        Self::DataInUse,
        Self::TooLarge,
        Self::InvalidWorkflow,
        Self::UnsupportedWorkflow,
        Self::MissingContext,
        Self::TokenMalformed,
        Self::TokenChanged,
        Self::TokenForeign,
        Self::TokenExpired,
        Self::TokenSwapped,
        Self::AckOfOtherRun,
        Self::AckOfOtherSnapshot,
        Self::TooManyAttempts,
        Self::ConfirmationUnclear,
        Self::UnknownSession,
        Self::UnknownArtifact,
        Self::UnknownPeer,
        Self::PeerUnavailable,
        Self::NotAdopted,
        Self::BadBundle,
        Self::SwitchedOff,
        Self::Stopping,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid-input",
            Self::InvalidRequest => "invalid-request",
            Self::UnknownWorkflow => "unknown-workflow",
            Self::UnknownRun => "unknown-run",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::AuthUnavailable => "auth-unavailable",
            Self::SessionMismatch => "session-mismatch",
            Self::RunEnded => "run-ended",
            Self::MessageReused => "message-reused",
            Self::ReplayMismatch => "replay-mismatch",
            Self::DamagedLog => "damaged-log",
            Self::StoreBusy => "store-busy",
            Self::StoreFailed => "store-failed",
            Self::Internal => "internal",
            Self::DataInUse => "data-in-use",
            Self::TooLarge => "too-large",
            Self::InvalidWorkflow => "invalid-workflow",
            Self::UnsupportedWorkflow => "unsupported-workflow",
            Self::MissingContext => "missing-context",
            Self::TokenMalformed => "token-malformed",
            Self::TokenChanged => "token-changed",
            Self::TokenForeign => "token-foreign",
            Self::TokenExpired => "token-expired",
            Self::TokenSwapped => "token-swapped",
            Self::AckOfOtherRun => "ack-of-other-run",
            Self::AckOfOtherSnapshot => "ack-of-other-snapshot",
            Self::TooManyAttempts => "too-many-attempts",
            Self::ConfirmationUnclear => "confirmation-unclear",
            Self::UnknownSession => "unknown-session",
            Self::UnknownArtifact => "unknown-artifact",
            Self::UnknownPeer => "unknown-peer",
            Self::PeerUnavailable => "peer-unavailable",
            Self::NotAdopted => "not-adopted",
            Self::BadBundle => "bad-bundle",
            Self::SwitchedOff => "switched-off",
            Self::Stopping => "stopping",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
