//! What the doors ask of the runtime, and what they are answered.

use serde_json::Value;
use trackway_domain::{Access, Caller, Message, Position, QuestionId, RunId, SessionId};
use trackway_engine::{DeliveryOutcome, RunView};
use trackway_ports::HookTarget;

use crate::live_run::LiveRunRef;

/// A new run.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmitRequest {
    pub workflow: String,
    pub input: Value,
    pub caller: Caller,
    /// The session it joins; a new one where absent.
    pub session: Option<SessionId>,
    /// The message that asks for it. Its id makes a repeated submit recognisable.
    pub message: Option<Message>,
    /// Somebody to be told of all its updates. Durable together with the run.
    pub hook: Option<NewHook>,
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
pub struct DeliverRequest {
    pub to: RunAddress,
    /// The session the sender believes it belongs to.
    pub session: Option<SessionId>,
    pub message: Message,
    /// The question it answers, where the sender names one.
    pub question: Option<QuestionId>,
    /// Somebody to be told of the updates from this message on. Durable together with the message.
    pub hook: Option<NewHook>,
}

/// Somebody who is to be told of a run's updates.
#[derive(Debug, Clone, PartialEq)]
pub struct NewHook {
    /// One of the same name at the same run is replaced; a fresh name where absent.
    pub id: Option<String>,
    /// Whom to tell and how, as the messenger understands it.
    pub target: HookTarget,
}

/// Keeps a run in memory for a caller that goes on with it: to follow it from here on, nothing has to
/// be read again.
#[derive(Debug, Clone)]
pub struct RunPin(#[expect(dead_code, reason = "holding it is its use")] pub(crate) LiveRunRef);

/// A run was submitted, or had been by the same message.
#[derive(Debug, Clone)]
pub struct SubmitResponse {
    pub pin: RunPin,
    /// The run as of the commit; as of now where the message was repeated.
    pub view: RunView,
    pub is_repeat: bool,
}

/// A message was taken, or had been before.
#[derive(Debug, Clone)]
pub struct DeliverResponse {
    pub pin: RunPin,
    /// The run as of the commit; as of now where the message was repeated.
    pub view: RunView,
    /// Position of the run's last event before this message was taken: a stream of what follows from
    /// the message begins after it.
    pub last_position: Position,
    pub delivered: DeliveryOutcome,
    pub is_repeat: bool,
}
