//! What can go wrong at a store, by what its caller does about it.

use trackway_domain::{RunId, Seq};

use crate::Claim;

/// Why an append was not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// Lost the race: the run's log has gone on. Load it again and decide anew.
    #[error("the log of {run} has gone on past event {expected}")]
    Conflict { run: RunId, expected: Seq },
    /// Lost the run: another worker drives it, or has driven it since. Load it again.
    #[error("{run} is driven by another worker")]
    Fenced { run: RunId },
    /// The message was acted on before; this is what it led to.
    #[error("message {} was acted on before", .0.key.message)]
    Claimed(Box<Claim>),
    /// Try again: nothing of it was written, and it can be written later. The store is locked by another
    /// process, its disk is full, or the process has no descriptor left.
    #[error("the store cannot write now: {reason}")]
    Unavailable { reason: String },
    /// Unknown: the answer to the commit was lost. [`Journal::receipt`](crate::Journal::receipt) says whether
    /// it is there.
    #[error("it is not known whether the store has written it: {reason}")]
    Unknown { reason: String },
    /// Never: the store was closed before, and nothing of it was written.
    #[error("the store is closed")]
    Closed,
    /// Never: the store cannot write any more. Whether this append is there, only the next start will tell:
    /// after a failed sync nobody knows what the disk holds. Every later append fails in the same way.
    #[error("the store cannot write: {reason}")]
    Broken { reason: String },
}

/// Why something could not be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// A record is damaged. The run can be read up to the event before `seq`.
    #[error("event {seq} of {run} is damaged: {reason}")]
    Damaged { run: RunId, seq: Seq, reason: String },
    /// A blob's bytes are gone or do not match their hash.
    #[error("blob {hash} is damaged: {reason}")]
    DamagedBlob { hash: String, reason: String },
    /// Try again: it could not be read now, and may be read later.
    #[error("the store cannot be read now: {reason}")]
    Unavailable { reason: String },
    /// Never: what was to be read is damaged, and not of one run alone.
    #[error("the store cannot be read: {reason}")]
    Broken { reason: String },
}
