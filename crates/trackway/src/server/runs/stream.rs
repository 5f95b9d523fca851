//! The updates of a run as server-sent events.

use std::{convert::Infallible, time::Duration};

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use serde_json::json;
use trackway_domain::{Pos, RunId};

use super::{refusal::Refusal, service::Runs, service::Updates};

/// How long a stream stays silent before a comment is sent; proxies often cut at 30 or 60 seconds.
/// Limit (HTTP): silence of a stream before a comment is sent.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Every update after a position: `id:` is its position, `data:` its JSON. A last event of the type
/// `end` says why nothing more comes: `ended`, or `stopping` when the server goes away before the run's
/// end.
pub(super) async fn updates(runs: &Runs, run: RunId, after: Pos) -> Result<Response, Refusal> {
    let updates = runs.updates(run, after).await?;
    let state = Following { runs: runs.clone(), run, updates, ended: false };
    let events = stream::unfold(state, |mut following| async {
        let event = following.next().await?;
        Some((Ok::<_, Infallible>(event), following))
    });
    let mut response =
        Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Tells nginx and its kind not to collect the stream before passing it on.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// The position that a client saw last, by which browsers come back after a lost connection.
pub(super) fn last_event_id(headers: &HeaderMap) -> Option<Pos> {
    headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

struct Following {
    runs: Runs,
    run: RunId,
    updates: Updates,
    ended: bool,
}

impl Following {
    async fn next(&mut self) -> Option<Event> {
        if self.ended {
            return None;
        }
        match self.updates.next().await {
            Ok(Some(update)) => {
                let event = Event::default().id(update.pos.to_string());
                // Our shapes hold no map with keys other than strings, so this cannot fail.
                Some(event.data(serde_json::to_string(&update).unwrap_or_default()))
            }
            Ok(None) => {
                self.ended = true;
                let over = self.runs.detail(self.run).await;
                let over = over.is_ok_and(|run| run.summary.state.is_terminal());
                Some(end(if over { "ended" } else { "stopping" }))
            }
            Err(error) => {
                tracing::error!(run = %self.run, %error, "a stream broke off");
                self.ended = true;
                Some(end("failed"))
            }
        }
    }
}

fn end(reason: &str) -> Event {
    Event::default().event("end").data(json!({ "reason": reason }).to_string())
}
