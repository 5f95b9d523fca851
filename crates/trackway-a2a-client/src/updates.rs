//! A stream of updates that survives lost connections.
//!
//! The reader pulls it: nothing is read ahead, and the reader may be slow. If a connection is lost
//! before the end of the stream, the client subscribes to the task again after the last received event.
//! An agent that keeps positions continues there. An agent without positions starts with the current
//! Task, which is passed on if it contains anything new.

mod resume;

use std::sync::Arc;

use futures_util::{Stream, stream};
use trackway_outgoing::sse::Event;

use super::{
    ClientError, TaskState, Update, is_over,
    link::{Link, Received, Shown},
    peer::{Peer, Request},
    seen::Seen,
    wire,
};

/// How often a subscription is reopened that was closed while its task waits. A server that shuts down
/// may close a few before it is gone.
/// Limit (A2A): times that our client reopens a subscription closed while its task waits.
const CLOSED_AT_REST_MAX: u32 = 3;

/// The updates of a task, or the results of a message.
#[derive(Debug)]
pub struct Updates {
    peer: Arc<Peer>,
    origin: Origin,
    /// Known from the first update, or from the message that was sent to it.
    task: Option<String>,
    last_id: Option<String>,
    connection: Connection,
    /// Connections in a row without anything new.
    failures: u32,
    /// Connections in a row that were closed properly while the task waited.
    closed_at_rest: u32,
    resumed: bool,
    seen: Seen,
    rest: Rest,
}

/// The request that opened the stream.
#[derive(Debug)]
pub(super) enum Origin {
    /// A message. The request is kept until the task is known; after that it is never sent again.
    Message(Option<Request>),
    Subscription,
}

#[derive(Debug)]
enum Connection {
    Open(Box<Link>),
    Lost(ClientError),
    /// The agent answered that it has no stream of this task any more.
    Refused(ClientError),
    Done,
}

/// Whether the task waits for an action, so that the agent may close the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    No,
    /// The Task is in such a state, which may be older than the message.
    AsTask,
    AsUpdate,
}

impl Updates {
    pub(super) fn new(
        peer: Arc<Peer>,
        origin: Origin,
        task: Option<String>,
        last_id: Option<String>,
        response: reqwest::Response,
    ) -> Self {
        let link = Link::new(response, last_id.clone());
        Self {
            peer,
            origin,
            task,
            last_id,
            connection: Connection::Open(Box::new(link)),
            failures: 0,
            closed_at_rest: 0,
            resumed: false,
            seen: Seen::default(),
            rest: Rest::No,
        }
    }

