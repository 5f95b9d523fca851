//! What follows from a decision: effects on the world, and the answer to whoever sent the command.

use trackway_domain::{
    Answer, Attempt, Errand, Event, Node, Pending, Problem, QuestionId, RunId, Submission, Timer,
    Timestamp,
};

/// The result of [`crate::decide`]. Effects are carried out after the events are durable, never before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    pub reply: Reply,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The program has something to go on with.
    Drive,
    /// The program must not go on.
    Stop,
    SetTimer(Timer, Timestamp),
    ClearTimer(Timer),
    ClearTimers,
    /// Another run begins: with the events, in the same transaction.
    Start(Box<Submission>),
    /// Something is owed to another run.
    Owe(Errand),
}

/// What the sender of a command is told, beside the run itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Reply {
    #[default]
    Done,
    Asked(QuestionId),
    ChildStarted(RunId),
    Delivered(Delivered),
    Guided(Box<GuidedReply>),
}

/// What became of a guided run's command.
#[derive(Debug, Clone, PartialEq)]
pub enum GuidedReply {
    Opened {
        node: Node,
        answer: Answer,
    },
    Attempted(Attempt),
    /// The answer would advance a step that wants a person's agreement, which the door can get. Nothing
    /// is recorded.
    ConsentNeeded(Pending),
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Delivered {
    /// It joined the history; nothing was asked.
    Noted,
    /// It was judged as an answer.
    Answer {
        question: QuestionId,
        /// 1 for the first request at this question.
        order: u32,
        /// Another request to the same question was there at the time, or had been accepted before.
        concurrent: bool,
        /// This is the request that resumed the run.
        primary: bool,
        problems: Vec<Problem>,
    },
}
