//! Errands: what one run owes to another.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Caller, ChildOutcome, FirstAnswer, MessageId, RunId, Seq, SessionId, WaitingRun, WorkflowRef,
};

/// Work across two runs. It is recorded with the decision that owes it and struck out with the one
/// that did it, so a crash between the two only repeats the attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errand {
    CancelChild {
        child: RunId,
    },
    /// Run what a run wanted to have run at its end, since its own program was stopped before. Its id is
    /// fixed, so a repeated attempt finds it started.
    RunExit {
        of: RunId,
        exit: RunId,
        session: SessionId,
        caller: Caller,
        workflow: WorkflowRef,
        input: Value,
    },
    TellParent {
        parent: RunId,
        child: RunId,
        outcome: ChildOutcome,
    },
    /// Tell a parent that a run below it waits for a person, or waits no longer.
    TellWaiting {
        to: RunId,
        run: RunId,
        /// Number of the event that says so, in the log of whoever tells: what is older is passed over.
        number: Seq,
        waits: Option<WaitingRun>,
    },
    /// Tell a run that waits for it what another said first.
    TellAnswer {
        to: RunId,
        from: RunId,
        /// The message that it was said to; none where it is what a child said after its start.
        reply_to: Option<MessageId>,
        answer: FirstAnswer,
    },
}
