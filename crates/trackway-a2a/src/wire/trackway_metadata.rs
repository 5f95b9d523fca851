//! Trackway's own fields, in addition to those of the protocol, the same in every generation.

use serde::Serialize;
use serde_json::Value;
use trackway_domain::{ArtifactId, ReplayMismatch, SessionId, ValidationError};
use trackway_engine::{AnswerRequestRank, OmittedContent, StatusUpdate};

use crate::operations::TaskSnapshot;

static NOTHING: Value = Value::Null;

/// On Tasks and on updates.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrackwayMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrent_request: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_order: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    primary_resume: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    validation_errors: &'a [ValidationError],
    #[serde(skip_serializing_if = "Value::is_null")]
    output: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<ParkedMetadata<'a>>,
    /// Why the rest of the task cannot be read; its state is `unknown` then.
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged: Option<&'a str>,
    /// Nothing drives the task until an operator adopts it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    imported: bool,
    /// The context that its message named, if the task has a context of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    linked_context_id: Option<&'a str>,
    /// The parts that this answer leaves out because it would be too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted: Option<OmittedContentMetadata<'a>>,
}

/// How many of the oldest messages are left out, and which artifacts. For an update: how many parts of
/// its one message or artifact, and which whole fields.
#[derive(Debug, Serialize)]
struct OmittedContentMetadata<'a> {
    messages: usize,
    artifacts: &'a [ArtifactId],
    #[serde(skip_serializing_if = "is_zero")]
    parts: usize,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    fields: &'a [&'static str],
}

impl<'a> OmittedContentMetadata<'a> {
    fn new(omitted: &'a OmittedContent) -> Option<Self> {
        let OmittedContent { messages, artifacts, parts, fields } = omitted;
        let left = Self { messages: *messages, artifacts, parts: *parts, fields };
        (!omitted.is_nothing_omitted()).then_some(left)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl<'a> TrackwayMetadata<'a> {
    /// The fields of a Task.
    pub(crate) fn for_snapshot(snapshot: &'a TaskSnapshot) -> Self {
        let view = &snapshot.view;
        let (mark, problems) = match &snapshot.answer {
            Some(answer) => (Some(answer.mark), answer.problems.as_slice()),
            None => (view.resume, &[][..]),
        };
        Self {
            validation_errors: problems,
            damaged: view.damaged.as_deref(),
            imported: view.imported,
            linked_context_id: view.submission.linked_session.as_ref().map(SessionId::as_str),
            omitted: OmittedContentMetadata::new(&snapshot.omitted),
            ..Self::from_resume_rank(mark, &view.output, view.parked.as_ref())
        }
    }

    fn from_resume_rank(
        mark: Option<AnswerRequestRank>,
        output: &'a Value,
        parked: Option<&'a ReplayMismatch>,
    ) -> Self {
        Self {
            concurrent_request: mark.map(|mark| mark.concurrent),
            request_order: mark.map(|mark| mark.order),
            primary_resume: mark.map(|mark| mark.primary),
            validation_errors: &[],
            output,
            parked: parked.map(ParkedMetadata::new),
            damaged: None,
            imported: false,
            linked_context_id: None,
            omitted: None,
        }
    }

    /// The fields of a status-update.
    pub(crate) fn for_status(status: &'a StatusUpdate, omitted: &'a OmittedContent) -> Self {
        let metadata = Self::from_resume_rank(status.resume, &status.output, status.parked.as_ref());
        Self { omitted: OmittedContentMetadata::new(omitted), ..metadata }
    }

    /// The fields of an artifact-update.
    pub(crate) fn for_artifact(omitted: &'a OmittedContent) -> Self {
        Self { omitted: OmittedContentMetadata::new(omitted), ..Self::from_resume_rank(None, &NOTHING, None) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.request_order.is_none()
            && self.output.is_null()
            && self.parked.is_none()
            && self.damaged.is_none()
            && !self.imported
            && self.linked_context_id.is_none()
            && self.omitted.is_none()
    }
}

/// Why the program does not continue: the operation that its code requests and the one that its log
/// contains.
#[derive(Debug, Serialize)]
struct ParkedMetadata<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<&'a str>,
}

impl<'a> ParkedMetadata<'a> {
    fn new(evidence: &'a ReplayMismatch) -> Self {
        Self {
            message: &evidence.message,
            asked: evidence.asked.as_deref(),
            recorded: evidence.recorded.as_deref(),
        }
    }
}
