//! What Trackway tells beside the protocol's own fields, the same in every generation.

use serde::Serialize;
use serde_json::Value;
use trackway_domain::{ArtifactId, Evidence, Problem};
use trackway_engine::ResumeMark;

use crate::ops::Snapshot;

/// On Tasks and on status-updates.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata<'a> {
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
    /// Nothing drives the task until somebody adopts it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    imported: bool,
    /// What this answer leaves out, since it would be too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<Left<'a>>,
}

/// How many of the oldest messages are left out, and which artifacts.
#[derive(Debug, Serialize)]
struct Left<'a> {
    messages: usize,
    artifacts: &'a [ArtifactId],
}

impl<'a> Metadata<'a> {
    /// What stands on a Task.
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        let view = &snapshot.view;
        let (mark, problems) = match &snapshot.answer {
            Some(answer) => (Some(answer.mark), answer.problems.as_slice()),
            None => (view.resume, &[][..]),
        };
        Self {
            validation_errors: problems,
            damaged: view.damaged.as_deref(),
            imported: view.imported,
            omitted: (!snapshot.omitted.is_empty()).then(|| Left {
                messages: snapshot.omitted.messages,
                artifacts: &snapshot.omitted.artifacts,
            }),
            ..Self::new(mark, &view.output, view.parked.as_ref())
        }
    }

    pub(crate) fn new(
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
            imported: false,
            omitted: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.request_order.is_none()
            && self.output.is_null()
            && self.parked.is_none()
            && self.damaged.is_none()
            && !self.imported
            && self.omitted.is_none()
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
