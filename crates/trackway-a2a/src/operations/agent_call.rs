//! Every request to an agent, independent of generation and binding.
//!
//! A binding parses a request into an [`AgentCall`], the agent executes it, and the binding writes the
//! [`AgentCallOutcome`]. There is no other layer between the wire and the operations.

use trackway_domain::Position;

use super::{
    AddressedAgent, IncomingMessage, PageRequest, PushNotificationConfig, SendReply, SendWaitFor,
    StreamReply, TaskPage, TaskQuery, TaskSnapshot, TaskStream,
};
use crate::{
    error::{A2aError, A2aErrorKind},
    request_options::HISTORY_MESSAGES_MAX,
};

/// How many of the newest messages of a task's history are returned; zero means none.
pub(crate) type HistoryLength = usize;

#[derive(Debug)]
pub(crate) enum AgentCall {
    Send {
        incoming: Box<IncomingMessage>,
        wait: SendWaitFor,
        history: HistoryLength,
    },
    Stream {
        incoming: Box<IncomingMessage>,
        history: HistoryLength,
    },
    Get {
        task: String,
        history: HistoryLength,
    },
    List {
        query: Box<TaskQuery>,
        history: HistoryLength,
        artifacts: bool,
    },
    Cancel {
        task: String,
    },
    Subscribe {
        task: String,
        after: Option<Position>,
        ended: EndedTaskSubscriptionPolicy,
        history: HistoryLength,
    },
    SetPush {
        task: String,
        push: Box<PushNotificationConfig>,
    },
    /// Without an id, the oldest one: clients of 0.3 may omit the id.
    GetPush {
        task: String,
        id: Option<String>,
    },
    ListPushes {
        task: String,
        page: PageRequest,
    },
    RemovePush {
        task: String,
        id: String,
    },
    ExtendedCard {
        strangers: AnonymousCardAccess,
    },
}

/// Whether an anonymous caller receives the extended card of a server without authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnonymousCardAccess {
    Allowed,
    /// As in 0.3, whose card is called authenticated.
    Denied,
}

impl AnonymousCardAccess {
    /// The refusal if no card declares the extended card: 1.0 (3.3.4) has one error for every
    /// capability of that kind, 0.3 has a specific one.
    pub(super) const fn undeclared_error_kind(self) -> A2aErrorKind {
        match self {
            Self::Allowed => A2aErrorKind::UnsupportedOperation,
            Self::Denied => A2aErrorKind::ExtendedAgentCardNotConfigured,
        }
    }
}

/// The answer to a subscription to a task that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedTaskSubscriptionPolicy {
    /// The current task, and the end of the stream.
    ReturnTask,
    /// A refusal.
    Refuse,
}

#[derive(Debug)]
pub(crate) enum AgentCallOutcome {
    Reply(SendReply, HistoryLength),
    Task(Box<TaskSnapshot>, HistoryLength),
    Page {
        page: TaskPage,
        history: HistoryLength,
        artifacts: bool,
    },
    Stream(StreamReply, HistoryLength),
    Push {
        task: String,
        push: Box<PushNotificationConfig>,
    },
    Pushes {
        task: String,
        pushes: Vec<PushNotificationConfig>,
        /// Where the next page starts; empty at the end.
        next: String,
    },
    /// Done, without a result.
    Done,
    /// The card with the content for authenticated callers.
    ExtendedCard,
}

impl AddressedAgent<'_> {
    pub(crate) async fn perform_agent_call(&self, call: AgentCall) -> Result<AgentCallOutcome, A2aError> {
        Ok(match call {
            AgentCall::Send { incoming, wait, history } => AgentCallOutcome::Reply(
                self.send_message(*incoming, wait).await?.limit_history(history),
                history,
            ),
            AgentCall::Stream { incoming, history } => AgentCallOutcome::Stream(
                self.stream_message(*incoming).await?.limit_history(history),
                history,
            ),
            AgentCall::Get { task, history } => {
                let (task, _) = self.get_task(&task).await?.limit_history(history, true);
                AgentCallOutcome::Task(task.into(), history)
            }
            AgentCall::List { query, history, artifacts } => {
                let page = self.list_tasks(*query, history, artifacts).await?;
                AgentCallOutcome::Page { page, history, artifacts }
            }
            AgentCall::Cancel { task } => {
                let history = HISTORY_MESSAGES_MAX;
                let (task, _) = self.cancel_task(&task).await?.limit_history(history, true);
                AgentCallOutcome::Task(task.into(), history)
            }
            AgentCall::Subscribe { task, after, ended, history } => {
                let follow: TaskStream = self.subscribe_to_task(&task, after, ended).await?;
                AgentCallOutcome::Stream(StreamReply::Task(Box::new(follow.limit_history(history))), history)
            }
            AgentCall::SetPush { task, push } => {
                let push = Box::new(self.set_push_config(&task, *push).await?);
                AgentCallOutcome::Push { task, push }
            }
            AgentCall::GetPush { task, id } => {
                let push = Box::new(self.find_push_config(&task, id.as_deref()).await?);
                AgentCallOutcome::Push { task, push }
            }
            AgentCall::ListPushes { task, page } => {
                let (pushes, next) = self.list_push_configs(&task, &page).await?;
                AgentCallOutcome::Pushes { task, pushes, next }
            }
            AgentCall::RemovePush { task, id } => {
                self.remove_push_config(&task, &id).await?;
                AgentCallOutcome::Done
            }
            AgentCall::ExtendedCard { strangers } => self.check_extended_card_access(strangers)?,
        })
    }
}
