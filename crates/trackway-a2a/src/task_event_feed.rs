//! The events of a task as a stream of server-sent events, for any binding.

use trackway_domain::RunId;
use trackway_http::sse::{FrameKey, SseEventInfo, SseEventSource};

use crate::{
    error::A2aError,
    operations::{TaskEvent, TaskRef, TaskStream},
};

/// How a binding writes the events of a task.
pub(crate) trait TaskEventEncoder: Send + Sync + 'static {
    /// Everything that differs between bindings, except for the text around an event.
    fn frame_cache_dialect(&self) -> &'static str;

    /// The text before and after each event.
    fn event_envelope(&self) -> (&[u8], &[u8]) {
        (b"", b"")
    }

    fn encode_task_event(&self, out: &mut Vec<u8>, task: &TaskRef, event: &TaskEvent);

    /// The failure that ends a stream, with its surrounding text.
    fn encode_stream_error(&self, out: &mut Vec<u8>, error: &A2aError);
}

pub(crate) struct TaskEventFeed<E> {
    pub(crate) follow: TaskStream,
    pub(crate) encoder: E,
}

impl<E: TaskEventEncoder> SseEventSource for TaskEventFeed<E> {
    type Item = TaskEvent;
    type Error = A2aError;

    async fn next_event(&mut self) -> Result<Option<TaskEvent>, A2aError> {
        self.follow.next_event().await
    }

    async fn repeat_last_event(&mut self) -> Result<Option<TaskEvent>, A2aError> {
        self.follow.repeat_last_event().await
    }

    fn describe_event(&self, item: &TaskEvent) -> SseEventInfo {
        let run: RunId = self.follow.place.run;
        let key =
            FrameKey { run, pos: item.pos, dialect: self.encoder.frame_cache_dialect(), scope: item.scope };
        SseEventInfo { pos: item.pos, bytes: item.bytes, key }
    }

    fn event_envelope(&self) -> (&[u8], &[u8]) {
        self.encoder.event_envelope()
    }

    fn encode_event_data(&self, item: &TaskEvent, out: &mut Vec<u8>) {
        self.encoder.encode_task_event(out, &self.follow.place, item);
    }

    async fn closing_frame(&mut self, end: Result<(), A2aError>) -> Vec<u8> {
        let mut out = Vec::new();
        if let Err(fault) = end {
            out.extend_from_slice(b"data: ");
            self.encoder.encode_stream_error(&mut out, &fault);
            out.extend_from_slice(b"\n\n");
        }
        out
    }
}
