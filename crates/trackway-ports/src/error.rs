//! What can go wrong at a store, grouped by how a caller should react.

use trackway_domain::{RunId, Seq};

use crate::MessageClaim;

/// Why an append was not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// Lost the race: the run's log has newer events. Load it again and decide again.
    #[error("the log of {run} already has events after {expected}")]
    Conflict { run: RunId, expected: Seq },
    /// Lost the run: another worker drives it, or has driven it since. Load it again.
    #[error("{run} is driven by another worker")]
    Fenced { run: RunId },
    /// The message was processed before; this is its result.
    #[error("message {} was already processed", .0.key.message)]
    Claimed(Box<MessageClaim>),
    /// Try again: nothing was written, and a later attempt can succeed. Another process has locked the store,
    /// its disk is full, or the process has no file descriptor left.
    #[error("the store cannot write now: {reason}")]
    Unavailable { reason: String },
    /// Unknown: the answer to the commit was lost.
    /// [`Journal::find_append_receipt`](crate::Journal::find_append_receipt) says whether the append was
    /// written.
    #[error("it is not known whether the store has written it: {reason}")]
    Unknown { reason: String },
    /// Never: the store was closed before, and nothing was written.
    #[error("the store is closed")]
    Closed,
    /// Never: the store can no longer write. Only the next start shows whether this append was written: after
    /// a failed sync the content of the disk is unknown. Every later append fails in the same way.
    #[error("the store cannot write: {reason}")]
    Broken { reason: String },
}

/// Why something could not be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// A record is damaged. The run can be read up to the event before `seq`.
    #[error("event {seq} of {run} is damaged: {reason}")]
    Damaged { run: RunId, seq: Seq, reason: String },
    /// A blob's bytes are missing or do not match their hash.
    #[error("blob {hash} is damaged: {reason}")]
    DamagedBlob { hash: String, reason: String },
    /// Try again: it could not be read now, but a later read may succeed.
    #[error("the store cannot be read now: {reason}")]
    Unavailable { reason: String },
    /// Never: the data is damaged, and the damage is not limited to one run.
    #[error("the store cannot be read: {reason}")]
    Broken { reason: String },
}
