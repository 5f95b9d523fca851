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
mod integer;
mod message;
mod node;
mod op;
mod outcome;
mod part;
mod pattern;
mod problem;
mod question;
mod scopes;
mod state;
mod time;
mod yields;

pub use access::Access;
pub use artifact::{Artifact, ArtifactChunk};
pub use attempt::{
    Answer, Attempt, AttemptOutcome, Block, Branch, Checkpoint, Guided, Inputs, Need, Seal, Warning,
};
pub use caller::Caller;
pub use code::Code;
pub use command::{Command, Delivery, ForkPoint, NewChild, Reading, Submission};
pub use document::{DocumentChange, DocumentKind};
pub use errand::Errand;
pub use event::{Event, Late, Resume, Retry, WorkflowRef};
pub use guided::{AnsweredNode, Consent, GuidedCommand, NodeAnswer};
pub use ids::{
    ACK_BYTES, AckId, ArtifactId, BadId, MessageId, NODE_BYTES, NodeId, QuestionId, RUN_BYTES,
    RunId, SessionId,
};
pub use integer::normalize_integers;
pub use message::{Message, Role};
pub use node::{Expected, Node, Pending, StepState, WantedFact};
pub use op::{BadOp, Op, OpKind, Timer};
pub use outcome::{
    AnswerKind, ChildOutcome, Evidence, Failure, FirstAnswer, StepOutcome, WaitingRun,
};
pub use part::{
    Content, File, FileSource, IntoParts, JSON_DEPTH_MAX, Part, is_deeper_than, is_too_deep,
};
pub use pattern::matches_pattern;
pub use problem::{PROBLEMS_MAX, Problem, limit_problems, shorten_text, shorten_value};
pub use question::{Question, Reason};
pub use scopes::{BadScope, Scope, Scopes};
pub use state::{State, StateName};
pub use time::Timestamp;
pub use yields::Yield;

/// Number of an event inside its run's log; the first event has number 1.
pub type Seq = u64;

/// Position of an event in the store's whole log. It grows with every event, across all runs.
pub type Pos = u64;

/// A JSON object, used for metadata and schemas.
pub type Object = serde_json::Map<String, serde_json::Value>;
