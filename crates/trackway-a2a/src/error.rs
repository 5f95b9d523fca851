//! Errors of this front door, defined once. Each binding maps them to its own codes.

use std::borrow::Cow;

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use trackway_domain::{ErrorCode, ValidationError};
use trackway_runtime::Error;

/// A refused request. It changed nothing.
#[derive(Debug, Clone)]
pub(crate) struct A2aError {
    pub(crate) kind: A2aErrorKind,
    pub(crate) message: String,
    /// Boxed, so that results stay small in the success case.
    pub(crate) detail: Box<A2aErrorDetail>,
}

/// The errors of the protocol, by their names in the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum A2aErrorKind {
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    Internal,
    /// The request is correct; the same request may succeed later.
    Unavailable,
    /// The caller has no credentials, or they are not valid.
    Unauthenticated,
    /// The caller is known but lacks the required scope.
    Forbidden,
    TooLarge,
    TaskNotFound,
    TaskNotCancelable,
    PushNotificationNotSupported,
    UnsupportedOperation,
    ContentTypeNotSupported,
    ExtendedAgentCardNotConfigured,
    ExtensionSupportRequired,
    VersionNotSupported,
}

/// The canonical codes that HTTP+JSON names and gRPC numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CanonicalStatusCode {
    InvalidArgument,
    NotFound,
    FailedPrecondition,
    Internal,
    Unavailable,
    Unauthenticated,
    PermissionDenied,
    ResourceExhausted,
}

/// Details for programs, in addition to the message for people.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum A2aErrorDetail {
    Advice(ErrorAdvice),
    /// The input does not satisfy the workflow's schema.
    Input {
        errors: Vec<ValidationError>,
        schema: Value,
    },
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct ErrorAdvice {
    /// A code of the catalogue; each has a page in `docs/errors/`.
    pub(crate) code: &'static str,
    /// What to do.
    pub(crate) next: Cow<'static, str>,
    /// JSON pointer into the request, if one value is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// The known alternatives to an unknown name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) known: Vec<String>,
}

impl A2aErrorKind {
    /// The code on a JSON-RPC binding, the same in every generation.
    pub(crate) const fn json_rpc_code(self) -> i32 {
        match self {
            Self::Parse => -32700,
            // The protocol has no codes for authentication and authorization; the HTTP status shows it.
            Self::InvalidRequest | Self::Unauthenticated | Self::Forbidden | Self::TooLarge => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal | Self::Unavailable => -32603,
            Self::TaskNotFound => -32001,
            Self::TaskNotCancelable => -32002,
            Self::PushNotificationNotSupported => -32003,
            Self::UnsupportedOperation => -32004,
            Self::ContentTypeNotSupported => -32005,
            Self::ExtendedAgentCardNotConfigured => -32007,
            Self::ExtensionSupportRequired => -32008,
            Self::VersionNotSupported => -32009,
        }
    }

    /// The code on bindings that follow the canonical error model (1.0.1, section 5.4).
    pub(crate) const fn canonical_code(self) -> CanonicalStatusCode {
        match self {
            Self::Parse | Self::InvalidRequest | Self::InvalidParams | Self::ContentTypeNotSupported => {
                CanonicalStatusCode::InvalidArgument
            }
            Self::MethodNotFound | Self::TaskNotFound => CanonicalStatusCode::NotFound,
            Self::Internal => CanonicalStatusCode::Internal,
            Self::Unavailable => CanonicalStatusCode::Unavailable,
            Self::Unauthenticated => CanonicalStatusCode::Unauthenticated,
            Self::Forbidden => CanonicalStatusCode::PermissionDenied,
            Self::TooLarge => CanonicalStatusCode::ResourceExhausted,
            Self::TaskNotCancelable
            | Self::PushNotificationNotSupported
            | Self::UnsupportedOperation
            | Self::ExtendedAgentCardNotConfigured
            | Self::ExtensionSupportRequired
            | Self::VersionNotSupported => CanonicalStatusCode::FailedPrecondition,
        }
    }

