//! The vocabulary of Trackway as types.
//!
//! Every other crate uses these types, and every stored record consists of them. This crate has no
//! IO, no clock and no async code: a value means the same in the engine, in a store, in a test and
//! on the screen. Wire names (A2A, MCP, …) exist only in their front door.

mod access;
mod artifact;
mod artifact_reference;
mod attempt;
mod call_chain;
mod caller;
mod code;
mod command;
mod document_change;
mod errand;
mod event;
mod guided_commands;
mod ids;
mod message;
mod node;
mod normalize_integers;
mod part;
mod permission;
mod program_op;
mod question;
mod recorded_outcomes;
mod run_state;
mod scopes;
mod step_note;
mod timestamp;
mod validation_error;
mod wildcard_pattern;
mod workflow_yield;

pub use access::Access;
pub use artifact::{Artifact, ArtifactChunk};
pub use artifact_reference::{
    ARTIFACT_FILENAME_BYTES_MAX, ArtifactEntrySource, ArtifactFilename, ArtifactIndexEntry,
    ArtifactReference, ArtifactScope, ArtifactScopeKind,
};
pub use attempt::{
    AttemptInputs, AttemptOutcome, AttemptReply, BlockReason, BranchPosition, CheckpointNotes,
    GuidedRunEvent, GuidedRunWarning, InputRequirement, NodeAttempt, ReplyRenderStamp,
};
pub use call_chain::{CALL_CHAIN_ADDRESS_BYTES_MAX, CALL_CHAIN_ANCESTORS_MAX, CallChain, CallChainRefusal};
pub use caller::Caller;
pub use code::ErrorCode;
pub use command::{ForkPoint, MessageDelivery, NewChildRun, ParsedAnswer, RunCommand, RunSubmission};
pub use document_change::{DocumentChange, DocumentKind};
pub use errand::CrossRunErrand;
pub use event::{AnswerRequest, Event, LateAnswer, StepRetry, WorkflowRef};
pub use guided_commands::{AnsweredNode, ConsentStatus, GuidedRunCommand, NodeAnswer};
pub use ids::{
    ACK_BYTES, AckId, ArtifactId, MessageId, NODE_BYTES, NodeId, ParseIdError, QuestionId, RUN_BYTES, RunId,
    SessionId,
};
pub use message::{Message, MessageRole};
pub use node::{ExpectedOutput, GuidedNode, GuidedStepState, MissingFact, PendingStep};
pub use normalize_integers::normalize_integers;
pub use part::{
    File, FileSource, IntoParts, JSON_DEPTH_MAX, MessagePartContent, Part, is_json_deeper_than,
    is_json_too_deep,
};
pub use permission::{Permission, PermissionRefusal};
pub use program_op::{Op, OpKind, ParseOpError, TimerKey};
pub use question::{InterruptReason, Question};
pub use recorded_outcomes::{
    ChildFirstAnswer, ChildFirstAnswerKind, ChildOutcome, Failure, ReplayMismatch, StepOutcome, WaitingRun,
};
pub use run_state::{State, StateName};
pub use scopes::{ParseScopeError, Scope, Scopes};
pub use step_note::{STEP_NOTE_BYTES_MAX, STEP_NOTES_MAX, StepNoteRefusal, check_step_note};
pub use timestamp::Timestamp;
pub use validation_error::{
    VALIDATION_ERRORS_MAX, ValidationError, limit_validation_errors, shorten_text, shorten_value,
};
pub use wildcard_pattern::matches_wildcard;
pub use workflow_yield::Yield;

/// Number of an event inside its run's log; the first event has number 1.
pub type Seq = u64;

/// Position of an event in the store's whole log. It grows with every event, across all runs.
pub type Position = u64;

/// A JSON object, used for metadata and schemas.
pub type Object = serde_json::Map<String, serde_json::Value>;
