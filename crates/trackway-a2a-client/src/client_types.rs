//! The types of requests and answers, the same for both generations. Messages, parts, artifacts, states
//! and times are domain types.
//!
//! Ids of tasks and contexts are text: every agent has its own form.

use trackway_domain::{ArtifactChunk, Object, Timestamp};

pub use trackway_domain::{
    Artifact, ArtifactId, File, FileSource, Message, MessageId, MessagePartContent, MessageRole, Part,
    StateName as TaskState,
};

/// A task at the time of the agent's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub id: String,
    /// Agents of protocol 1.0 need not name one.
    pub context: Option<String>,
    pub status: TaskStatus,
    pub artifacts: Vec<Artifact>,
    pub history: Vec<Message>,
    pub metadata: Object,
}

/// A state that the client does not know is [`TaskState::Unknown`].
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStatus {
    pub state: TaskState,
    pub message: Option<Message>,
    /// Also absent if the agent sent an invalid time.
    pub timestamp: Option<Timestamp>,
}

/// A message and the conversation that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressedMessage {
    pub message: Message,
    pub task: Option<String>,
    pub context: Option<String>,
}

/// The result of a send.
#[derive(Debug, Clone, PartialEq)]
pub enum SendReply {
    Task(Task),
    /// The agent answered without a task.
    Message(AddressedMessage),
}

/// One item of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskUpdate {
    /// The current task; it replaces everything that was known of it before.
    Task(Task),
    Message(AddressedMessage),
    Status(StatusUpdate),
    Artifact(ArtifactUpdate),
}

#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub task: String,
    pub context: Option<String>,
    pub status: TaskStatus,
    pub metadata: Object,
    /// The agent declared that nothing follows. Protocol 1.0 has no such marker: there it is derived
    /// from the state.
    pub last: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactUpdate {
    pub task: String,
    pub context: Option<String>,
    pub chunk: ArtifactChunk,
    pub metadata: Object,
}

/// How a message is sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SendOptions {
    /// Streams ignore it.
    pub wait: SendWait,
    /// Most messages of the history in the answer; the agent's default if absent.
    pub history: Option<u32>,
    /// Media types that the caller accepts; any if empty.
    pub accepted_modes: Vec<String>,
    /// Where the agent sends notifications about the task.
    pub push: Option<PushConfig>,
    /// Metadata of the request, not of the message.
    pub metadata: Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SendWait {
    /// Until the task has ended or waits for an action.
    #[default]
    UntilIdle,
    /// Not at all: the answer is the task at its start.
    ReturnImmediately,
}

/// Where and how an agent sends notifications about a task.
#[derive(Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// The agent chooses one if absent.
    pub id: Option<String>,
    pub url: String,
    /// Sent back with each notification, so that the receiver can recognise it.
    pub token: Option<String>,
    pub authentication: Option<PushAuthentication>,
}

/// The agent's credentials for the receiver: `Authorization: {scheme} {credentials}`.
#[derive(Clone, PartialEq, Eq)]
pub struct PushAuthentication {
    pub scheme: String,
    pub credentials: Option<String>,
}

/// Which tasks to list. The default is the first page of all that the caller may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskQuery {
    pub context: Option<String>,
    pub state: Option<TaskState>,
    /// Tasks whose status is from this time or later.
    pub after: Option<Timestamp>,
    pub page_size: Option<u32>,
    /// The token of the previous page.
    pub page_token: Option<String>,
    pub history: Option<u32>,
    pub artifacts: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskPage {
    pub tasks: Vec<Task>,
    /// The token of the next page; absent on the last page.
    pub next: Option<String>,
    /// All matching tasks, on all pages.
    pub total: u64,
}

impl AddressedMessage {
    /// A message that starts a conversation.
    pub fn new(message: Message) -> Self {
        Self { message, task: None, context: None }
    }

    /// A message of the user. The id must be new for each message, and the same for its repetitions.
    pub fn from_user(id: MessageId, parts: Vec<Part>) -> Self {
        Self::new(Message::new(id, MessageRole::User, parts))
    }

    /// The same message, to a task.
    #[must_use]
    pub fn addressed_to_task(mut self, id: impl Into<String>) -> Self {
        self.task = Some(id.into());
        self
    }

    /// The same message, in a context.
    #[must_use]
    pub fn in_context(mut self, id: impl Into<String>) -> Self {
        self.context = Some(id.into());
        self
    }
}

impl SendOptions {
    /// The agent answers as soon as it has accepted the message.
    pub fn return_immediately() -> Self {
        Self { wait: SendWait::ReturnImmediately, ..Self::default() }
    }
}

impl PushConfig {
    pub fn new(url: impl Into<String>) -> Self {
        Self { id: None, url: url.into(), token: None, authentication: None }
    }
}

impl SendReply {
    pub fn as_task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Message(_) => None,
        }
    }
}

impl TaskUpdate {
    /// Its state, if it has one.
    pub fn task_state(&self) -> Option<TaskState> {
        match self {
            Self::Task(task) => Some(task.status.state),
            Self::Status(update) => Some(update.status.state),
            Self::Message(_) | Self::Artifact(_) => None,
        }
    }

    /// Its task.
    pub fn task_id(&self) -> Option<&str> {
        match self {
            Self::Task(task) => Some(&task.id),
            Self::Status(update) => Some(&update.task),
            Self::Artifact(update) => Some(&update.task),
            Self::Message(envelope) => envelope.task.as_deref(),
        }
    }
}

/// Everything except the secrets, which must not be logged.
impl std::fmt::Debug for PushConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushConfig")
            .field("id", &self.id)
            .field("url", &self.url)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("authentication", &self.authentication)
            .finish()
    }
}

impl std::fmt::Debug for PushAuthentication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushAuthentication").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}
