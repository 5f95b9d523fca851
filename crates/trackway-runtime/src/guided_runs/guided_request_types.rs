//! The requests and responses of guided runs.

use trackway_definition::{Finding, model::UnsupportedConstruct};
use trackway_domain::{
    AckId, AttemptInputs, BlockReason, BranchPosition, ConsentStatus, ErrorCode, GuidedRunWarning, NodeId,
    Object, PendingStep, ReplyRenderStamp, RunId, SessionId, StateName,
};

#[derive(Debug, Clone, PartialEq)]
pub struct GuidedStartRequest {
    pub workflow: String,
    pub context: Object,
    pub stamp: ReplyRenderStamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GuidedAdvanceRequest {
    pub run: RunId,
    pub node: NodeId,
    pub ack: AckId,
    pub inputs: AttemptInputs,
    pub consent: ConsentStatus,
    pub stamp: ReplyRenderStamp,
}

/// The result of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum GuidedAdvanceResponse {
    Node(Box<GuidedNodeView>),
    /// The answer would advance a step that needs a person's consent: ask the person, then send it again with
    /// [`ConsentStatus::Answered`]. Nothing was recorded.
    ConsentNeeded(PendingStep),
}

/// The caller's position in a run: everything that a response contains.
#[derive(Debug, Clone, PartialEq)]
pub struct GuidedNodeView {
    pub run: RunId,
    pub session: SessionId,
    pub workflow: String,
    /// Hash of the definition that the node uses.
    pub hash: String,
    pub node: NodeId,
    /// For the answer to the pending step; none if nothing is pending, or if the run was ended.
    pub ack: Option<AckId>,
    pub pending: Option<PendingStep>,
    /// The workflow's rules; only after a start and an inspection.
    pub guidance: Vec<String>,
    /// An answer led to this node just now. Otherwise it was started with, inspected, or not left.
    pub advanced: bool,
    /// Which branch the node was when it was created.
    pub branch: BranchPosition,
    pub warnings: Vec<GuidedRunWarning>,
    pub blocked: Option<BlockReason>,
    /// The stamp to render the response with: that of the call, or of the first response.
    pub stamp: ReplyRenderStamp,
}

/// Notes were recorded now, or earlier.
#[derive(Debug, Clone, PartialEq)]
pub struct GuidedCheckpointResponse {
    pub view: GuidedNodeView,
    pub is_repeat: bool,
}

/// The result of a migration.
#[derive(Debug, Clone, PartialEq)]
pub struct GuidedMigrateResponse {
    pub from: String,
    pub to: String,
    /// The nodes that now use the new definition.
    pub nodes: Vec<NodeId>,
}

/// Why a request failed. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GuidedRunError {
    #[error("there is no workflow {workflow:?}")]
    UnknownWorkflow { workflow: String, similar: Vec<String> },
    #[error("the file of workflow {workflow:?} is not a valid definition")]
    InvalidWorkflow { workflow: String, file: String, findings: Vec<Finding> },
    #[error("workflow {workflow:?} has a construct that is not supported")]
    UnsupportedWorkflow { workflow: String, unsupported: Vec<UnsupportedConstruct> },
    #[error("{}", .0.message)]
    MissingContext(BlockReason),
    #[error("there is no run {run}")]
    UnknownRun { run: RunId },
    /// The run exists, but this point of it does not: it was never recorded here, or was removed.
    #[error("{run} has no snapshot {node}")]
    UnknownNode { run: RunId, node: NodeId },
    #[error("{run} was {state} and cannot go on")]
    Ended { run: RunId, state: StateName },
    #[error("{run} was imported and is not adopted")]
    NotAdopted { run: RunId },
    #[error("the log of {run} is damaged: {reason}")]
    Damaged { run: RunId, reason: String },
    #[error("{what} is larger than {max} bytes")]
    TooLarge { what: &'static str, max: usize },
    #[error("{what} is nested deeper than {levels} levels")]
    TooDeep { what: &'static str, levels: usize },
    #[error("{what} cannot name a session: {why}")]
    InvalidSessionId { what: String, why: String },
    /// No more wrong answers are recorded at this node; a right one still is.
    #[error("too many answers to this step of {run} did not fit: {}", .block.message)]
    TooManyAttempts { run: RunId, block: BlockReason },
    #[error("no outside agent drives {run}")]
    NotGuided { run: RunId },
    #[error("{run} cannot be migrated: {why}")]
    CannotMigrate { run: RunId, why: String },
    /// Nothing was recorded; the same call can be made later.
    #[error("the store is busy: {reason}")]
    Unavailable { reason: String },
    #[error("the server is stopping")]
    Stopping,
    #[error("the store has failed: {reason}")]
    Store { reason: String },
    /// A defect: no request should lead to it.
    #[error("something went wrong inside: {reason}")]
    Internal { reason: String },
}

impl GuidedRunError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownWorkflow { .. } => ErrorCode::UnknownWorkflow,
            Self::InvalidWorkflow { .. } => ErrorCode::InvalidWorkflow,
            Self::UnsupportedWorkflow { .. } => ErrorCode::UnsupportedWorkflow,
            Self::MissingContext(_) => ErrorCode::MissingContext,
            Self::UnknownRun { .. } | Self::UnknownNode { .. } => ErrorCode::UnknownRun,
            Self::Ended { .. } => ErrorCode::RunEnded,
            Self::NotAdopted { .. } => ErrorCode::NotAdopted,
            Self::Damaged { .. } => ErrorCode::DamagedLog,
            Self::TooLarge { .. } | Self::TooDeep { .. } => ErrorCode::TooLarge,
            Self::InvalidSessionId { .. } | Self::NotGuided { .. } | Self::CannotMigrate { .. } => {
                ErrorCode::InvalidRequest
            }
            Self::TooManyAttempts { .. } => ErrorCode::TooManyAttempts,
            Self::Unavailable { .. } => ErrorCode::StoreBusy,
            Self::Stopping => ErrorCode::Stopping,
            Self::Store { .. } => ErrorCode::StoreFailed,
            Self::Internal { .. } => ErrorCode::Internal,
        }
    }
}
