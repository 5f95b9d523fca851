//! What is said between a client and an agent, in one vocabulary for both generations. Messages,
//! parts, artifacts, states and times are the domain's own.
//!
//! Ids of tasks and contexts are text: every agent makes its own.

use trackway_domain::{ArtifactChunk, Object, Timestamp};

pub use trackway_domain::{
    Artifact, ArtifactId, Content, File, FileSource, Message, MessageId, Part, Role,
    StateName as TaskState,
};

/// A task as it stood when the agent answered.
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
    /// Absent also where the agent wrote what is no time.
    pub timestamp: Option<Timestamp>,
}

/// A message and the conversation that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    pub message: Message,
    pub task: Option<String>,
    pub context: Option<String>,
}

/// What comes of a send.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Task(Task),
    /// The agent answered without making a task.
    Message(Envelope),
}

/// One item of a stream.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    /// The task as it is now; what was known of it before is replaced.
    Task(Task),
    Message(Envelope),
    Status(StatusUpdate),
    Artifact(ArtifactUpdate),
}

#[derive(Debug, Clone, PartialEq)]
pub struct StatusUpdate {
    pub task: String,
    pub context: Option<String>,
    pub status: TaskStatus,
    pub metadata: Object,
    /// The agent said that nothing follows. Protocol 1.0 has no such mark: there it is made of the
    /// state.
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
    /// Streams do not look at it.
    pub wait: Wait,
    /// Most messages of the history in the answer; the agent's own number if absent.
    pub history: Option<u32>,
    /// Media types that the caller can use; anything if empty.
    pub accepted_modes: Vec<String>,
    /// Where the agent reports what happens to the task.
    pub push: Option<PushConfig>,
    /// Of the request, not of the message.
    pub metadata: Object,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wait {
    /// Until the task has ended or waits for somebody.
    #[default]
    Rest,
    /// Not at all: the task is shown as it begins.
    No,
}

/// Where and how an agent reports by itself what happens to a task.
#[derive(Clone, PartialEq, Eq)]
pub struct PushConfig {
    /// The agent chooses one if absent.
    pub id: Option<String>,
    pub url: String,
    /// Comes back with each report, so that the receiver knows it.
    pub token: Option<String>,
    pub authentication: Option<PushAuthentication>,
}

/// What the agent shows to the receiver: `Authorization: {scheme} {credentials}`.
#[derive(Clone, PartialEq, Eq)]
pub struct PushAuthentication {
    pub scheme: String,
    pub credentials: Option<String>,
}

/// Which tasks to list. The default is the first page of all that the caller may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQuery {
    pub context: Option<String>,
    pub state: Option<TaskState>,
    /// Tasks whose status is from then or later.
    pub after: Option<Timestamp>,
    pub page_size: Option<u32>,
    /// Where the page before said to go on.
    pub page_token: Option<String>,
    pub history: Option<u32>,
    pub artifacts: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub tasks: Vec<Task>,
    /// Where to go on; absent on the last page.
    pub next: Option<String>,
    /// All tasks that match, on all pages.
    pub total: u64,
}

impl Envelope {
    /// A message that begins a conversation.
    pub fn new(message: Message) -> Self {
        Self { message, task: None, context: None }
    }

    /// What a user says. The id must be new for each message, and the same for its repetitions.
    pub fn user(id: MessageId, parts: Vec<Part>) -> Self {
        Self::new(Message::new(id, Role::User, parts))
    }

    /// The same message, to a task.
    #[must_use]
    pub fn to_task(mut self, id: impl Into<String>) -> Self {
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
    /// To be answered as soon as the agent has taken the message.
    pub fn at_once() -> Self {
        Self { wait: Wait::No, ..Self::default() }
    }
}

impl PushConfig {
    pub fn new(url: impl Into<String>) -> Self {
        Self { id: None, url: url.into(), token: None, authentication: None }
    }
}

impl Reply {
    pub fn task(&self) -> Option<&Task> {
        match self {
            Self::Task(task) => Some(task),
            Self::Message(_) => None,
        }
    }
}

impl Update {
    /// The state that it shows, if it shows one.
    pub fn state(&self) -> Option<TaskState> {
        match self {
            Self::Task(task) => Some(task.status.state),
            Self::Status(update) => Some(update.status.state),
            Self::Message(_) | Self::Artifact(_) => None,
        }
    }

    /// The task that it is about.
    pub fn task_id(&self) -> Option<&str> {
        match self {
            Self::Task(task) => Some(&task.id),
            Self::Status(update) => Some(&update.task),
            Self::Artifact(update) => Some(&update.task),
            Self::Message(envelope) => envelope.task.as_deref(),
        }
    }
}

/// Everything but the secrets, which belong in no log.
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
