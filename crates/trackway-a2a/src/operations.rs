//! The operations on a run that every binding and generation of the protocol shares. No wire type is
//! used here.

mod agent_call;
mod artifact_visibility;
mod invoked_artifacts;
mod message_sending;
mod push_config;
mod task_list;
mod task_stream;

use std::sync::Arc;

use trackway_domain::{
    Access, ArtifactChunk, ErrorCode, Message, Position, QuestionId, RunId, SessionId, Timestamp,
    ValidationError,
};
use trackway_engine::{
    AnswerRequestRank, BoundedRunView, OmittedContent, RunView, RunViewLimits, StatusUpdate,
};
use trackway_http::sse::FrameContentKind;
use trackway_ports::Identity;
use trackway_runtime::{Error, Program, ProgramInfo, RunAddress, Runtime};

use crate::{
    Options,
    authentication::{ClientAuthState, SEND_KEY_ADVICE},
    error::{A2aError, A2aErrorKind},
};

pub(crate) use agent_call::{
    AgentCall, AgentCallOutcome, AnonymousCardAccess, EndedTaskSubscriptionPolicy, HistoryLength,
};
pub(crate) use invoked_artifacts::{InvocationOptions, SessionBehavior};
pub(crate) use message_sending::{DirectReply, SendReply, StreamReply};
pub(crate) use push_config::{PageRequest, PushAuthentication, PushNotificationConfig};
pub(crate) use task_list::{TaskPage, TaskQuery};
pub(crate) use task_stream::{TaskStream, task_event_from_stored};

/// Limit (A2A): bytes of artifacts and history in one Task.
///
/// More than one message of the largest size, and small enough that many concurrent answers fit into
/// memory. The rest is in the task's stream and events.
const TASK_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One workflow, addressed by one caller.
#[derive(Debug)]
pub(crate) struct AddressedAgent<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) options: &'a Options,
    pub(crate) program: Arc<dyn Program>,
    pub(crate) identity: Identity,
    pub(crate) access: Access,
    pub(crate) auth_state: ClientAuthState,
}

/// A caller's message, and the fields that say where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IncomingMessage {
    pub(crate) message: Message,
    /// The run that it is for, as sent: text that is not a run id is an unknown run.
    pub(crate) run: Option<String>,
    pub(crate) session: Option<SessionId>,
    pub(crate) question: Option<QuestionId>,
    /// It starts a run, even if a run waits in its session.
    pub(crate) starts_new_run: bool,
    /// How it starts a run.
    pub(crate) invocation: InvocationOptions,
    /// Media types that the client accepts; any if empty.
    pub(crate) accepted_modes: Vec<String>,
    /// An additional receiver of the following updates.
    pub(crate) push: Option<PushNotificationConfig>,
}

/// A run and its session, which are part of every answer about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TaskRef {
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
}

/// A run at one moment.
#[derive(Debug, Clone)]
pub(crate) struct TaskSnapshot {
    pub(crate) view: RunView,
    /// The result of the message that this answers.
    pub(crate) answer: Option<AnswerReceipt>,
    /// The parts that did not fit.
    pub(crate) omitted: OmittedContent,
}

/// A request's number among those at its question, and its errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerReceipt {
    pub(crate) mark: AnswerRequestRank,
    pub(crate) problems: Vec<ValidationError>,
}

/// Limit (A2A): bytes of one event of a stream.
///
/// The same as for a Task: a reader of a stream must be able to read each of its events.
const STREAMED_BYTES_MAX: usize = TASK_BYTES_MAX;

/// One item of a stream, and the position after which the stream continues.
#[derive(Debug, Clone)]
pub(crate) struct TaskEvent {
    pub(crate) pos: Position,
    pub(crate) content: TaskEventContent,
    /// The parts of an update that did not fit.
    pub(crate) omitted: OmittedContent,
    /// Its approximate size as JSON, in bytes.
    pub(crate) bytes: usize,
    /// Who else receives the same item.
    pub(crate) scope: FrameContentKind,
}

#[derive(Debug, Clone)]
pub(crate) enum TaskEventContent {
    Snapshot(Box<TaskSnapshot>),
    Status(Box<StatusUpdate>, Timestamp),
    Artifact(ArtifactChunk),
}

#[cfg(test)]
impl TaskEvent {
    /// One that was small enough.
    pub(crate) fn complete_task_event(pos: Position, content: TaskEventContent) -> Self {
        Self { pos, content, omitted: OmittedContent::default(), bytes: 0, scope: FrameContentKind::Event }
    }
}

/// Whether a send waits until the run comes to rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendWaitFor {
    Commit,
    Idle,
}

