//! The events of a task as a stream of server-sent events, for any binding.

use trackway_domain::RunId;
use trackway_http::sse::{FrameKey, SseEventInfo, SseSource};

use crate::{
    error::A2aError,
    operations::{TaskEvent, TaskRef, TaskStream},
};

/// How a binding writes the events of a task.
pub(crate) trait EventEncoder: Send + Sync + 'static {
    /// Everything that differs between bindings, except for the text around an event.
    fn cache_key(&self) -> &'static str;

    /// The text before and after each event.
    fn envelope(&self) -> (&[u8], &[u8]) {
        (b"", b"")
    }

    fn encode_event(&self, out: &mut Vec<u8>, task: &TaskRef, item: &TaskEvent);

    /// The failure that ends a stream, with its surrounding text.
    fn encode_error(&self, out: &mut Vec<u8>, fault: &A2aError);
}

pub(crate) struct TaskEventFeed<E> {
    pub(crate) follow: TaskStream,
    pub(crate) encoder: E,
}

impl<E: EventEncoder> SseSource for TaskEventFeed<E> {
    type Item = TaskEvent;
    type Error = A2aError;

    async fn next(&mut self) -> Result<Option<TaskEvent>, A2aError> {
        self.follow.next_event().await
    }

    async fn repeat_last(&mut self) -> Result<Option<TaskEvent>, A2aError> {
        self.follow.repeat_last().await
    }

    fn describe(&self, item: &TaskEvent) -> SseEventInfo {
        let run: RunId = self.follow.place.run;
        let key = FrameKey { run, pos: item.pos, dialect: self.encoder.cache_key(), scope: item.scope };
        SseEventInfo { pos: item.pos, bytes: item.bytes, key }
    }

    fn envelope(&self) -> (&[u8], &[u8]) {
        self.encoder.envelope()
    }

    fn encode(&self, item: &TaskEvent, out: &mut Vec<u8>) {
        self.encoder.encode_event(out, &self.follow.place, item);
    }

    async fn closing_frame(&mut self, end: Result<(), A2aError>) -> Vec<u8> {
        let mut out = Vec::new();
        if let Err(fault) = end {
            out.extend_from_slice(b"data: ");
            self.encoder.encode_error(&mut out, &fault);
            out.extend_from_slice(b"\n\n");
        }
        out
    }
}
