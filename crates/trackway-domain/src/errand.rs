//! Errands: what one run owes to another.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Caller, ChildFirstAnswer, ChildOutcome, MessageId, RunId, Seq, SessionId, WaitingRun, WorkflowRef,
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
}
