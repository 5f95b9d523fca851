//! The requests of the doors to the runtime, and its responses.

use serde_json::Value;
use trackway_domain::{Access, CallChain, Caller, File, Message, Position, QuestionId, RunId, SessionId};
use trackway_engine::{MessageDeliveryOutcome, RunView};
use trackway_ports::HookTarget;

use crate::live_run::LiveRunRef;

/// A new run.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmitRunRequest {
    pub workflow: String,
    pub input: Value,
    pub caller: Caller,
    /// The session it joins; a new one if absent.
    pub session: Option<SessionId>,
    /// The message that requests the run. Its id makes a repeated submit recognisable.
    pub message: Option<Message>,
    /// The contents of files that the message names, read by the door. They are recorded with the message,
    /// each in place of its part of the same name. A repeated message is recognised without them.
    pub resolved_files: Vec<File>,
    /// A receiver of all updates of the run. Durable together with the run.
    pub hook: Option<NewHook>,
    /// The calls of peers that led to it.
    pub call_chain: CallChain,
    /// The session of the caller, if the run gets a session of its own.
    pub linked_session: Option<SessionId>,
}

impl SubmitRunRequest {
    /// A run in a session of its own, without a message, a hook or a peer behind it.
    pub fn new(workflow: impl Into<String>, input: Value, caller: Caller) -> Self {
        Self {
            workflow: workflow.into(),
            input,
            caller,
            session: None,
            message: None,
            resolved_files: Vec::new(),
            hook: None,
            call_chain: CallChain::default(),
            linked_session: None,
        }
    }
}

/// Which run, for whom, and through which workflow's address. A run that the access does not cover, or of
/// another workflow than the one addressed, does not exist for this request.
#[derive(Debug, Clone, PartialEq)]
pub struct RunAddress {
    pub run: RunId,
    pub access: Access,
    pub workflow: Option<String>,
}

/// A message to an existing run.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliverMessageRequest {
    pub to: RunAddress,
    /// The session the sender believes it belongs to.
    pub session: Option<SessionId>,
    pub message: Message,
    /// The question it answers, if the sender names one.
    pub question: Option<QuestionId>,
    /// A receiver of the updates after this message. Durable together with the message.
    pub hook: Option<NewHook>,
}

/// A receiver of a run's updates.
#[derive(Debug, Clone, PartialEq)]
pub struct NewHook {
    /// Replaces a hook of the same run with the same name. If absent, a fresh name is chosen.
    pub id: Option<String>,
    /// The receiver and how to reach it, in the form that the messenger understands.
    pub target: HookTarget,
}

/// Keeps a run in memory for a caller that continues with it, so that nothing has to be read again.
#[derive(Debug, Clone)]
pub struct RunPin(#[expect(dead_code, reason = "holding it is its use")] pub(crate) LiveRunRef);

/// A run was submitted now, or earlier by the same message.
#[derive(Debug, Clone)]
pub struct SubmitRunResponse {
    pub pin: RunPin,
    /// The run at the commit. For a repeated message, the run as it is now.
    pub view: RunView,
    pub is_repeat: bool,
}

/// A message was accepted now, or earlier.
#[derive(Debug, Clone)]
pub struct DeliverMessageResponse {
    pub pin: RunPin,
    /// The run at the commit. For a repeated message, the run as it is now.
    pub view: RunView,
    /// Position of the run's last event before this message was accepted. A stream of what follows from the
    /// message begins after it.
    pub last_position: Position,
    pub delivered: MessageDeliveryOutcome,
    pub is_repeat: bool,
}