    /// The id of the last event that was returned, if the agent gives ids. A later subscription can
    /// continue after it, even in another process.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The next update; `None` at the end, and after an error. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Update>, ClientError> {
        let outcome = self.advance().await;
        if matches!(outcome, Err(_) | Ok(None)) {
            self.connection = Connection::Done;
        }
        outcome
    }

    /// The same as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<Update, ClientError>> + Send {
        stream::unfold(self, |mut updates| async {
            let item = updates.next().await.transpose()?;
            Some((item, updates))
        })
    }

    async fn advance(&mut self) -> Result<Option<Update>, ClientError> {
        loop {
            let link = match &mut self.connection {
                Connection::Open(link) => link,
                Connection::Lost(_) => {
                    if let Some(last) = self.reconnect().await? {
                        return Ok(last);
                    }
                    continue;
                }
                Connection::Refused(_) => return self.conclude().await,
                Connection::Done => return Ok(None),
            };
            let received = link.receive(self.peer.options.silence).await;
            if !matches!(received, Received::Event(_)) && link.held(self.peer.options.steady) {
                self.failures = 0;
            }
            match received {
                Received::Event(event) => {
                    if let Some(update) = self.take(event)? {
                        return Ok(Some(update));
                    }
                }
                Received::End if self.is_closed_for_good() => return Ok(None),
                Received::End => self.connection = Connection::Lost(ClientError::Closed),
                // The agent was about to close it.
                Received::Broken(_) if self.is_of_message() && self.rest == Rest::AsUpdate => {
                    return Ok(None);
                }
                Received::Broken(error) => self.connection = Connection::Lost(error),
                Received::Unreadable(error) => return Err(error),
            }
        }
    }

    /// Whether an agent closed the stream on purpose. A stream of a message ends when the task waits. A
    /// subscription does not, but some agents close it then anyway. Such an agent does so repeatedly,
    /// while an agent that was only stopped does not.
    fn is_closed_for_good(&mut self) -> bool {
        if self.rest == Rest::No {
            return false;
        }
        self.closed_at_rest += 1;
        self.is_of_message() || self.closed_at_rest > CLOSED_AT_REST_MAX
    }

    /// The content of an event, if it is new.
    fn take(&mut self, event: Event) -> Result<Option<Update>, ClientError> {
        let update = match self.peer.binding.answer(&event.data, STREAM_STATUS) {
            Ok(result) => wire::update(self.peer.generation, result.get())?,
            Err(error) if self.is_passing(&error) => {
                self.connection = Connection::Lost(error);
                return Ok(None);
            }
            // Some agents refuse a subscription inside the stream that it would have been.
            Err(error) if self.resumed && resume::is_no_longer_told(&error) => {
                self.connection = Connection::Refused(error);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let repeated = self.is_repeated(&update, event.id.as_deref());
        self.last_id = event.id;
        if repeated {
            self.rest = rest(&update, self.rest);
            self.end_where_due(&update);
            return Ok(None);
        }
        (self.failures, self.closed_at_rest) = (0, 0);
        if let (None, Some(task)) = (&self.task, update.task_id()) {
            self.task = Some(task.to_owned());
            if let Origin::Message(request) = &mut self.origin {
                *request = None;
            }
        }
        self.seen.note(&update);
        self.rest = rest(&update, self.rest);
        self.end_where_due(&update);
        Ok(Some(update))
    }

    /// Only after a break: an agent that continues from a position repeats nothing. An agent without
    /// positions sends the Task again and possibly the update that led to it.
    fn is_repeated(&mut self, update: &Update, id: Option<&str>) -> bool {
        let Connection::Open(link) = &mut self.connection else {
            return false;
        };
        let before = link.shown;
        link.shown = match update {
            Update::Task(_) => Shown::Snapshot,
            _ if before == Shown::Snapshot => Shown::Snapshot,
            _ => Shown::Updates,
        };
        match (update, before) {
            _ if !self.resumed => false,
            (Update::Task(task), _) => self.seen.knows(task),
            (Update::Status(update), Shown::Snapshot) => {
                let status = &update.status;
                let telling = status.timestamp.is_some() || status.message.is_some();
                telling && self.seen.knows_status(status)
            }
            // Some agents repeat the last event that was received.
            (_, Shown::Nothing) => id.is_some() && id == self.last_id.as_deref(),
            (_, Shown::Updates | Shown::Snapshot) => false,
        }
    }

    fn end_where_due(&mut self, update: &Update) {
        let over = match update {
            Update::Message(_) => true,
            Update::Status(update) => update.last || is_over(update.status.state),
            Update::Task(task) => is_over(task.status.state),
            Update::Artifact(_) => false,
        };
        // A stream of a message ends when the task waits. A subscription, which replaces it after a
        // break, would stay open.
        let waits = self.resumed && self.is_of_message() && self.rest != Rest::No;
        if over || waits {
            self.connection = Connection::Done;
        }
    }

    fn is_of_message(&self) -> bool {
        matches!(self.origin, Origin::Message(_))
    }
}

/// Events arrive inside a successful response.
const STREAM_STATUS: u16 = 200;

/// Whether the task waits for an action, after an update. An unknown state counts as waiting, because
/// the client cannot exclude it.
fn rest(update: &Update, before: Rest) -> Rest {
    let waits = |state: TaskState, metadata: &trackway_domain::Object| {
        state.is_interrupted() || state == TaskState::Unknown || metadata.contains_key(PARKED)
    };
    match update {
        Update::Task(task) if waits(task.status.state, &task.metadata) => Rest::AsTask,
        Update::Status(update) if waits(update.status.state, &update.metadata) => Rest::AsUpdate,
        Update::Task(_) | Update::Status(_) => Rest::No,
        Update::Artifact(_) | Update::Message(_) => before,
    }
}

/// A Trackway task whose program does not match its log also waits for an action.
const PARKED: &str = "parked";
