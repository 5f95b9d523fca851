//! Events: the recorded facts of a run. Everything that a client sees is a projection of these.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ArtifactChunk, ChildFirstAnswer, ChildOutcome, Failure, GuidedRunEvent, Message, MessageId, Op, Part,
    Question, QuestionId, ReplayMismatch, RunId, RunSubmission, Seq, StateName, StepOutcome, Timestamp,
    ValidationError, WaitingRun,
};

/// One recorded fact. The order of variants follows the life of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The run exists.
    Submitted(Box<RunSubmission>),
    /// The program did its first thing.
    Started,
    /// Progress. `state` is the current state of the run; it does not change.
    Status {
        op: Op,
        state: StateName,
        message: Message,
    },
    /// A piece of an artifact. If it precedes a question, its op is the op of that question.
    Artifact {
        op: Op,
        chunk: ArtifactChunk,
    },
    /// The run waits for an answer.
    Asked {
        op: Op,
        question: Question,
        message_id: MessageId,
    },
    /// An answer that does not satisfy the question's schema. The question is asked again.
    Refused {
        request: AnswerRequest,
        problems: Vec<ValidationError>,
        question: Question,
        message_id: MessageId,
    },
    /// A valid answer. The run continues with `input`.
    Resumed {
        request: AnswerRequest,
        input: Value,
        /// The run that sent the answer and waits for the next answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        awaited_by: Option<RunId>,
        /// It replaces an answer that the program could not read.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replaces: bool,
    },
    /// An answer to a question that already had an answer.
    LateAnswer(LateAnswer),
    /// A message that does not answer a question.
    Noted {
        message: Message,
    },
    /// The workflow no longer needs the answer.
    Withdrawn {
        question: QuestionId,
    },
    /// A step has its outcome; it is never executed again.
    StepDone {
        op: Op,
        outcome: StepOutcome,
    },
    /// One attempt of a step failed. The next attempt has a due time.
    StepAttemptFailed(StepRetry),
    /// What a step knows about its effect elsewhere, before its outcome. The newest counts; `null` means
    /// that there is nothing left to know. Nobody sees it.
    StepNoted {
        op: Op,
        note: Value,
    },
    /// A value that must be the same on every replay: a timestamp or a random number.
    ValueRecorded {
        op: Op,
        value: Value,
    },
    /// The run sleeps until `due`.
    Slept {
        op: Op,
        due: Timestamp,
    },
    /// The sleep is over, or the pause before a step's next attempt.
    Woke {
        op: Op,
    },
    /// A child run was started. The same append starts its log, so the child exists when this event is
    /// visible.
    ChildStarted {
        op: Op,
        child: RunId,
        workflow: WorkflowRef,
        input: Value,
        state: StateName,
        /// `None` if the parent reports the child itself, after the child's first answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<Message>,
        /// The child is a dispatch, which continues if the parent fails.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaited: bool,
    },
    ChildEnded {
        child: RunId,
        outcome: ChildOutcome,
    },
    /// A child, or a run below it, waits for a person. `state` is the current state of this run; it
    /// does not change.
    ChildWaits {
        waiting: WaitingRun,
        /// Number of the child's event that reports it.
        report_seq: Seq,
        state: StateName,
        message_id: MessageId,
    },
    /// The child no longer waits.
    ChildResumed {
        run: RunId,
        report_seq: Seq,
    },
    /// The first answer of a run that this run waits for.
    RunAnswered {
        run: RunId,
        /// The message of this run that it answers; `None` if it is the first answer after a child's
        /// start. Answers may arrive in another order than they were sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<MessageId>,
        answer: ChildFirstAnswer,
    },
    /// The program's answer to a run that waits for its first answer. It is not visible to other
    /// clients.
    Answered {
        op: Op,
        parts: Vec<Part>,
    },
    /// The program cannot be replayed. The state stays; the run waits for code that fits its log.
    Parked {
        evidence: ReplayMismatch,
        state: StateName,
        message_id: MessageId,
    },
    /// Code that fits the log was found.
    Unparked,
    /// The log was imported. Nothing happens to the run until a caller adopts it.
    Imported,
    /// A caller adopted the imported run; it continues.
    Adopted,
    /// Something in a run that an outside agent drives.
    Guided(Box<GuidedRunEvent>),
    Completed {
        output: Value,
        /// Set if the output is a text and the run has no artifact. The text is then the message of the end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
    },
    Failed {
        failure: Failure,
        message_id: MessageId,
    },
    Canceled,
    Rejected {
        reason: String,
        message_id: MessageId,
    },
}

