//! Converts runs, events and questions of the engine into the shapes of the API.

use std::sync::Arc;

use trackway_domain::{self as domain, Event, RunId, ValidationError};
use trackway_engine::{
    BoundedRunUpdate, BoundedRunView, OmittedContent, RunTree, RunTreeNode, RunView, RunViewLimits,
    StatusUpdate, VisibleUpdate, approximate_json_bytes, visible_update,
};
use trackway_ports::{RunRow, StoredEvent};

use super::{
    message_content::{Message, parts_to_wire},
    wire_types::{
        EventRecord, GuidedDetail, OmittedDetail, PendingStepView, QuestionView, ResumeRank, RunDetail,
        RunSummary, RunUpdate, RunUpdateKind,
    },
};

/// Limit (HTTP): bytes of artifacts and messages in one run over REST.
///
/// The rest is in the run's events.
const DETAIL_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Limit (HTTP): bytes of one update in a stream over REST.
///
/// The same as for a run. The input of a run is not larger than the body of its request.
const UPDATE_BYTES_MAX: usize = DETAIL_BYTES_MAX;

/// How much of a run one answer contains.
const WANTED: RunViewLimits =
    RunViewLimits { messages: usize::MAX, artifacts: true, bytes: DETAIL_BYTES_MAX };

impl GuidedDetail {
    /// The position of an outside agent; none if no such agent drives the run.
    pub(super) fn from_run_tree(tree: &RunTree) -> Option<Self> {
        let newest = tree.nodes.last()?;
        let waits = |node: &RunTreeNode| {
            let step = node.step.clone()?;
            Some(PendingStepView {
                node_id: node.id,
                title: node.title.clone().unwrap_or_else(|| step.clone()),
                step,
            })
        };
        Some(Self {
            workflow_hash: newest.definition.clone(),
            branches: tree.branch_count(),
            pending: tree.leaf_nodes().filter_map(waits).collect(),
        })
    }
}

impl From<RunRow> for RunSummary {
    fn from(row: RunRow) -> Self {
        Self {
            id: row.id,
            session_id: row.session,
            workflow: row.workflow.name,
            version: row.workflow.version,
            state: row.state,
            parked: row.parked,
            parent_id: row.parent,
            created_at: row.created_at.to_string(),
            updated_at: row.status_at.to_string(),
        }
    }
}

impl From<&RunView> for RunDetail {
    fn from(view: &RunView) -> Self {
        let submission = &view.submission;
        let message = view.status_message();
        let errors = message.map(|message| validation_errors_in(message)).unwrap_or_default();
        let mut children: Vec<String> = Vec::new();
        // A message about a waiting run may refer to a run further below.
        let names = |said: &&Arc<domain::Message>| {
            said.role == domain::MessageRole::Agent && !said.metadata.contains_key("waitingTask")
        };
        for named in view.message_history().chain(message).filter(names) {
            let new = named.references.iter().filter(|id| !children.contains(id));
            children.extend(new.cloned().collect::<Vec<_>>());
        }
        let whole = view.clone();
        let BoundedRunView { view, omitted, .. } = whole.omit_content_over_limits(WANTED);
        let message = view.status_message();
        Self {
            summary: RunSummary {
                id: submission.run,
                session_id: submission.session.clone(),
                workflow: submission.workflow.name.clone(),
                version: submission.workflow.version.clone(),
                state: view.state,
                parked: view.parked.is_some(),
                parent_id: submission.parent,
                created_at: view.created_at.to_string(),
                updated_at: view.status_at.to_string(),
            },
            input: submission.input.clone(),
            question: view.question.as_ref().map(|question| QuestionView::new(question, errors)),
            message: message.map(|message| (&**message).into()),
            history: view.message_history().map(|message| (&**message).into()).collect(),
            artifacts: view.artifacts.iter().map(|artifact| (&**artifact).into()).collect(),
            children,
            output: view.output.clone(),
            evidence: view.parked.clone(),
            forked_from: submission.forked_from,
            linked_session_id: submission.linked_session.clone(),
            usage: None,
            imported: view.imported,
            damaged: view.damaged.clone(),
            guided: None,
            omitted: OmittedDetail::from_omitted_content(&omitted),
            pos: view.pos,
        }
    }
}

