//! The result of a decision: effects on the world, and the reply to the sender of the command.

use trackway_domain::{
    AttemptReply, CrossRunErrand, Event, GuidedNode, NodeAttempt, PendingStep, QuestionId, RunId,
    RunSubmission, TimerKey, Timestamp, ValidationError,
};

/// The result of [`crate::decide`]. Effects are carried out after the events are durable, never before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub events: Vec<Event>,
    pub effects: Vec<DecisionEffect>,
    pub reply: CommandReply,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DecisionEffect {
    /// The program can continue.
    Drive,
    /// The program must stop.
    Stop,
    SetTimer(TimerKey, Timestamp),
    ClearTimer(TimerKey),
    ClearTimers,
    /// Another run starts, in the same transaction as the events.
    StartChild(Box<RunSubmission>),
    /// The run owes an errand to another run.
    AddErrand(CrossRunErrand),
}

/// The reply to the sender of a command, in addition to the run itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CommandReply {
    #[default]
    Done,
    Asked(QuestionId),
    ChildStarted(RunId),
    Delivered(MessageDeliveryOutcome),
    Guided(Box<GuidedCommandReply>),
}

/// The outcome of a guided run's command.
#[derive(Debug, Clone, PartialEq)]
pub enum GuidedCommandReply {
    Opened {
        node: GuidedNode,
        reply: AttemptReply,
    },
    Attempted(NodeAttempt),
    /// The answer would advance a step that needs a person's agreement, and the door can ask for it.
    /// Nothing is recorded.
    ConsentNeeded(PendingStep),
}

/// The outcome of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageDeliveryOutcome {
    /// It joined the history; no question was open.
    Noted,
    /// It was checked as an answer.
    Answer {
        question: QuestionId,
        /// 1 for the first request to this question.
        order: u32,
        /// Another request to the same question was being processed, or had been accepted before.
        concurrent: bool,
        /// This is the request that resumed the run.
        primary: bool,
        problems: Vec<ValidationError>,
    },
}
