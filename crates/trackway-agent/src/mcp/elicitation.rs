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
pub(super) struct ElicitationQuestion {
    pub(super) message: String,
    pub(super) schema: Value,
    pub(super) reply: oneshot::Sender<ElicitationReply>,
}

/// The user's reaction to a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ElicitationReply {
    Accepted(Value),
    Declined,
}

/// The running calls of a server.
#[derive(Debug, Default)]
pub(super) struct ActiveServerCalls {
    /// Locked only to read or change it, never across an await.
    calls: Mutex<ActiveCallList>,
}

#[derive(Debug, Default)]
struct ActiveCallList {
    next: u64,
    active: Vec<ActiveCall>,
}

#[derive(Debug)]
struct ActiveCall {
    number: u64,
    owner: (Caller, SessionId),
    questions: mpsc::Sender<ElicitationQuestion>,
}

/// A call's registration. It is removed when the call ends, for any reason.
#[derive(Debug)]
pub(super) struct ActiveCallGuard {
    desk: Arc<ActiveServerCalls>,
    number: u64,
}

impl ActiveServerCalls {
    pub(super) fn register_active_call(
        self: &Arc<Self>,
        caller: Caller,
        session: SessionId,
    ) -> (ActiveCallGuard, mpsc::Receiver<ElicitationQuestion>) {
        let (questions, received) = mpsc::channel(QUESTIONS_MAX);
        let mut seats = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let number = seats.next;
        seats.next += 1;
        seats.active.push(ActiveCall { number, owner: (caller, session), questions });
        (ActiveCallGuard { desk: self.clone(), number }, received)
    }

    /// The newest call, if all calls belong to one conversation.
    pub(super) fn elicitation_sender_of_newest_call(
        &self,
    ) -> Result<mpsc::Sender<ElicitationQuestion>, &'static str> {
        let seats = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = seats.active.last().ok_or("no call is under way")?;
        if seats.active.iter().any(|seat| seat.owner != newest.owner) {
            return Err("calls of several conversations are under way");
        }
        Ok(newest.questions.clone())
    }
}

impl Drop for ActiveCallGuard {
    fn drop(&mut self) {
        let mut seats = self.desk.calls.lock().unwrap_or_else(PoisonError::into_inner);
        seats.active.retain(|seat| seat.number != self.number);
    }
}

/// The schema for the user: the server's, plus a way to decline. A user who declines need not fill in
/// anything else.
pub(super) fn schema_with_decline_option(mut schema: Value) -> Value {
    let Some(map) = schema.as_object_mut() else { return schema };
    let required = map.remove("required");
    let properties = map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Some(properties) = properties.as_object_mut() else { return schema };
    // A server that has a field of this name has its own way to decline.
    let decline = || json!({"type": "boolean", "description": "Say no: nothing is sent."});
    properties.entry(DECLINE).or_insert_with(decline);
    if let Some(required) = required {
        map.insert("if".to_owned(), json!({"not": declined_schema()}));
        map.insert("then".to_owned(), json!({"required": required}));
    }
    schema
}

fn declined_schema() -> Value {
    json!({"required": [DECLINE], "properties": {DECLINE: {"const": true}}})
}

/// The meaning of an answer to [`schema_with_decline_option`].
pub(super) fn parse_elicitation_reply(mut answer: Value) -> ElicitationReply {
    match answer.as_object_mut().and_then(|map| map.remove(DECLINE)) {
        Some(Value::Bool(true)) => ElicitationReply::Declined,
        _ => ElicitationReply::Accepted(answer),
    }
}

#[cfg(test)]
mod tests;
