//! A stream of updates that survives lost connections.
//!
//! The reader pulls it: nothing is read ahead, and the reader may be slow. If a connection is lost
//! before the end of the stream, the client subscribes to the task again after the last received event.
//! An agent that keeps positions continues there. An agent without positions starts with the current
//! Task, which is passed on if it contains anything new.

mod stream_resume;

use std::sync::Arc;

use futures_util::{Stream, stream};
use trackway_outgoing::sse::SseEvent;

use super::{
    ClientError, TaskState, TaskUpdate, TransportResponse, is_final_task_state,
    received_task_progress::ReceivedTaskProgress,
    remote_agent::{PreparedRequest, RemoteAgent},
    sse_connection::{ReceiveOutcome, ReceivedSoFar, SseConnection},
    wire,
};

/// How often a subscription is reopened that was closed while its task waits. A server that shuts down
/// may close a few before it is gone.
/// Limit (A2A): times that our client reopens a subscription closed while its task waits.
const CLOSED_AT_REST_MAX: u32 = 3;

/// The updates of a task, or the results of a message.
#[derive(Debug)]
pub struct TaskUpdateStream {
    peer: Arc<RemoteAgent>,
    origin: StreamOrigin,
    /// Known from the first update, or from the message that was sent to it.
    task: Option<String>,
    last_id: Option<String>,
    connection: ConnectionState,
    /// Connections in a row without anything new.
    failures: u32,
    /// Connections in a row that were closed properly while the task waited.
    closed_at_rest: u32,
    resumed: bool,
    progress: ReceivedTaskProgress,
    idle_state: TaskIdleState,
}

/// The request that opened the stream.
#[derive(Debug)]
pub(super) enum StreamOrigin {
    /// A message. The request is kept until the task is known; after that it is never sent again.
    Message(Option<PreparedRequest>),
    Subscription,
}

#[derive(Debug)]
enum ConnectionState {
    Open(Box<SseConnection>),
    Lost(ClientError),
    /// The agent answered that it has no stream of this task any more.
    Refused(ClientError),
    Done,
}

/// Whether the task waits for an action, so that the agent may close the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskIdleState {
    No,
    /// The Task is in such a state, which may be older than the message.
    InTask,
    InUpdate,
}

impl TaskUpdateStream {
    pub(super) fn new(
        peer: Arc<RemoteAgent>,
        origin: StreamOrigin,
        task: Option<String>,
        last_id: Option<String>,
        response: TransportResponse,
    ) -> Self {
        let link = SseConnection::new(response, last_id.clone());
        Self {
            peer,
            origin,
            task,
            last_id,
            connection: ConnectionState::Open(Box::new(link)),
            failures: 0,
            closed_at_rest: 0,
            resumed: false,
            progress: ReceivedTaskProgress::default(),
            idle_state: TaskIdleState::No,
        }
    }

    /// The id of the last event that was returned, if the agent gives ids. A later subscription can
    /// continue after it, even in another process.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The next update; `None` at the end, and after an error. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<TaskUpdate>, ClientError> {
        let outcome = self.next_update().await;
        if matches!(outcome, Err(_) | Ok(None)) {
            self.connection = ConnectionState::Done;
        }
        outcome
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<TaskUpdate, ClientError>> + Send {
        stream::unfold(self, |mut updates| async {
            let item = updates.next().await.transpose()?;
            Some((item, updates))
        })
    }

    async fn next_update(&mut self) -> Result<Option<TaskUpdate>, ClientError> {
        loop {
            let link = match &mut self.connection {
                ConnectionState::Open(link) => link,
                ConnectionState::Lost(_) => {
                    if let Some(last) = self.reconnect_stream().await? {
                        return Ok(last);
                    }
                    continue;
                }
                ConnectionState::Refused(_) => return self.finish_refused_stream().await,
                ConnectionState::Done => return Ok(None),
            };
            let received = link.receive_sse_event(self.peer.options.silence_timeout).await;
            if !matches!(received, ReceiveOutcome::Event(_))
                && link.was_steady_for(self.peer.options.steady_after)
            {
                self.failures = 0;
            }
            match received {
                ReceiveOutcome::Event(event) => {
                    if let Some(update) = self.process_sse_event(event)? {
                        return Ok(Some(update));
                    }
                }
                ReceiveOutcome::End if self.is_closed_on_purpose() => return Ok(None),
                ReceiveOutcome::End => self.connection = ConnectionState::Lost(ClientError::StreamClosed),
                // The agent was about to close it.
                ReceiveOutcome::Broken(_)
                    if self.was_opened_by_message() && self.idle_state == TaskIdleState::InUpdate =>
                {
                    return Ok(None);
                }
                ReceiveOutcome::Broken(error) => self.connection = ConnectionState::Lost(error),
                ReceiveOutcome::Malformed(error) => return Err(error),
            }
        }
    }

