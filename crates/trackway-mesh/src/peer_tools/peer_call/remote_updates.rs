//! The updates of a remote task: from a stream, or by asking for the task where an agent has no streams.

use std::time::Duration;

use trackway_a2a_client::{
    AddressedMessage, AgentRefusalKind, Client, ClientError, Task, TaskUpdate, TaskUpdateStream,
};

use super::PeerCall;

/// The pause before an agent without streams is asked for its task, at first.
const POLL_PAUSE_FIRST: Duration = Duration::from_millis(100);
/// Limit (Mesh): longest pause between two requests for the task of an agent that has no streams.
const POLL_PAUSE_MAX: Duration = Duration::from_secs(5);

/// Updates of one task, one after the other.
#[derive(Debug)]
pub(super) enum RemoteUpdates {
    Stream(Box<TaskUpdateStream>),
    /// The agent has no streams: its task is asked for.
    Polled {
        first: Option<Box<TaskUpdate>>,
        pause: Duration,
    },
}

impl RemoteUpdates {
    pub(super) fn from_stream(stream: TaskUpdateStream) -> Self {
        Self::Stream(Box::new(stream))
    }

    pub(super) fn from_task(task: Task) -> Self {
        Self::Polled { first: Some(Box::new(TaskUpdate::Task(task))), pause: POLL_PAUSE_FIRST }
    }

    pub(super) fn from_message(message: AddressedMessage) -> Self {
        Self::Polled { first: Some(Box::new(TaskUpdate::Message(message))), pause: POLL_PAUSE_FIRST }
    }

    /// The next update; `None` at the end of a stream.
    pub(super) async fn next(&mut self, call: &mut PeerCall<'_>) -> Result<Option<TaskUpdate>, ClientError> {
        match self {
            Self::Stream(stream) => {
                let update = stream.next().await?;
                call.last_event = stream.last_event_id().map(ToOwned::to_owned).or(call.last_event.take());
                Ok(update)
            }
            Self::Polled { first, pause } => {
                if let Some(first) = first.take() {
                    return Ok(Some(*first));
                }
                loop {
                    tokio::time::sleep(*pause).await;
                    *pause = (*pause * 2).min(POLL_PAUSE_MAX);
                    let Some(id) = call.note.task.clone() else { return Ok(None) };
                    // Whether the peer can be reached is decided by the request for the task.
                    let Ok(client) = call.connect().await else { return Err(ClientError::StreamClosed) };
                    let task = client.get_task(&id, None).await?;
                    let known = call.remote.status();
                    // An update is news; silence has a limit.
                    if known.is_none_or(|known| *known != task.status) {
                        return Ok(Some(TaskUpdate::Task(task)));
                    }
                }
            }
        }
    }
}

/// Whether the agent's card promises streams. An agent without a card is tried.
pub(super) fn has_streams(client: &Client) -> bool {
    client.agent_card().is_none_or(|card| card.streaming)
}

/// The updates of a task after an event; its current state if the agent has no stream of it.
pub(super) async fn subscribe(
    client: &Client,
    task: &str,
    after: Option<&str>,
) -> Result<RemoteUpdates, ClientError> {
    if has_streams(client) {
        match client.subscribe_to_task(task, after).await {
            Ok(stream) => return Ok(RemoteUpdates::from_stream(stream)),
            // A task that has ended has no stream.
            Err(error)
                if matches!(
                    error.refusal_kind(),
                    Some(AgentRefusalKind::UnsupportedOperation | AgentRefusalKind::MethodNotFound)
                ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(RemoteUpdates::from_task(client.get_task(task, None).await?))
}
