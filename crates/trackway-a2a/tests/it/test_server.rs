//! A front door for tests: a runtime on a fresh store, two small workflows, and a client without a
//! socket.

mod script;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, Request, StatusCode, header},
};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use trackway_a2a::{Options, PushNotifier, a2a_router};
use trackway_ports::Journal;
use trackway_runtime::{Program, ProgramRegistry, Runtime};
use trackway_sqlite::SqliteJournal;

pub(crate) use script::ScriptedProgram;

/// Far longer than any test takes: only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct TestServer {
    pub(crate) runtime: Runtime,
    router: Router,
    _folder: tempfile::TempDir,
}

/// A response, read to its end.
#[derive(Debug)]
pub(crate) struct TestResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// One event of a stream: its position and the result (or error) inside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) pos: u64,
    pub(crate) result: Value,
}

pub(crate) struct EventStream {
    pub(crate) headers: HeaderMap,
    body: axum::body::BodyDataStream,
    text: String,
    pub(crate) heartbeats: usize,
}

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::with_options(Options::default())
    }

    pub(crate) fn with_options(options: Options) -> Self {
        Self::with_programs(options, vec![])
    }

    /// With additional workflows.
    pub(crate) fn with_programs(options: Options, others: Vec<Arc<dyn Program>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Arc::new(SqliteJournal::open(folder.path()).unwrap());
        Self::on_journal(journal, folder, options, others)
    }

    /// On a store in that folder which is open already.
    pub(crate) fn on_journal(
        journal: Arc<dyn Journal>,
        folder: tempfile::TempDir,
        options: Options,
        others: Vec<Arc<dyn Program>>,
    ) -> Self {
        let registry = ProgramRegistry::new();
        registry.add_program(Arc::new(ScriptedProgram::new("script"))).unwrap();
        registry.add_program(Arc::new(ScriptedProgram::new("other"))).unwrap();
        for other in others {
            registry.add_program(other).unwrap();
        }
        let mut options_of_runtime = trackway_runtime::Options::new(journal, Arc::new(registry));
        if let Some(outgoing) = options.outgoing.clone() {
            options_of_runtime.messenger = Some(Arc::new(PushNotifier::new(outgoing)));
        }
        let runtime = Runtime::start(options_of_runtime);
        let router = a2a_router(runtime.clone(), options);
        Self { runtime, router, _folder: folder }
    }

    /// A response without interpretation.
    pub(crate) async fn send_raw(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Bytes) {
        let answered = async {
            let (head, body) = self.router.clone().oneshot(request).await.unwrap().into_parts();
            (head.status, head.headers, to_bytes(body, usize::MAX).await.unwrap())
        };
        tokio::time::timeout(PATIENCE, answered).await.expect("an answer in time")
    }

    pub(crate) async fn send_for_json(&self, request: Request<Body>) -> TestResponse {
        let (status, headers, bytes) = self.send_raw(request).await;
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| panic!("every answer is JSON: {:?}", String::from_utf8_lossy(&bytes)));
        assert_eq!(headers[header::CONTENT_TYPE], "application/json");
        TestResponse { status, headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        let request = Request::get(path).header("host", "door.example:1");
        self.send_for_json(request.body(Body::empty()).unwrap()).await
    }

    /// Calls a method of the workflow `script`: its result, or its error's number and data.
    pub(crate) async fn call_rpc(&self, method: &str, params: Value) -> Result<Value, (i64, Value)> {
        self.call_rpc_at("script", method, params).await
    }

    pub(crate) async fn call_rpc_at(
        &self,
        agent: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, (i64, Value)> {
        let request = rpc_request(agent, method, &params, &[]);
        let reply = self.send_for_json(request).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.body["jsonrpc"], "2.0");
        assert_eq!(reply.body["id"], "req-1");
        let mut body = reply.body;
        match body.get_mut("error") {
            Some(error) => Err((error["code"].as_i64().unwrap(), error["data"].take())),
            None => Ok(body["result"].take()),
        }
    }

    /// Opens a stream.
    pub(crate) async fn open_stream(
        &self,
        method: &str,
        params: Value,
        headers: &[(&str, &str)],
    ) -> EventStream {
        self.open_request(rpc_request("script", method, &params, headers)).await
    }

    pub(crate) async fn open_request(&self, request: Request<Body>) -> EventStream {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        assert_eq!(head.headers[header::CONTENT_TYPE], "text/event-stream");
        EventStream {
            headers: head.headers,
            body: body.into_data_stream(),
            text: String::new(),
            heartbeats: 0,
        }
    }

    /// A stream, read until the door closes it.
    pub(crate) async fn read_stream(
        &self,
        method: &str,
        params: Value,
        headers: &[(&str, &str)],
    ) -> Vec<StreamEvent> {
        let mut stream = self.open_stream(method, params, headers).await;
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
        }
        events
    }

    /// Starts a run of `script` and waits until it rests.
    pub(crate) async fn start_task(&self, id: &str, text: &str) -> Value {
        let params = json!({"message": text_message(id, text), "configuration": {"blocking": true}});
        self.call_rpc("message/send", params).await.unwrap()
    }
}

