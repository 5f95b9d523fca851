//! The updates of a run as server-sent events.

use std::time::Duration;

use axum::{http::HeaderMap, response::Response};
use serde_json::json;
use trackway_domain::{Position, RunId};
use trackway_http::{
    HttpError,
    sse::{self, FrameContentKind, FrameKey, SharedFrameCache, SseEventInfo, SseEventSource},
};

use super::{
    runs_service::{RunUpdateStream, RunsError, RunsService},
    wire_types::RunUpdate,
};

/// How long a stream stays silent before a comment is sent; proxies often cut at 30 or 60 seconds.
/// Limit (HTTP): silence of a stream before a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Every update after a position: `id:` is its position, `data:` its JSON. A last event of the type
/// `end` says why nothing more comes: `ended`, or `stopping` when the server goes away before the run's
/// end.
pub(super) async fn run_updates_response(
    runs: &RunsService,
    frames: &SharedFrameCache,
    run: RunId,
    after: Position,
) -> Result<Response, HttpError> {
    let updates = runs.watch_run_updates(run, after).await?;
    let following = RunUpdateSource { runs: runs.clone(), run, updates };
    Ok(sse::sse_stream_response(following, frames.clone(), HEARTBEAT))
}

/// The last position that a client received; browsers send it when they reconnect.
pub(super) fn last_event_id_position(headers: &HeaderMap) -> Option<Position> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

struct RunUpdateSource {
    runs: RunsService,
    run: RunId,
    updates: RunUpdateStream,
}

impl SseEventSource for RunUpdateSource {
    /// An update and its approximate size in bytes.
    type Item = (RunUpdate, usize);
    type Error = RunsError;

    async fn next_event(&mut self) -> Result<Option<Self::Item>, RunsError> {
        self.updates.next_update_with_size().await
    }

    async fn repeat_last_event(&mut self) -> Result<Option<Self::Item>, RunsError> {
        self.updates.repeat_last_update().await
    }

    fn describe_event(&self, (update, bytes): &Self::Item) -> SseEventInfo {
        let (pos, scope) = (update.pos, FrameContentKind::Event);
        let key = FrameKey { run: self.run, pos, dialect: "REST", scope };
        SseEventInfo { pos, bytes: *bytes, key }
    }

    fn encode_event_data(&self, (update, _): &Self::Item, out: &mut Vec<u8>) {
        // Our shapes hold no map with keys other than strings, so this cannot fail.
        let _ = serde_json::to_writer(out, update);
    }

    async fn closing_frame(&mut self, end: Result<(), RunsError>) -> Vec<u8> {
        let reason = match end {
            Ok(()) => {
                let over = self.runs.load_run_detail(self.run).await;
                let over = over.is_ok_and(|run| run.summary.state.is_terminal());
                if over { "ended" } else { "stopping" }
            }
            Err(error) => {
                tracing::error!(run = %self.run, %error, "a stream broke off");
                "failed"
            }
        };
        format!("event: end\ndata: {}\n\n", json!({ "reason": reason })).into_bytes()
    }
}
