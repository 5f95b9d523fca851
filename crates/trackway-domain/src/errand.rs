//! Errands: what one run owes to another.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Caller, ChildOutcome, FirstAnswer, MessageId, RunId, SessionId, WorkflowRef};

/// Work across two runs. It is recorded with the decision that owes it and struck out with the one
/// that did it, so a crash between the two only repeats the attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errand {
    /// Start this child; its id is fixed, so a repeated attempt finds it started.
    StartChild {
        parent: RunId,
        child: RunId,
        session: SessionId,
        caller: Caller,
        workflow: WorkflowRef,
        input: Value,
        /// The parent waits for its first answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaited: bool,
    },
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
    /// Tell a run that waits for it what another said first.
    TellAnswer {
        to: RunId,
        from: RunId,
        /// The message that it was said to; none where it is what a child said after its start.
        reply_to: Option<MessageId>,
        answer: FirstAnswer,
    },
}
