//! The Task: a run as it stands.

use serde::{Serialize, Serializer};
use serde_json::Value;
use trackway_domain::{self as domain, Evidence, Problem, StateName, Timestamp};
use trackway_engine::{ResumeMark, RunView};

use super::message::{Artifact, Message};
use crate::ops::{Place, Snapshot};

/// Newest messages of the history that are shown when the client names no number. Enough for any
/// conversation that somebody reads, and a bound for runs that talk for days.
pub(crate) const HISTORY_MESSAGES_MAX: usize = 1_000;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Task<'a> {
    kind: &'static str,
    id: domain::RunId,
    context_id: &'a str,
    status: Status<'a>,
    artifacts: Artifacts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<History<'a>>,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata<'a>,
}

impl<'a> Task<'a> {
    /// `history`: at most that many of the newest messages; none at all for zero.
    pub(crate) fn new(snapshot: &'a Snapshot, place: &'a Place, history: usize) -> Self {
        let view = &snapshot.view;
        let (mark, problems) = match &snapshot.answer {
            Some(answer) => (Some(answer.mark), answer.problems.as_slice()),
            None => (view.resume, &[][..]),
        };
        Self {
            kind: "task",
            id: place.run,
            context_id: place.session.as_str(),
            status: Status {
                state: view.state,
                message: view.status_message().map(|message| Message::new(message, place)),
                timestamp: view.status_at,
            },
            artifacts: Artifacts(view),
            history: (history > 0).then_some(History { view, place, newest: history }),
            metadata: Metadata {
                validation_errors: problems,
                damaged: view.damaged.as_deref(),
                ..Metadata::new(mark, &view.output, view.parked.as_ref())
            },
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Status<'a> {
    #[serde(serialize_with = "state")]
    pub(super) state: StateName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message<'a>>,
    #[serde(serialize_with = "printed")]
    pub(super) timestamp: Timestamp,
}

/// What Trackway tells beside the protocol's own fields, on Tasks and on status-updates.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrent_request: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_order: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    primary_resume: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    validation_errors: &'a [Problem],
    #[serde(skip_serializing_if = "Value::is_null")]
    output: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<Parked<'a>>,
    /// Why the rest of the task cannot be read; its state is `unknown` then.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<&'a str>,
}

impl<'a> Metadata<'a> {
    pub(super) fn new(
        mark: Option<ResumeMark>,
        output: &'a Value,
        parked: Option<&'a Evidence>,
    ) -> Self {
        Self {
            concurrent_request: mark.map(|mark| mark.concurrent),
            request_order: mark.map(|mark| mark.order),
            primary_resume: mark.map(|mark| mark.primary),
            validation_errors: &[],
            output,
            parked: parked.map(Parked::new),
            damaged: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.request_order.is_none()
            && self.output.is_null()
            && self.parked.is_none()
            && self.damaged.is_none()
    }
}

/// Why the program does not go on: what its code asked for and what its log holds instead.
#[derive(Debug, Serialize)]
struct Parked<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<&'a str>,
}

impl<'a> Parked<'a> {
    fn new(evidence: &'a Evidence) -> Self {
        Self {
            message: &evidence.message,
            asked: evidence.asked.as_deref(),
            recorded: evidence.recorded.as_deref(),
        }
    }
}

#[derive(Debug)]
struct Artifacts<'a>(&'a RunView);

impl Serialize for Artifacts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.artifacts.iter().map(|artifact| Artifact::new(artifact)))
    }
}

#[derive(Debug)]
struct History<'a> {
    view: &'a RunView,
    place: &'a Place,
    newest: usize,
}

impl Serialize for History<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let older = self.view.history().count().saturating_sub(self.newest);
        let shown = self.view.history().skip(older);
        serializer.collect_seq(shown.map(|message| Message::new(message, self.place)))
    }
}

/// The domain's names of states are those of 0.3; the match keeps a new one from slipping through.
fn state<S: Serializer>(state: &StateName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match state {
        StateName::Submitted => "submitted",
        StateName::Working => "working",
        StateName::InputRequired => "input-required",
        StateName::AuthRequired => "auth-required",
        StateName::Completed => "completed",
        StateName::Failed => "failed",
        StateName::Canceled => "canceled",
        StateName::Rejected => "rejected",
        StateName::Unknown => "unknown",
    })
}

fn printed<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}

#[cfg(test)]
mod tests;
