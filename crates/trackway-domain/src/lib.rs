//! The vocabulary of Trackway as types.
//!
//! Every other crate uses these types, and every stored record consists of them. This crate has no
//! IO, no clock and no async code: a value means the same in the engine, in a store, in a test and
//! on the screen. Wire names (A2A, MCP, …) exist only in their front door.

mod access;
mod artifact;
mod attempt;
mod caller;
mod code;
mod command;
mod document;
mod errand;
mod event;
mod guided;
mod ids;
mod message;
mod node;
mod normalize_integers;
mod op;
mod outcome;
mod part;
mod pattern;
mod question;
mod scopes;
mod state;
mod time;
mod validation_error;
mod yields;

pub use access::Access;
pub use artifact::{Artifact, ArtifactChunk};
pub use attempt::{
    Attempt, AttemptInputs, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, Checkpoint,
    GuidedEvent, InputRequirement, RenderStamp, Warning,
};
pub use caller::Caller;
pub use code::Code;
pub use command::{Command, ForkPoint, MessageDelivery, NewChild, ParsedAnswer, Submission};
pub use document::{DocumentChange, DocumentKind};
pub use errand::Errand;
pub use event::{AnswerRequest, Event, LateAnswer, StepRetry, WorkflowRef};
pub use guided::{AnsweredNode, Consent, GuidedCommand, NodeAnswer};
pub use ids::{
    ACK_BYTES, AckId, ArtifactId, MessageId, NODE_BYTES, NodeId, ParseIdError, QuestionId, RUN_BYTES, RunId,
    SessionId,
};
pub use message::{Message, Role};
pub use node::{ExpectedOutput, MissingFact, Node, PendingStep, StepState};
pub use normalize_integers::normalize_integers;
pub use op::{Op, OpKind, ParseOpError, TimerKey};
pub use outcome::{
    ChildOutcome, Failure, FirstAnswer, FirstAnswerKind, ReplayMismatch, StepOutcome, WaitingRun,
};
pub use part::{Content, File, FileSource, IntoParts, JSON_DEPTH_MAX, Part, is_deeper_than, is_too_deep};
pub use pattern::matches_pattern;
pub use question::{InterruptReason, Question};
pub use scopes::{ParseScopeError, Scope, Scopes};
pub use state::{State, StateName};
pub use time::Timestamp;
pub use validation_error::{
    VALIDATION_ERRORS_MAX, ValidationError, limit_validation_errors, shorten_text, shorten_value,
};
pub use yields::Yield;

/// Number of an event inside its run's log; the first event has number 1.
pub type Seq = u64;

/// Position of an event in the store's whole log. It grows with every event, across all runs.
pub type Position = u64;

/// A JSON object, used for metadata and schemas.
pub type Object = serde_json::Map<String, serde_json::Value>;
