//! Server-sent events, parsed strictly: an id, one line of data, a blank line.

use std::collections::VecDeque;

use reqwest::{Response, header::CONTENT_TYPE};
use serde_json::{Value, json};

use super::with_test_timeout;

/// One event: its position in the log and the result inside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) pos: u64,
    pub(crate) result: Value,
}

#[derive(Debug)]
pub(crate) struct EventStream {
    response: Response,
    /// The id in the envelope of every event; none if events have no envelope.
    request: Option<Value>,
    bytes: Vec<u8>,
    /// The bytes up to here contain no end of an event: large events come in many chunks.
    searched: usize,
    ready: VecDeque<StreamEvent>,
}

impl EventStream {
    /// The answer to a JSON-RPC request of this id.
    pub(super) fn from_json_rpc(response: Response, request: Value) -> Self {
        Self::open(response, Some(request))
    }

    /// The answer over HTTP+JSON.
    pub(super) fn from_http_json(response: Response) -> Self {
        Self::open(response, None)
    }

    fn open(response: Response, request: Option<Value>) -> Self {
        assert_eq!(response.headers()[CONTENT_TYPE], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { response, request, bytes: Vec::new(), searched: 0, ready: VecDeque::new() }
    }

    /// The next event; `None` when the server has closed the stream.
    pub(crate) async fn next(&mut self) -> Option<StreamEvent> {
        self.try_next().await.expect("the connection holds")
    }

    /// The same for a server that may be killed meanwhile.
    pub(crate) async fn try_next(&mut self) -> Result<Option<StreamEvent>, reqwest::Error> {
        // Heartbeats are not events: the time limit is for the whole wait.
        with_test_timeout("an event or an end", self.read()).await
    }

    async fn read(&mut self) -> Result<Option<StreamEvent>, reqwest::Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.response.chunk().await? else {
                assert!(self.bytes.is_empty(), "no half event at the end");
                return Ok(None);
            };
            self.bytes.extend_from_slice(&chunk);
            while let Some(end) = self.end_of_event() {
                let frame: Vec<u8> = self.bytes.drain(..end + 2).take(end).collect();
                let frame = String::from_utf8(frame).expect("events are UTF-8");
                if frame != ":" {
                    self.ready.push_back(parse_event(&frame, self.request.as_ref()));
                }
            }
        }
    }

    fn end_of_event(&mut self) -> Option<usize> {
        let new = &self.bytes[self.searched..];
        let end = new.windows(2).position(|two| two == b"\n\n").map(|end| self.searched + end);
        // The last byte may be the first half of an end.
        self.searched = if end.is_some() { 0 } else { self.bytes.len().saturating_sub(1) };
        end
    }

    /// This many events.
    pub(crate) async fn read_count(&mut self, count: usize) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        while events.len() < count {
            let event = self.next().await;
            events.push(event.unwrap_or_else(|| panic!("{count} events; the stream ended after {events:?}")));
        }
        events
    }

    /// Everything until the server closes the stream.
    pub(crate) async fn read_to_end(mut self) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// Everything up to the first event that fits.
    pub(crate) async fn read_until(&mut self, fits: impl Fn(&Value) -> bool) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await;
            events.push(event.unwrap_or_else(|| panic!("the stream ended after {events:#?}")));
            if events.last().is_some_and(|event| fits(&event.result)) {
                return events;
            }
        }
    }
}

fn parse_event(frame: &str, request: Option<&Value>) -> StreamEvent {
    let (id, data) = frame.split_once('\n').unwrap_or_else(|| panic!("two lines: {frame:?}"));
    let data = data.strip_prefix("data: ").expect("the data in one line");
    let data: Value = serde_json::from_str(data).expect("the data is JSON");
    let result = match request {
        Some(request) => unwrap_json_rpc_result(data, request),
        None => data,
    };
    let pos = id.strip_prefix("id: ").expect("an id").parse().expect("the id is a position");
    StreamEvent { pos, result }
}

/// The result in an envelope of JSON-RPC.
fn unwrap_json_rpc_result(mut response: Value, request: &Value) -> Value {
    assert_eq!(response["jsonrpc"], "2.0");
    assert_eq!(&response["id"], request, "every event answers the request");
    assert_eq!(response.get("error"), None);
    let result = response["result"].take();
    assert_eq!(response, json!({ "jsonrpc": "2.0", "id": request, "result": null }));
    result
}
