//! A stream of updates that outlives its connections.
//!
//! It is pulled: nothing is read ahead of its reader, who may be as slow as it likes. When a
//! connection is lost before the stream's own end, the task is subscribed to again after the last
//! event that was seen. An agent that keeps positions goes on there; one that does not begins with
//! the Task as it is, which is passed on if it holds anything new.

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

/// How often a subscription is opened again that was closed while its task waits. A server that
/// stops may close a few before it is gone.
/// Limit (A2A): times that our client reopens a subscription closed while its task waits.
const CLOSED_AT_REST_MAX: u32 = 3;

/// What happens to a task, or comes of a message.
#[derive(Debug)]
pub struct Updates {
    peer: Arc<Peer>,
    origin: Origin,
    /// Known from the first update, or from the message that was sent to it.
    task: Option<String>,
    last_id: Option<String>,
    connection: Connection,
    /// Connections in a row that brought nothing new.
    failures: u32,
    /// Connections in a row that were closed in proper form while the task waited.
    closed_at_rest: u32,
    resumed: bool,
    seen: Seen,
    rest: Rest,
}

/// What opened the stream.
#[derive(Debug)]
pub(super) enum Origin {
    /// A message; the request is kept until the task is known, since it is never sent again then.
    Message(Option<Request>),
    Subscription,
}

#[derive(Debug)]
enum Connection {
    Open(Box<Link>),
    Lost(ClientError),
    /// The agent has no stream of this task any more, and said so.
    Refused(ClientError),
    Done,
}

/// Whether the task waits for somebody, so that the agent may well close the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    No,
    /// The Task said so, which may have been from before the message.
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
    /// go on after it, also in another process.
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

    /// Whether an agent that closed the stream meant to. A stream of a message ends where the task
    /// waits. A subscription does not, but some agents close it there all the same: those do it again
    /// and again, while one that was only stopped does not.
    fn is_closed_for_good(&mut self) -> bool {
        if self.rest == Rest::No {
            return false;
        }
        self.closed_at_rest += 1;
        self.is_of_message() || self.closed_at_rest > CLOSED_AT_REST_MAX
    }

    /// What an event says, if it was not said before.
    fn take(&mut self, event: Event) -> Result<Option<Update>, ClientError> {
        let update = match self.peer.binding.answer(&event.data, STREAM_STATUS) {
            Ok(result) => wire::update(self.peer.generation, result.get())?,
            Err(error) if self.is_passing(&error) => {
                self.connection = Connection::Lost(error);
                return Ok(None);
            }
            // Some refuse a subscription inside the stream that it would have been.
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

    /// Only after a break: an agent that goes on from a position repeats nothing, one that does not
    /// shows the Task again and perhaps the update that it was just made of.
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
            // Some count the last event that was seen among those that were not.
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
        // A stream of a message ends where the task waits. A subscription, which takes its place
        // after a break, would stay open there.
        let waits = self.resumed && self.is_of_message() && self.rest != Rest::No;
        if over || waits {
            self.connection = Connection::Done;
        }
    }

    fn is_of_message(&self) -> bool {
        matches!(self.origin, Origin::Message(_))
    }
}

/// Events come inside a response that was a success.
const STREAM_STATUS: u16 = 200;

/// Whether the task waits for somebody, after an update. Unknown states are taken for such, since
/// nobody here can say that they are not.
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

/// A task of Trackway whose program does not fit its log waits for somebody too.
const PARKED: &str = "parked";