    /// The status of an HTTP answer that contains only the error.
    pub(crate) const fn http_status(self) -> StatusCode {
        match self.canonical_code() {
            CanonicalStatusCode::InvalidArgument | CanonicalStatusCode::FailedPrecondition => {
                StatusCode::BAD_REQUEST
            }
            CanonicalStatusCode::NotFound => StatusCode::NOT_FOUND,
            CanonicalStatusCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            CanonicalStatusCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            CanonicalStatusCode::Unauthenticated => StatusCode::UNAUTHORIZED,
            CanonicalStatusCode::PermissionDenied => StatusCode::FORBIDDEN,
            CanonicalStatusCode::ResourceExhausted => StatusCode::PAYLOAD_TOO_LARGE,
        }
    }

    /// The name in an `ErrorInfo`; only the protocol's own errors have one.
    pub(crate) const fn error_info_reason(self) -> Option<&'static str> {
        Some(match self {
            Self::TaskNotFound => "TASK_NOT_FOUND",
            Self::TaskNotCancelable => "TASK_NOT_CANCELABLE",
            Self::PushNotificationNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            Self::UnsupportedOperation => "UNSUPPORTED_OPERATION",
            Self::ContentTypeNotSupported => "CONTENT_TYPE_NOT_SUPPORTED",
            Self::ExtendedAgentCardNotConfigured => "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            Self::ExtensionSupportRequired => "EXTENSION_SUPPORT_REQUIRED",
            Self::VersionNotSupported => "VERSION_NOT_SUPPORTED",
            Self::Parse
            | Self::InvalidRequest
            | Self::MethodNotFound
            | Self::InvalidParams
            | Self::Internal
            | Self::Unavailable
            | Self::Unauthenticated
            | Self::Forbidden
            | Self::TooLarge => return None,
        })
    }
}

impl CanonicalStatusCode {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::NotFound => "NOT_FOUND",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
        }
    }
}

impl A2aError {
    pub(crate) fn new(
        kind: A2aErrorKind,
        code: ErrorCode,
        message: impl Into<String>,
        next: impl Into<Cow<'static, str>>,
    ) -> Self {
        let advice = ErrorAdvice { code: code.as_str(), next: next.into(), path: None, known: Vec::new() };
        Self { kind, message: message.into(), detail: Box::new(A2aErrorDetail::Advice(advice)) }
    }

    /// An invalid parameter.
    pub(crate) fn invalid_param_error(
        path: impl Into<String>,
        message: impl Into<String>,
        next: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(A2aErrorKind::InvalidParams, ErrorCode::InvalidRequest, message, next)
            .with_request_path(path)
    }

    /// Input that does not satisfy the workflow's schema.
    pub(crate) fn invalid_input(errors: Vec<ValidationError>, schema: Value) -> Self {
        Self {
            kind: A2aErrorKind::InvalidParams,
            message: "the input does not satisfy the workflow's schema".to_owned(),
            detail: Box::new(A2aErrorDetail::Input { errors, schema }),
        }
    }

    /// Sets the location in the request.
    #[must_use]
    pub(crate) fn with_request_path(mut self, path: impl Into<String>) -> Self {
        if let A2aErrorDetail::Advice(advice) = &mut *self.detail {
            advice.path = Some(path.into());
        }
        self
    }

    /// Moves the location below `root`.
    #[must_use]
    pub(crate) fn strip_path_prefix(mut self, root: &str) -> Self {
        if let A2aErrorDetail::Advice(ErrorAdvice { path: Some(path), .. }) = &mut *self.detail
            && let Some(rest) = path.strip_prefix(root)
        {
            *path = rest.to_owned();
        }
        self
    }

    /// Adds the known alternatives.
    #[must_use]
    pub(crate) fn with_known_alternatives(mut self, known: Vec<String>) -> Self {
        if let A2aErrorDetail::Advice(advice) = &mut *self.detail {
            advice.known = known;
        }
        self
    }

    /// The code of the catalogue, and the next action.
    pub(crate) fn code_and_advice(&self) -> (&'static str, &str) {
        match &*self.detail {
            A2aErrorDetail::Advice(advice) => (advice.code, &advice.next),
            A2aErrorDetail::Input { .. } => {
                let next = "send what the schema asks for; the card has it too";
                (ErrorCode::InvalidInput.as_str(), next)
            }
        }
    }