impl EventStream {
    /// The error in a stream that contains only an error.
    pub(crate) async fn next_error(&mut self) -> Value {
        let bytes = self.body.next().await.unwrap().unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let data = text.strip_prefix("data: ").expect("an event without an id");
        let mut response: Value = serde_json::from_str(data).unwrap();
        response["error"].take()
    }

    pub(crate) async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                let (frame, rest) = (frame.to_owned(), rest.to_owned());
                self.text = rest;
                if frame == ":" {
                    self.heartbeats += 1;
                    continue;
                }
                return Some(parse_event(&frame));
            }
            let chunk = tokio::time::timeout(PATIENCE, self.body.next()).await.expect("more, or an end");
            match chunk {
                Some(chunk) => self.text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap()),
                None => {
                    assert_eq!(self.text, "", "no half event at the end");
                    return None;
                }
            }
        }
    }
}

/// An answer without a run is a stream of one event, which has no position.
fn parse_event(frame: &str) -> StreamEvent {
    let (id, data) = frame.split_once('\n').unwrap_or(("id: 0", frame));
    let data = data.strip_prefix("data: ").expect("the data in one line");
    let mut response: Value = serde_json::from_str(data).unwrap();
    // On HTTP+JSON there is no envelope around the result.
    let result = match response.get("jsonrpc") {
        Some(_) => {
            assert_eq!(response["id"], "req-1");
            response["result"].take()
        }
        None => response,
    };
    StreamEvent { pos: id.strip_prefix("id: ").unwrap().parse().unwrap(), result }
}

pub(crate) fn rpc_request(
    agent: &str,
    method: &str,
    params: &Value,
    headers: &[(&str, &str)],
) -> Request<Body> {
    let body = json!({"jsonrpc": "2.0", "id": "req-1", "method": method, "params": params});
    let mut request =
        Request::post(format!("/a2a/agents/{agent}")).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn text_message(id: &str, text: &str) -> Value {
    json!({"kind": "message", "messageId": id, "role": "user", "parts": [{"kind": "text", "text": text}]})
}

/// A message with a data part to a task.
pub(crate) fn data_answer(id: &str, task: &Value, data: &Value) -> Value {
    json!({"kind": "message", "messageId": id, "role": "user", "taskId": task["id"],
        "parts": [{"kind": "data", "data": data}]})
}

/// The items of a stream in short form: `task:STATE`, `STATE`, `STATE!` for a final one, `+ARTIFACT`.
pub(crate) fn summarize(events: &[StreamEvent]) -> Vec<String> {
    let short = |event: &StreamEvent| {
        let result = &event.result;
        let state = result["status"]["state"].as_str().unwrap_or_default();
        match result["kind"].as_str() {
            Some("task") => format!("task:{state}"),
            Some("status-update") if result["final"] == true => format!("{state}!"),
            Some("status-update") => state.to_owned(),
            Some("artifact-update") => {
                format!("+{}", result["artifact"]["artifactId"].as_str().unwrap())
            }
            kind => panic!("{kind:?} is not of this protocol"),
        }
    };
    events.iter().map(short).collect()
}
