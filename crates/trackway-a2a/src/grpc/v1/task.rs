//! Tasks, pages of them, and what streams carry.

use trackway_domain::{Message, StateName, Timestamp};

use super::written;
use crate::{
    grpc::{
        pb::v1::{self as pb, send_message_response as reply, stream_response::Payload},
        value,
    },
    ops::{History, Item, Outcome, Page, Place, Reply, Said, Seen, Snapshot},
    wire::metadata::Metadata,
};

/// What a send came to.
pub(super) fn reply(outcome: &Outcome) -> Option<pb::SendMessageResponse> {
    let Outcome::Reply(reply, history) = outcome else { return None };
    let payload = match reply {
        Reply::Task(snapshot) => reply::Payload::Task(task(snapshot, &snapshot.place(), *history)),
        Reply::Message(said) => reply::Payload::Message(written::said(said)),
    };
    Some(pb::SendMessageResponse { payload: Some(payload) })
}

pub(super) fn only(outcome: &Outcome) -> Option<pb::Task> {
    let Outcome::Task(snapshot, history) = outcome else { return None };
    Some(task(snapshot, &snapshot.place(), *history))
}

pub(super) fn page(outcome: &Outcome) -> Option<pb::ListTasksResponse> {
    let Outcome::Page { page: Page { tasks, next, size, total }, history, artifacts } = outcome
    else {
        return None;
    };
    let listed = |snapshot: &Snapshot| {
        let mut task = task(snapshot, &snapshot.place(), *history);
        if !artifacts {
            task.artifacts.clear();
        }
        task
    };
    Some(pb::ListTasksResponse {
        tasks: tasks.iter().map(listed).collect(),
        next_page_token: next.clone(),
        page_size: i32::try_from(*size).unwrap_or(i32::MAX),
        total_size: i32::try_from(*total).unwrap_or(i32::MAX),
    })
}

/// One thing that a stream shows. Its metadata says after which position to go on: gRPC has no other
/// place for it.
pub(super) fn item(item: &Item, place: &Place, history: History) -> pb::StreamResponse {
    let position = |metadata| value::positioned(metadata, item.pos);
    let payload = match &item.seen {
        Seen::Snapshot(snapshot) => {
            let mut task = task(snapshot, place, history);
            task.metadata = position(task.metadata);
            Payload::Task(task)
        }
        Seen::Status(update, at) => {
            let metadata = Metadata::of_status(update, &item.omitted);
            Payload::StatusUpdate(pb::TaskStatusUpdateEvent {
                task_id: place.run.to_string(),
                context_id: place.session.to_string(),
                status: Some(status(update.state, update.message.as_ref(), *at, place)),
                metadata: position(value::of_metadata(&metadata)),
            })
        }
        Seen::Artifact(chunk) => Payload::ArtifactUpdate(pb::TaskArtifactUpdateEvent {
            task_id: place.run.to_string(),
            context_id: place.session.to_string(),
            artifact: Some(written::artifact(&chunk.artifact)),
            append: chunk.append,
            last_chunk: chunk.last,
            metadata: position(value::of_metadata(&Metadata::of_artifact(&item.omitted))),
        }),
    };
    pb::StreamResponse { payload: Some(payload) }
}

/// The stream of an answer that needs no task.
pub(super) fn said(said: &Said) -> pb::StreamResponse {
    pb::StreamResponse { payload: Some(Payload::Message(written::said(said))) }
}

fn task(snapshot: &Snapshot, place: &Place, history: History) -> pb::Task {
    let view = &snapshot.view;
    let message = view.status_message().map(|message| &**message);
    let older = view.history().count().saturating_sub(history);
    pb::Task {
        id: place.run.to_string(),
        context_id: place.session.to_string(),
        status: Some(status(view.state, message, view.status_at, place)),
        artifacts: view.artifacts.iter().map(|artifact| written::artifact(artifact)).collect(),
        history: view
            .history()
            .skip(older)
            .map(|message| written::message(message, place))
            .collect(),
        metadata: value::of_metadata(&Metadata::of(snapshot)),
    }
}

fn status(
    state: StateName,
    message: Option<&Message>,
    at: Timestamp,
    place: &Place,
) -> pb::TaskStatus {
    pb::TaskStatus {
        state: self::state(state).into(),
        message: message.map(|message| written::message(message, place)),
        timestamp: Some(value::moment(at)),
    }
}

/// `unknown` is nothing that a task of 1.0 can be in; it is what protobuf calls unspecified.
const fn state(state: StateName) -> pb::TaskState {
    match state {
        StateName::Submitted => pb::TaskState::Submitted,
        StateName::Working => pb::TaskState::Working,
        StateName::InputRequired => pb::TaskState::InputRequired,
        StateName::AuthRequired => pb::TaskState::AuthRequired,
        StateName::Completed => pb::TaskState::Completed,
        StateName::Failed => pb::TaskState::Failed,
        StateName::Canceled => pb::TaskState::Canceled,
        StateName::Rejected => pb::TaskState::Rejected,
        StateName::Unknown => pb::TaskState::Unspecified,
    }
}

/// The state of a filter; none where it is unspecified, the number itself where it is no state.
pub(super) fn state_named(number: i32) -> Result<Option<StateName>, i32> {
    let named = pb::TaskState::try_from(number).map_err(|_| number)?;
    Ok(StateName::ALL
        .into_iter()
        .find(|known| named != pb::TaskState::Unspecified && state(*known) == named))
}
