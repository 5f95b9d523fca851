//! The errors between this client and an agent, grouped by how a caller reacts.

use std::{fmt, time::Duration};

use serde_json::Value;

use super::{ProtocolVersion, TransportError};

/// Why an operation has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address is invalid for this client.
    #[error("{url:?} is not the address of an agent: {why}")]
    InvalidAddress { url: String, why: String },
    /// No connection, or a connection that broke before the answer was complete.
    #[error("the connection to the agent failed while {doing}")]
    Transport {
        doing: &'static str,
        #[source]
        source: TransportError,
    },
    /// The request is larger than the way to the agent carries. Nothing was sent.
    #[error(
        "the request has {bytes} bytes, more than the {bytes_max} that can be sent: pass large content as \
         an artifact"
    )]
    RequestTooLarge { bytes: usize, bytes_max: usize },
    /// A credential or another value that no header can carry. Nothing was sent.
    #[error("the value for the header {name} has characters that no header can carry")]
    InvalidHeader { name: &'static str },
    /// The agent closed a stream although its task continues, each time that the stream was reopened.
    #[error("the agent closed the stream before the task came to rest")]
    StreamClosed,
    #[error("the agent did not answer within {} seconds", after.as_secs_f32())]
    Timeout { after: Duration },
    /// An HTTP answer without a message of the protocol.
    #[error("the agent answered with HTTP status {status}: {body:?}")]
    Status {
        status: u16,
        /// How long to wait before the next attempt, if the agent gave it in seconds.
        retry_after: Option<Duration>,
        /// The start of the body.
        body: String,
    },
    /// The agent understood the request and refused it.
    #[error("the agent refused: {0}")]
    Refused(Box<AgentRefusal>),
    /// An answer that does not follow the protocol, or is larger than the limit.
    #[error("the agent's answer cannot be read: {why}")]
    MalformedResponse { why: String },
    #[error("protocol {generation} has no operation to {operation}")]
    Unsupported { operation: &'static str, generation: ProtocolVersion },
    /// The card names no interface of a generation and binding that this client supports.
    #[error("the card offers no interface that this client speaks, only {offered:?}")]
    NoInterface { offered: Vec<String> },
}

/// An error of the protocol, as the agent sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRefusal {
    pub kind: AgentRefusalKind,
    /// The code on the JSON-RPC binding, whichever binding carried it; the HTTP status if there is no
    /// code.
    pub code: i64,
    pub message: String,
    /// The agent's additional data; null if there is none.
    pub data: Value,
    /// The status of the HTTP response that carried it.
    pub status: u16,
}

/// The errors of the protocol by their names in the specification, which are the same in both
/// generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AgentRefusalKind {
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    InvalidAgentResponse,
    ExtendedCardNotConfigured,
    ExtensionSupportRequired,
    VersionNotSupported,
    /// A code that the specification does not name.
    Other,
}

/// Each kind with its code on JSON-RPC and its reason on HTTP+JSON. Those of JSON-RPC itself have no
/// reason.
const NAMES: [(AgentRefusalKind, i64, &str); 14] = [
    (AgentRefusalKind::Parse, -32700, ""),
    (AgentRefusalKind::InvalidRequest, -32600, ""),
    (AgentRefusalKind::MethodNotFound, -32601, ""),
    (AgentRefusalKind::InvalidParams, -32602, ""),
    (AgentRefusalKind::Internal, -32603, ""),
    (AgentRefusalKind::TaskNotFound, -32001, "TASK_NOT_FOUND"),
    (AgentRefusalKind::TaskNotCancelable, -32002, "TASK_NOT_CANCELABLE"),
    (AgentRefusalKind::PushNotificationNotSupported, -32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    (AgentRefusalKind::UnsupportedOperation, -32004, "UNSUPPORTED_OPERATION"),
    (AgentRefusalKind::ContentTypeNotSupported, -32005, "CONTENT_TYPE_NOT_SUPPORTED"),
    (AgentRefusalKind::InvalidAgentResponse, -32006, "INVALID_AGENT_RESPONSE"),
    (AgentRefusalKind::ExtendedCardNotConfigured, -32007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    (AgentRefusalKind::ExtensionSupportRequired, -32008, "EXTENSION_SUPPORT_REQUIRED"),
    (AgentRefusalKind::VersionNotSupported, -32009, "VERSION_NOT_SUPPORTED"),
];

impl AgentRefusalKind {
    pub fn from_rpc_code(code: i64) -> Self {
        let known = NAMES.iter().find(|(_, number, _)| *number == code);
        known.map_or(Self::Other, |(kind, ..)| *kind)
    }

    pub(super) fn from_error_info_reason(reason: &str) -> Option<Self> {
        let known = NAMES.iter().find(|(.., name)| *name == reason && !name.is_empty());
        known.map(|(kind, ..)| *kind)
    }

    /// The code on the JSON-RPC binding.
    pub fn rpc_code(self) -> Option<i64> {
        NAMES.iter().find(|(kind, ..)| *kind == self).map(|(_, code, _)| *code)
    }
}

impl fmt::Display for AgentRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl ClientError {
    /// The kind of refusal, if the agent refused.
    pub fn refusal_kind(&self) -> Option<AgentRefusalKind> {
        match self {
            Self::Refused(refusal) => Some(refusal.kind),
            _ => None,
        }
    }

    pub(super) fn from_transport_error(doing: &'static str, source: TransportError) -> Self {
        match source {
            TransportError::TooLarge { bytes, bytes_max } => Self::RequestTooLarge { bytes, bytes_max },
            source => Self::Transport { doing, source },
        }
    }

    pub(super) fn malformed_response_error(why: impl fmt::Display) -> Self {
        Self::MalformedResponse { why: why.to_string() }
    }
}
