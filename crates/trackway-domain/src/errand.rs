//! Errands: what one run owes to another, or to what it began elsewhere.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CallChain, Caller, ChildFirstAnswer, ChildOutcome, MessageId, Op, RunId, Seq, SessionId, Timestamp,
    WaitingRun, WorkflowRef,
};

/// Work across two runs. It is recorded with the decision that creates it and removed with the decision
/// that completes it, so a crash between the two only repeats the attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossRunErrand {
    CancelChild {
        child: RunId,
    },
    /// Run the exit steps of a run whose own program was stopped before it could run them. The id is
    /// fixed, so a repeated attempt finds the run already started.
    RunExit {
        of: RunId,
        exit: RunId,
        session: SessionId,
        caller: Caller,
        workflow: WorkflowRef,
        input: Value,
        /// The calls that led to the run that ended: its exit steps do not begin a new chain.
        #[serde(default, skip_serializing_if = "CallChain::is_empty")]
        call_chain: CallChain,
    },
    NotifyParent {
        parent: RunId,
        child: RunId,
        outcome: ChildOutcome,
    },
    /// Notify a parent that a run below it waits for a person, or no longer waits.
    NotifyWaiting {
        to: RunId,
        run: RunId,
        /// Number of the event that reports it, in the log of the sender. An older report is ignored.
        report_seq: Seq,
        waiting: Option<WaitingRun>,
    },
    /// Deliver the first answer of one run to a run that waits for it.
    DeliverFirstAnswer {
        to: RunId,
        from: RunId,
        /// The message that it answers; `None` if it is the first answer after a child's start.
        reply_to: Option<MessageId>,
        answer: ChildFirstAnswer,
    },
    /// Release what a step of a run that has ended began elsewhere. It needs nothing of the run, so it is
    /// still done after the run was removed.
    ReleaseStepNote {
        run: RunId,
        op: Op,
        /// The caller of the run, on whose behalf it was begun.
        owner: Caller,
        /// The step's newest note.
        note: Value,
        /// When the run ended. After a limit it is given up.
        ended_at: Timestamp,
    },
}
