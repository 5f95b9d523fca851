//! A stream of the events of a run, pulled by its reader: nothing is queued for a slow reader.

use std::sync::Arc;

use trackway_domain::{Event, Position};
use trackway_engine::{
    BoundedRunUpdate, OmittedContent, RunView, StatusUpdate, VisibleUpdate, visible_update,
};
use trackway_http::sse::FrameContentKind;
use trackway_ports::StoredEvent;
use trackway_runtime::RunWatch;

use super::{
    HistoryLength, STREAMED_BYTES_MAX, TaskEvent, TaskEventContent, TaskRef, TaskSnapshot,
    artifact_visibility::ArtifactVisibility, message_sending::is_task_idle,
};
use crate::{error::A2aError, request_options::HISTORY_MESSAGES_MAX};

#[derive(Debug)]
pub(crate) struct TaskStream {
    pub(crate) place: TaskRef,
    /// The first item. A stream contains at most one Task.
    first: Option<TaskEvent>,
    /// A copy of the first item while it is also the last one. It shares its content with the run in memory.
    last_snapshot: Option<TaskEvent>,
    watch: RunWatch,
    until: TaskStreamEnd,
    closed: bool,
    visibility: ArtifactVisibility,
}

/// When a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskStreamEnd {
    /// The run has ended; the watch itself ends then.
    TaskEnded,
    /// The run waits for an action, or has ended. `at`: it already did so at this position, and only
    /// events up to this position follow from the message.
    TaskIdle { at: Option<Position> },
}

impl TaskStream {
    /// The events that follow from a message: the run at its commit, then every event after `after`.
    pub(super) fn stream_after_message(snapshot: TaskSnapshot, after: Position, watch: RunWatch) -> Self {
        let at = is_task_idle(&snapshot.view).then_some(snapshot.view.pos);
        Self::new(snapshot.task_ref(), Some((after, snapshot)), watch, TaskStreamEnd::TaskIdle { at })
    }

    /// The current run, and everything that follows.
    pub(super) fn stream_from_current_state(snapshot: TaskSnapshot, watch: RunWatch) -> Self {
        let pos = snapshot.view.pos;
        Self::new(snapshot.task_ref(), Some((pos, snapshot)), watch, TaskStreamEnd::TaskEnded)
    }

    /// Every event of the watch, from the start of the run if necessary.
    pub(super) fn stream_from_position(task: TaskRef, watch: RunWatch) -> Self {
        Self::new(task, None, watch, TaskStreamEnd::TaskEnded)
    }

    fn new(
        task: TaskRef,
        first: Option<(Position, TaskSnapshot)>,
        watch: RunWatch,
        until: TaskStreamEnd,
    ) -> Self {
        let first = first.map(|(pos, snapshot)| TaskEvent {
            pos,
            content: TaskEventContent::Snapshot(Box::new(snapshot)),
            omitted: OmittedContent::default(),
            bytes: 0,
            // The answer to a message includes the result of that message.
            scope: FrameContentKind::unique_reply_frame(),
        });
        let shows = ArtifactVisibility::Everything;
        Self { place: task, first, last_snapshot: None, watch, until, closed: false, visibility: shows }
    }

    /// The same for a client that receives less.
    pub(super) fn with_artifact_visibility(self, shows: ArtifactVisibility) -> Self {
        Self { visibility: shows, ..self }
    }

    /// The same with this many messages of the history in its first Task, as far as they fit.
    pub(super) fn limit_history(mut self, history: HistoryLength) -> Self {
        if let Some(TaskEvent { content: TaskEventContent::Snapshot(first), bytes, scope, .. }) =
            &mut self.first
        {
            let whole = TaskSnapshot::clone(first);
            (**first, *bytes) = whole.limit_history(history, true);
            if self.until == TaskStreamEnd::TaskEnded {
                *scope = FrameContentKind::Run { history };
            }
        }
        self
    }

    /// The next item; `None` at the end. Dropping the future loses nothing.
    pub(crate) async fn next_event(&mut self) -> Result<Option<TaskEvent>, A2aError> {
        if let Some(first) = self.first.take() {
            self.closed = self.until.is_stream_end_at(first.pos);
            self.last_snapshot = Some(first.clone());
            return Ok(Some(first));
        }
        self.last_snapshot = None;
        while !self.closed {
            let Some(stored) = self.watch.next_event().await? else {
                self.closed = true;
                break;
            };
            let pos = stored.pos;
            let item = task_event_from_stored(stored);
            let seen = item.as_ref().map(|item| &item.content);
            self.closed = self.until.is_stream_end_at(pos) || self.until.is_stream_end_event(seen);
            let item = item.filter(|item| match &item.content {
                TaskEventContent::Artifact(chunk) => self.visibility.is_artifact_visible(&chunk.artifact),
                _ => true,
            });
            if item.is_some() {
                return Ok(item);
            }
        }
        Ok(None)
    }
}

impl TaskStream {
    /// The last item again.
    pub(crate) async fn repeat_last_event(&self) -> Result<Option<TaskEvent>, A2aError> {
        match &self.last_snapshot {
            Some(first) => Ok(Some(first.clone())),
            None => Ok(self.watch.reload_last_event().await?.and_then(task_event_from_stored)),
        }
    }
}

impl TaskStreamEnd {
    fn is_stream_end_at(self, pos: Position) -> bool {
        matches!(self, Self::TaskIdle { at: Some(at) } if pos >= at)
    }

    fn is_stream_end_event(self, content: Option<&TaskEventContent>) -> bool {
        match (self, content) {
            (_, Some(TaskEventContent::Status(status, _))) if status.last => true,
            (Self::TaskIdle { .. }, Some(TaskEventContent::Status(status, _))) => task_needs_action(status),
            _ => false,
        }
    }
}

/// The run continues only after an action: an answer, or a repair of the program that does not match.
fn task_needs_action(status: &StatusUpdate) -> bool {
    status.interrupts || status.parked.is_some()
}

/// The visible form of an event, if it is visible, as far as it fits.
pub(crate) fn task_event_from_stored(stored: StoredEvent) -> Option<TaskEvent> {
    let StoredEvent { pos, at, event, .. } = stored;
    let scope = FrameContentKind::Event;
    if let Event::Submitted(submission) = event {
        // The run's first event is the run itself at that time.
        let view = RunView::from_submission(Arc::new(*submission), at, pos);
        let (snapshot, bytes) =
            TaskSnapshot::snapshot_from_view(view).limit_history(HISTORY_MESSAGES_MAX, true);
        let seen = TaskEventContent::Snapshot(Box::new(snapshot));
        return Some(TaskEvent { pos, content: seen, omitted: OmittedContent::default(), bytes, scope });
    }
    let BoundedRunUpdate { update, omitted, bytes } =
        visible_update(&event)?.omit_content_over_bytes(STREAMED_BYTES_MAX);
    let seen = match update {
        VisibleUpdate::Submitted => return None,
        VisibleUpdate::Status(status) => TaskEventContent::Status(Box::new(status), at),
        VisibleUpdate::Artifact(chunk) => TaskEventContent::Artifact(chunk),
    };
    Some(TaskEvent { pos, content: seen, omitted, bytes, scope })
}