    /// No run with that id is visible at this address.
    pub(crate) fn unknown_task_error(id: &str) -> Self {
        // The client may have sent any text of any length; a short excerpt is enough to recognise it.
        let shown: String = id.chars().take(64).collect();
        Self::new(
            A2aErrorKind::TaskNotFound,
            ErrorCode::UnknownRun,
            format!("task {shown:?} was not found at this address"),
            "send the id of a task that this agent returned, to this agent's address",
        )
    }

    /// There is no agent at this address.
    pub(crate) fn is_unknown_agent(&self) -> bool {
        matches!(&*self.detail, A2aErrorDetail::Advice(advice) if advice.code == ErrorCode::UnknownWorkflow.as_str())
    }

    /// `why` explains why an existing workflow is not an agent.
    pub(crate) fn unknown_agent(name: &str, known: Vec<String>, why: Option<&str>) -> Self {
        let shown: String = name.chars().take(64).collect();
        let (message, next) = match why {
            None => (format!("there is no agent {shown:?}"), "take an address from the list at /a2a/agents"),
            Some(why) => (
                format!("workflow {shown:?} is not an agent: {why}"),
                "drive it over MCP, or take an address from the list at /a2a/agents",
            ),
        };
        Self::new(A2aErrorKind::MethodNotFound, ErrorCode::UnknownWorkflow, message, next)
            .with_known_alternatives(known)
    }
}

impl From<Error> for A2aError {
    fn from(error: Error) -> Self {
        let code = error.code();
        let message = error.to_string();
        match error {
            Error::InvalidInput { problems, schema } => Self::invalid_input(problems, schema),
            Error::UnknownWorkflow { name, known, why } => {
                Self::unknown_agent(&name, known, why.as_deref())
            }
            Error::UnknownRun { run } => Self::unknown_task_error(&run),
            Error::SessionMismatch { .. } => Self::new(
                A2aErrorKind::InvalidParams,
                code,
                message,
                "send the task's own contextId, or leave it out",
            )
            .with_request_path("/params/message/contextId"),
            Error::Ended { .. } => Self::new(
                A2aErrorKind::UnsupportedOperation,
                code,
                message,
                "start a new task: send the message without taskId",
            ),
            Error::UnknownQuestion { .. } => Self::new(
                A2aErrorKind::InvalidParams,
                code,
                message,
                "repeat the questionId from the metadata of the question's message, or leave it out",
            )
            .with_request_path("/params/message/metadata/questionId"),
            Error::NotAdopted { .. } | Error::CannotAdopt { .. } => Self::new(
                A2aErrorKind::UnsupportedOperation,
                code,
                message,
                "look at it, then adopt it with `trackway runs adopt`",
            ),
            Error::MessageReused { .. } => Self::new(
                A2aErrorKind::InvalidParams,
                code,
                message,
                "give every new message an id of its own; only a repetition of the same message may repeat it",
            )
            .with_request_path("/params/message/messageId"),
            Error::HookRefused { .. } => {
                Self::new(A2aErrorKind::InvalidParams, code, message, "correct the push configuration")
            }
            Error::CannotFork { .. } => {
                Self::new(A2aErrorKind::InvalidParams, code, message, "choose another point of the run")
            }
            Error::Damaged { run, reason } => {
                tracing::error!(%run, reason, "a run's log is damaged");
                let message = format!("the log of {run} is damaged");
                Self::new(A2aErrorKind::Internal, code, message, "ask the operator; the server's log has the details")
            }
            Error::Unavailable { reason } => {
                tracing::warn!(reason, "the store is busy");
                let message = "the server cannot read or store anything at the moment";
                let next = "send the same message, with the same messageId, again in a moment";
                Self::new(A2aErrorKind::Unavailable, code, message, next)
            }
            Error::Store { reason } => {
                tracing::error!(reason, "the store has failed");
                let message = "the server cannot store anything at the moment";
                Self::new(A2aErrorKind::Internal, code, message, "ask the operator; the server's log has the details")
            }
            Error::Internal { reason } => {
                tracing::error!(reason, "something went wrong inside");
                let message = "something went wrong inside";
                Self::new(A2aErrorKind::Internal, code, message, "ask the operator; the server's log has the details")
            }
            Error::Stopping => Self::new(
                A2aErrorKind::Internal,
                code,
                message,
                "send the same message, with the same messageId, again in a moment",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