impl OmittedDetail {
    fn from_omitted_content(omitted: &OmittedContent) -> Option<Self> {
        let detail = || Self {
            messages: omitted.messages,
            artifacts: omitted.artifacts.iter().map(ToString::to_string).collect(),
            parts: omitted.parts,
            fields: omitted.fields.iter().map(ToString::to_string).collect(),
        };
        (!omitted.is_nothing_omitted()).then(detail)
    }
}

impl QuestionView {
    fn new(question: &domain::Question, errors: Vec<ValidationError>) -> Self {
        Self {
            id: question.id,
            reason: question.reason,
            prompt: parts_to_wire(&question.prompt),
            schema: question.schema.clone(),
            errors,
        }
    }

    /// The question that an event asks.
    fn question_from_event(event: &Event) -> Option<Self> {
        match event {
            Event::Asked { question, .. } => Some(Self::new(question, Vec::new())),
            Event::Refused { question, problems, .. } => Some(Self::new(question, problems.clone())),
            _ => None,
        }
    }
}

impl RunUpdate {
    /// The update for an event, if the event is visible, cut to the size limit; and its approximate size in
    /// bytes.
    pub(super) fn update_and_size_from_event(run: RunId, stored: &StoredEvent) -> Option<(Self, usize)> {
        let BoundedRunUpdate { update, omitted, mut bytes } =
            visible_update(&stored.event)?.omit_content_over_bytes(UPDATE_BYTES_MAX);
        let omitted = OmittedDetail::from_omitted_content(&omitted);
        let (what, last) = match update {
            VisibleUpdate::Submitted => {
                let what = task_update_from_event(&stored.event)?;
                if let RunUpdateKind::Task { input, .. } = &what {
                    bytes += approximate_json_bytes(input);
                }
                (what, false)
            }
            VisibleUpdate::Artifact(chunk) => {
                let artifact = (&chunk.artifact).into();
                (RunUpdateKind::Artifact { artifact, append: chunk.append, last_chunk: chunk.last }, false)
            }
            VisibleUpdate::Status(status) => {
                let last = status.last;
                (status_update_kind(status, QuestionView::question_from_event(&stored.event)), last)
            }
        };
        let (pos, at) = (stored.pos, stored.at.to_string());
        Some((Self { pos, what, run_id: run, at, last, omitted }, bytes))
    }
}

fn task_update_from_event(event: &Event) -> Option<RunUpdateKind> {
    let Event::Submitted(submission) = event else {
        return None;
    };
    Some(RunUpdateKind::Task {
        state: domain::StateName::Submitted,
        session_id: submission.session.clone(),
        workflow: submission.workflow.name.clone(),
        version: submission.workflow.version.clone(),
        input: submission.input.clone(),
        parent_id: submission.parent,
    })
}

fn status_update_kind(status: StatusUpdate, question: Option<QuestionView>) -> RunUpdateKind {
    RunUpdateKind::Status {
        state: status.state,
        message: status.message.as_ref().map(Message::from),
        question,
        resume: status.resume.map(|mark| ResumeRank {
            request_order: mark.order,
            concurrent_request: mark.concurrent,
            primary_resume: mark.primary,
        }),
        output: status.output,
        evidence: status.parked,
    }
}

impl From<StoredEvent> for EventRecord {
    fn from(stored: StoredEvent) -> Self {
        Self {
            pos: stored.pos,
            seq: stored.seq,
            at: stored.at.to_string(),
            name: stored.event.event_name().to_owned(),
            event: stored.event,
        }
    }
}

/// The problems of the previous answer, from a repeated question.
fn validation_errors_in(message: &domain::Message) -> Vec<ValidationError> {
    let errors = message.metadata.get("validationErrors").cloned();
    errors.and_then(|errors| serde_json::from_value(errors).ok()).unwrap_or_default()
}
