//! Commands: every request that a run can receive. The list is closed; `engine::decide` handles each.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CallChain, Caller, ChildFirstAnswer, ChildOutcome, Failure, GuidedRunCommand, Message, MessageId, Op,
    QuestionId, ReplayMismatch, RunId, Seq, SessionId, StepOutcome, StepRetry, TimerKey, Timestamp,
    ValidationError, WaitingRun, WorkflowRef, Yield,
};

#[derive(Debug, Clone, PartialEq)]
pub enum RunCommand {
    /// Creates the run.
    Submit(Box<RunSubmission>),
    /// The program yields.
    Yield {
        op: Op,
        what: Yield,
    },
    /// The program's step has its outcome.
    FinishStep {
        op: Op,
        outcome: StepOutcome,
    },
    /// One attempt of the program's step failed. The step will be tried again.
    RetryStep(StepRetry),
    /// The program's step, which has no outcome yet, notes what it knows about its effect elsewhere. `null`
    /// removes the note.
    NoteStep {
        op: Op,
        note: Value,
    },
    /// The program's step, which has no outcome yet, gives up what its effect began elsewhere. The note says
    /// so from now on, and its release is owed at once.
    ReleaseStepNote {
        op: Op,
        note: Value,
    },
    /// The program used a value that replays must repeat.
    RecordValue {
        op: Op,
        value: Value,
    },
    /// The program sleeps.
    Sleep {
        op: Op,
        due: Timestamp,
    },
    /// The program starts a child.
    StartChild {
        op: Op,
        child: Box<NewChildRun>,
    },
    /// The program stopped waiting for the answer to this question.
    WithdrawQuestion {
        op: Op,
    },
    /// The program returned.
    End(Result<Value, Failure>),
    /// A caller's message: an answer, or a message for the history.
    Deliver(Box<MessageDelivery>),
    Cancel,
    /// A timer is due.
    FireTimer(TimerKey),
    /// A child ended.
    ReceiveChildOutcome {
        child: RunId,
        outcome: ChildOutcome,
    },
    /// A run that this run waits for has given its first answer.
    ReceiveFirstAnswer {
        from: RunId,
        /// The message that it answers. It identifies a repeated delivery.
        reply_to: Option<MessageId>,
        answer: ChildFirstAnswer,
    },
    /// A run below this one waits for a person, or no longer waits.
    UpdateWaitingRun {
        run: RunId,
        report_seq: Seq,
        waiting: Option<WaitingRun>,
    },
    /// A caller adopts an imported run.
    Adopt,
    /// The program does not fit the log.
    Park(ReplayMismatch),
    /// The program fits the log again.
    Unpark,
    /// What an outside agent does with a run that it drives.
    Guided(Box<GuidedRunCommand>),
}

/// What a child starts with, in addition to what it gets from its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChildRun {
    pub workflow: WorkflowRef,
    /// The workflow in one sentence, for people who see that it was started.
    pub description: String,
    pub input: Value,
    /// The child is a dispatch: the parent waits for its first answer, the parent's program reports it,
    /// and the child continues if the parent fails.
    pub awaited: bool,
    pub deadline: Option<Timestamp>,
    pub exit: Option<WorkflowRef>,
}

/// What a new run starts with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSubmission {
    pub run: RunId,
    pub session: SessionId,
    pub workflow: WorkflowRef,
    pub caller: Caller,
    pub input: Value,
    /// The message that requested the run, on doors that have messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The parent waits for the first answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
    /// The run fails at this moment if it has not ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// An outside agent drives the run, node by node. The engine never drives it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
    /// What to run if something other than the run's own program ends the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<WorkflowRef>,
    /// The run and the event that this run was forked from. It keeps every event up to that point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkPoint>,
    /// The calls of peers that led to the run. Children have the chain of their parent.
    #[serde(default, skip_serializing_if = "CallChain::is_empty")]
    pub call_chain: CallChain,
    /// The session of the caller, if the run has a session of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked_session: Option<SessionId>,
}

impl RunSubmission {
    /// A submission without a parent, a message or a deadline.
    pub fn new(run: RunId, session: SessionId, workflow: WorkflowRef, caller: Caller, input: Value) -> Self {
        Self {
            run,
            session,
            workflow,
            caller,
            input,
            message: None,
            parent: None,
            awaited: false,
            deadline: None,
            guided: false,
            exit: None,
            forked_from: None,
            call_chain: CallChain::default(),
            linked_session: None,
        }
    }
}

/// A point in a run's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkPoint {
    pub run: RunId,
    /// The last event that both runs have.
    pub seq: Seq,
}

/// A caller's message to an existing run.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageDelivery {
    pub message: Message,
    /// The question that it answers: the one that the sender names, or else the one that was open when
    /// it arrived.
    pub question: Option<QuestionId>,
    /// Other messages to the same question are being processed at the same time.
    pub has_concurrent: bool,
    /// The run that sends the message and waits for the next answer.
    pub awaited_by: Option<RunId>,
    /// The answer, parsed before the decision because parsing takes long.
    pub parsed_answer: Option<Box<ParsedAnswer>>,
    /// The program has processed the whole log and waits. Until then, it may still take another path
    /// that needs no answer.
    pub is_program_idle: bool,
}

/// An answer to a question, parsed and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedAnswer {
    pub question: QuestionId,
    pub input: Value,
    /// What is wrong with the answer; empty if it is valid.
    pub problems: Vec<ValidationError>,
}
