//! Routes a server's questions to the call that they belong to, which asks the user.
//!
//! A server handles several calls at once, and over standard input and output a question does not say
//! which call it is for. So a question is passed on only if all running calls belong to one
//! conversation of one user. The call asks it in its own future and waits there: the step is running,
//! and the run stays in memory, until the user answers.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use trackway_domain::{Caller, SessionId};

/// Pending questions of one call. A server asks and waits; more is a fault of the server.
/// Limit (Tools): open questions of one call.
const QUESTIONS_MAX: usize = 4;

/// The key for declining, added to the fields of the server's schema.
const DECLINE: &str = "decline";

/// A question, and the channel for its answer.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) message: String,
    pub(super) schema: Value,
    pub(super) reply: oneshot::Sender<Reply>,
}

/// The user's reaction to a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Accepted(Value),
    Declined,
}

/// The running calls of a server.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// Locked only to read or change it, never across an await.
    seats: Mutex<Seats>,
}

#[derive(Debug, Default)]
struct Seats {
    next: u64,
    taken: Vec<Seat>,
}

#[derive(Debug)]
struct Seat {
    number: u64,
    owner: (Caller, SessionId),
    questions: mpsc::Sender<Question>,
}

/// A call's registration. It is removed when the call ends, for any reason.
#[derive(Debug)]
pub(super) struct Place {
    desk: Arc<Desk>,
    number: u64,
}

impl Desk {
    pub(super) fn sit(
        self: &Arc<Self>,
        caller: Caller,
        session: SessionId,
    ) -> (Place, mpsc::Receiver<Question>) {
        let (questions, received) = mpsc::channel(QUESTIONS_MAX);
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let number = seats.next;
        seats.next += 1;
        seats.taken.push(Seat { number, owner: (caller, session), questions });
        (Place { desk: self.clone(), number }, received)
    }

    /// The newest call, if all calls belong to one conversation.
    pub(super) fn addressee(&self) -> Result<mpsc::Sender<Question>, &'static str> {
        let seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = seats.taken.last().ok_or("no call is under way")?;
        if seats.taken.iter().any(|seat| seat.owner != newest.owner) {
            return Err("calls of several conversations are under way");
        }
        Ok(newest.questions.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut seats = self.desk.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.taken.retain(|seat| seat.number != self.number);
    }
}

/// The schema for the user: the server's, plus a way to decline. A user who declines need not fill in
/// anything else.
pub(super) fn with_decline(mut schema: Value) -> Value {
    let Some(map) = schema.as_object_mut() else { return schema };
    let required = map.remove("required");
    let properties = map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Some(properties) = properties.as_object_mut() else { return schema };
    // A server that has a field of this name has its own way to decline.
    let decline = || json!({"type": "boolean", "description": "Say no: nothing is sent."});
    properties.entry(DECLINE).or_insert_with(decline);
    if let Some(required) = required {
        map.insert("if".to_owned(), json!({"not": said_no()}));
        map.insert("then".to_owned(), json!({"required": required}));
    }
    schema
}

fn said_no() -> Value {
    json!({"required": [DECLINE], "properties": {DECLINE: {"const": true}}})
}

/// The meaning of an answer to [`with_decline`].
pub(super) fn read_reply(mut answer: Value) -> Reply {
    match answer.as_object_mut().and_then(|map| map.remove(DECLINE)) {
        Some(Value::Bool(true)) => Reply::Declined,
        _ => Reply::Accepted(answer),
    }
}

#[cfg(test)]
mod tests;
