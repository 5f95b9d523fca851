//! The port that releases what a step began elsewhere, if the run of the step ended without its outcome.

use std::fmt;

use serde_json::Value;
use trackway_domain::Caller;

use crate::PortFuture;

/// Releases what a step's note names, for example cancels the task of a peer.
///
/// A note is released at least once: a crash between the release and its record repeats it, so a second
/// release must change nothing. The step is no longer running here, but a request that it sent may still be
/// on its way: release what the note identifies, not only what exists by now.
pub trait StepNoteHandler: Send + Sync + fmt::Debug {
    /// `owner` is the caller of the run; `note` is the newest that the step recorded. The future should end
    /// by itself within seconds; it is ended after a limit, which counts as [`StepNoteReleaseError::Transient`].
    fn release<'a>(
        &'a self,
        owner: &'a Caller,
        note: &'a Value,
    ) -> PortFuture<'a, Result<(), StepNoteReleaseError>>;
}

/// Why a note was not released.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepNoteReleaseError {
    /// Try again later.
    #[error("{reason}")]
    Transient { reason: String },
    /// Never: there is nothing that could release it. It is dropped.
    #[error("refused: {reason}")]
    Refused { reason: String },
}