/// Which workflow a run executes, pinned at its start.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkflowRef {
    pub name: String,
    pub version: String,
}

impl WorkflowRef {
    /// Name of the workflow whose runs hold the notes of a session itself. These runs execute nothing,
    /// so listings of runs omit them.
    pub const SESSION_NOTES: &str = "session-notes";

    /// Definitions have hashes as versions, so none has this version.
    const SESSION_NOTES_VERSION: &str = "1";

    pub fn session_notes_workflow() -> Self {
        let (name, version) = (Self::SESSION_NOTES, Self::SESSION_NOTES_VERSION);
        Self { name: name.to_owned(), version: version.to_owned() }
    }

    /// Whether runs of this workflow hold the notes of a session itself.
    pub fn is_session_notes_workflow(&self) -> bool {
        self.name == Self::SESSION_NOTES && self.version == Self::SESSION_NOTES_VERSION
    }
}

/// One request to answer a question, and its order among the requests to that question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRequest {
    pub question: QuestionId,
    pub message: Message,
    /// 1 for the first request to this question.
    pub order: u32,
    /// Another request to the same question was being processed, or had been accepted before.
    pub concurrent: bool,
}

/// A request that came after its question was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LateAnswer {
    pub request: AnswerRequest,
    /// What is wrong with it; empty if it would have been valid.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ValidationError>,
}

/// A failed attempt of a step that will be tried again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRetry {
    pub op: Op,
    /// 1 for the first attempt.
    pub attempt: u32,
    pub failure: Failure,
    pub due: Timestamp,
    /// When the first attempt started; a step's deadline counts from here.
    pub since: Timestamp,
}

impl Event {
    /// A stable name for tables and screens.
    pub fn event_name(&self) -> &'static str {
        match self {
            Self::Submitted(_) => "submitted",
            Self::Started => "started",
            Self::Status { .. } => "status",
            Self::Artifact { .. } => "artifact",
            Self::Asked { .. } => "asked",
            Self::Refused { .. } => "refused",
            Self::Resumed { .. } => "resumed",
            Self::LateAnswer(_) => "late-answer",
            Self::Noted { .. } => "noted",
            Self::Withdrawn { .. } => "withdrawn",
            Self::StepDone { .. } => "step-done",
            Self::StepAttemptFailed(_) => "step-attempt-failed",
            Self::StepNoted { .. } => "step-noted",
            Self::ValueRecorded { .. } => "value-recorded",
            Self::Slept { .. } => "slept",
            Self::Woke { .. } => "woke",
            Self::ChildStarted { .. } => "child-started",
            Self::ChildEnded { .. } => "child-ended",
            Self::ChildWaits { .. } => "child-waits",
            Self::ChildResumed { .. } => "child-resumed",
            Self::RunAnswered { .. } => "run-answered",
            Self::Answered { .. } => "answered",
            Self::Parked { .. } => "parked",
            Self::Unparked => "unparked",
            Self::Imported => "imported",
            Self::Adopted => "adopted",
            Self::Guided(guided) => match **guided {
                GuidedRunEvent::Opened { .. } => "opened",
                GuidedRunEvent::Attempted(_) => "attempted",
                GuidedRunEvent::Checkpointed(_) => "checkpointed",
                GuidedRunEvent::Repinned { .. } => "repinned",
            },
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Canceled => "canceled",
            Self::Rejected { .. } => "rejected",
        }
    }
}