    /// Whether an agent closed the stream on purpose. A stream of a message ends when the task waits. A
    /// subscription does not, but some agents close it then anyway. Such an agent does so repeatedly,
    /// while an agent that was only stopped does not.
    fn is_closed_on_purpose(&mut self) -> bool {
        if self.idle_state == TaskIdleState::No {
            return false;
        }
        self.closed_at_rest += 1;
        self.was_opened_by_message() || self.closed_at_rest > CLOSED_AT_REST_MAX
    }

    /// The content of an event, if it is new.
    fn process_sse_event(&mut self, event: SseEvent) -> Result<Option<TaskUpdate>, ClientError> {
        let update = match self.peer.binding.parse_binding_response(&event.data, STREAM_STATUS) {
            Ok(result) => wire::parse_stream_update(self.peer.generation, result.get())?,
            Err(error) if self.is_transient_stream_failure(&error) => {
                self.connection = ConnectionState::Lost(error);
                return Ok(None);
            }
            // Some agents refuse a subscription inside the stream that it would have been.
            Err(error) if self.resumed && stream_resume::is_no_stream_refusal(&error) => {
                self.connection = ConnectionState::Refused(error);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let repeated = self.is_repeated_update(&update, event.id.as_deref());
        self.last_id = event.id;
        if repeated {
            self.idle_state = task_idle_state_after(&update, self.idle_state);
            self.finish_stream_if_over(&update);
            return Ok(None);
        }
        (self.failures, self.closed_at_rest) = (0, 0);
        if let (None, Some(task)) = (&self.task, update.task_id()) {
            self.task = Some(task.to_owned());
            if let StreamOrigin::Message(request) = &mut self.origin {
                *request = None;
            }
        }
        self.progress.record_received_update(&update);
        self.idle_state = task_idle_state_after(&update, self.idle_state);
        self.finish_stream_if_over(&update);
        Ok(Some(update))
    }

    /// Only after a break: an agent that continues from a position repeats nothing. An agent without
    /// positions sends the Task again and possibly the update that led to it.
    fn is_repeated_update(&mut self, update: &TaskUpdate, id: Option<&str>) -> bool {
        let ConnectionState::Open(link) = &mut self.connection else {
            return false;
        };
        let before = link.received_so_far;
        link.received_so_far = match update {
            TaskUpdate::Task(_) => ReceivedSoFar::Snapshot,
            _ if before == ReceivedSoFar::Snapshot => ReceivedSoFar::Snapshot,
            _ => ReceivedSoFar::Updates,
        };
        match (update, before) {
            _ if !self.resumed => false,
            (TaskUpdate::Task(task), _) => self.progress.has_received_task_state(task),
            (TaskUpdate::Status(update), ReceivedSoFar::Snapshot) => {
                let status = &update.status;
                let telling = status.timestamp.is_some() || status.message.is_some();
                telling && self.progress.has_received_status(status)
            }
            // Some agents repeat the last event that was received.
            (_, ReceivedSoFar::Nothing) => id.is_some() && id == self.last_id.as_deref(),
            (_, ReceivedSoFar::Updates | ReceivedSoFar::Snapshot) => false,
        }
    }

    fn finish_stream_if_over(&mut self, update: &TaskUpdate) {
        let over = match update {
            TaskUpdate::Message(_) => true,
            TaskUpdate::Status(update) => update.last || is_final_task_state(update.status.state),
            TaskUpdate::Task(task) => is_final_task_state(task.status.state),
            TaskUpdate::Artifact(_) => false,
        };
        // A stream of a message ends when the task waits. A subscription, which replaces it after a
        // break, would stay open.
        let waits = self.resumed && self.was_opened_by_message() && self.idle_state != TaskIdleState::No;
        if over || waits {
            self.connection = ConnectionState::Done;
        }
    }

    fn was_opened_by_message(&self) -> bool {
        matches!(self.origin, StreamOrigin::Message(_))
    }
}

/// Events arrive inside a successful response.
const STREAM_STATUS: u16 = 200;

/// Whether the task waits for an action, after an update. An unknown state counts as waiting, because
/// the client cannot exclude it.
fn task_idle_state_after(update: &TaskUpdate, before: TaskIdleState) -> TaskIdleState {
    let waits = |state: TaskState, metadata: &trackway_domain::Object| {
        state.is_interrupted() || state == TaskState::Unknown || metadata.contains_key(PARKED)
    };
    match update {
        TaskUpdate::Task(task) if waits(task.status.state, &task.metadata) => TaskIdleState::InTask,
        TaskUpdate::Status(update) if waits(update.status.state, &update.metadata) => TaskIdleState::InUpdate,
        TaskUpdate::Task(_) | TaskUpdate::Status(_) => TaskIdleState::No,
        TaskUpdate::Artifact(_) | TaskUpdate::Message(_) => before,
    }
}

/// A Trackway task whose program does not match its log also waits for an action.
const PARKED: &str = "parked";
