//! Commands: everything that can be asked of a run. A closed list; `engine::decide` answers each.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Caller, ChildOutcome, Evidence, Failure, FirstAnswer, GuidedCommand, Message, MessageId, Op,
    Problem, QuestionId, Retry, RunId, Seq, SessionId, StepOutcome, Timer, Timestamp, WaitingRun,
    WorkflowRef, Yield,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Creates the run.
    Submit(Box<Submission>),
    /// The program says something.
    Yield {
        op: Op,
        what: Yield,
    },
    /// The program's step came to its outcome.
    FinishStep {
        op: Op,
        outcome: StepOutcome,
    },
    /// One attempt of the program's step failed and is to be tried again.
    RetryStep(Retry),
    /// The program drew a value that replays must repeat.
    Draw {
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
        child: Box<NewChild>,
    },
    /// The program stopped waiting for the answer to this question.
    Withdraw {
        op: Op,
    },
    /// The program returned.
    End(Result<Value, Failure>),
    /// A caller's message: an answer, or one for the history.
    Deliver(Box<Delivery>),
    Cancel,
    /// A timer is due.
    Fire(Timer),
    /// A child ended.
    EndChild {
        child: RunId,
        outcome: ChildOutcome,
    },
    /// A run that this one waits for has said its first thing.
    TakeAnswer {
        from: RunId,
        /// What it was said to: told again, it is recognised.
        reply_to: Option<MessageId>,
        answer: FirstAnswer,
    },
    /// A run below this one waits for a person, or waits no longer.
    TakeWaiting {
        run: RunId,
        number: Seq,
        waits: Option<WaitingRun>,
    },
    /// Somebody takes responsibility for an imported run.
    Adopt,
    /// The program does not fit the log.
    Park(Evidence),
    /// It fits again.
    Unpark,
    /// What an outside agent does with a run that it drives.
    Guided(Box<GuidedCommand>),
}

/// What a child begins with, beside what it has from its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChild {
    pub workflow: WorkflowRef,
    /// The workflow in a sentence, for people who see that it was started.
    pub description: String,
    pub input: Value,
    /// It is a dispatch: its first answer is wanted, the program tells of it itself, and it outlives a
    /// parent that fails.
    pub awaited: bool,
    pub deadline: Option<Timestamp>,
    pub exit: Option<WorkflowRef>,
}

/// What a new run begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    pub run: RunId,
    pub session: SessionId,
    pub workflow: WorkflowRef,
    pub caller: Caller,
    pub input: Value,
    /// The message that asked for it, on doors that have messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The parent waits for the first answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
    /// The run fails at this moment if it has not ended by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// An outside agent drives it, node by node; the engine never does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
    /// What is to run when this run is ended by something else than its own program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<WorkflowRef>,
    /// The run and its event that this one goes on from, with everything up to there as its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkPoint>,
}

impl Submission {
    /// Of a run that nobody else asked for and nothing limits.
    pub fn new(
        run: RunId,
        session: SessionId,
        workflow: WorkflowRef,
        caller: Caller,
        input: Value,
    ) -> Self {
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
        }
    }
}

/// A point in a run's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkPoint {
    pub run: RunId,
    /// The last event that both have.
    pub seq: Seq,
}

/// A caller's message to an existing run.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    pub message: Message,
    /// The question it answers: named by the sender, else the one that was open when it arrived.
    pub question: Option<QuestionId>,
    /// Other messages to the same question are on their way at the same time.
    pub others: bool,
    /// The run that sends it and waits for what is said next.
    pub awaited_by: Option<RunId>,
    /// The answer as it was read ahead of the decision, because reading it takes long.
    pub reading: Option<Box<Reading>>,
    /// The program has seen everything that the log holds, and waits. While it has not, it may turn out
    /// that it took another way and needs no answer.
    pub settled: bool,
}

/// An answer to a question, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub question: QuestionId,
    pub input: Value,
    /// What is wrong with it; nothing where it fits.
    pub problems: Vec<Problem>,
}