impl AddressedAgent<'_> {
    pub(crate) fn program_info(&self) -> &ProgramInfo {
        self.program.info()
    }

    pub(crate) async fn get_task(&self, id: &str) -> Result<TaskSnapshot, A2aError> {
        let view = self.runtime.current_run_view(&self.parse_run_address(id)?).await?;
        Ok(TaskSnapshot::snapshot_from_view(view))
    }

    /// The run, already canceled.
    pub(crate) async fn cancel_task(&self, id: &str) -> Result<TaskSnapshot, A2aError> {
        match self.runtime.cancel_run(&self.parse_run_address(id)?).await {
            Ok(view) => Ok(TaskSnapshot::snapshot_from_view(view)),
            Err(error @ Error::Ended { .. }) => Err(A2aError::new(
                A2aErrorKind::TaskNotCancelable,
                error.code(),
                error.to_string(),
                "nothing is left to cancel; tasks/get shows how it ended",
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// The current run and what follows; after a position, every event since then instead.
    pub(crate) async fn subscribe_to_task(
        &self,
        id: &str,
        after: Option<Position>,
        ended: EndedTaskSubscriptionPolicy,
    ) -> Result<TaskStream, A2aError> {
        let address = self.parse_run_address(id)?;
        let view = self.runtime.current_run_view(&address).await?;
        // A client that names a position may have missed the end, and receives it.
        if ended == EndedTaskSubscriptionPolicy::Refuse && after.is_none() && view.state.is_terminal() {
            return Err(A2aError::new(
                A2aErrorKind::UnsupportedOperation,
                ErrorCode::RunEnded,
                format!("the task has ended ({})", view.state),
                "get the task instead; or send Last-Event-ID for the events after a position",
            ));
        }
        let watch = self.runtime.watch_run(&address, after.unwrap_or(view.pos)).await?;
        Ok(match after {
            None => TaskStream::stream_from_current_state(TaskSnapshot::snapshot_from_view(view), watch),
            Some(_) => TaskStream::stream_from_position(view.task_ref(), watch),
        })
    }

    /// For authenticated callers. If the server has no authentication, the generation decides who
    /// receives it.
    fn check_extended_card_access(
        &self,
        anonymous: AnonymousCardAccess,
    ) -> Result<AgentCallOutcome, A2aError> {
        let (kind, message) = match (self.options.extended_card, self.auth_state, anonymous) {
            (true, ClientAuthState::Authenticated, _)
            | (true, ClientAuthState::NotRequired, AnonymousCardAccess::Allowed) => {
                return Ok(AgentCallOutcome::ExtendedCard);
            }
            (true, ClientAuthState::Anonymous, _) => {
                let message = "the extended card needs a key or token";
                let code = ErrorCode::Unauthenticated;
                return Err(A2aError::new(A2aErrorKind::Unauthenticated, code, message, SEND_KEY_ADVICE));
            }
            (true, ClientAuthState::NotRequired, AnonymousCardAccess::Denied) => (
                A2aErrorKind::ExtendedAgentCardNotConfigured,
                "the extended card needs authentication, which this server does not ask for",
            ),
            (false, _, _) => (anonymous.undeclared_error_kind(), "this agent has no extended card"),
        };
        let next = "the card at .well-known/agent-card.json says all there is";
        Err(A2aError::new(kind, ErrorCode::InvalidRequest, message, next))
    }

    fn parse_run_address(&self, id: &str) -> Result<RunAddress, A2aError> {
        let run = id.parse().map_err(|_| A2aError::unknown_task_error(id))?;
        Ok(self.run_address_of(run))
    }

    fn run_address_of(&self, run: RunId) -> RunAddress {
        RunAddress { run, access: self.access.clone(), workflow: Some(self.program_info().name.clone()) }
    }
}

impl TaskSnapshot {
    pub(crate) fn snapshot_from_view(view: RunView) -> Self {
        Self { view, answer: None, omitted: OmittedContent::default() }
    }

    /// With this many of its newest messages, and its artifacts if requested, as far as they fit. Also
    /// returns its approximate size in bytes.
    pub(crate) fn limit_history(self, messages: HistoryLength, artifacts: bool) -> (Self, usize) {
        let wanted = RunViewLimits { messages, artifacts, bytes: TASK_BYTES_MAX };
        let BoundedRunView { view, omitted, bytes } = self.view.omit_content_over_limits(wanted);
        (Self { view, omitted, ..self }, bytes)
    }

    pub(crate) fn task_ref(&self) -> TaskRef {
        self.view.task_ref()
    }
}

/// The ids of a view's run and session.
trait HasTaskRef {
    fn task_ref(&self) -> TaskRef;
}

impl HasTaskRef for RunView {
    fn task_ref(&self) -> TaskRef {
        TaskRef { run: self.submission.run, session: self.submission.session.clone() }
    }
}
