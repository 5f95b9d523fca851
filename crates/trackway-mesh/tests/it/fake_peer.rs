//! A peer that does what a test tells it: an agent of protocol 0.3 on a real socket and its own thread, so that
//! it outlives the processes that call it.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    thread,
};

use axum::{
    Json, Router,
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

/// What one stream brings.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Working(&'static str),
    /// Name and content.
    Artifact(&'static str, Value),
    Ask(&'static str, Value),
    NeedsAuth(&'static str),
    Complete(&'static str),
    Fail(&'static str),
    /// An update of a task that nobody asked for.
    OtherTask,
    /// A message in place of a task.
    Message(&'static str),
    /// The connection stays open and silent.
    Hang,
    /// The connection breaks.
    Cut,
}

/// What the peer remembers of a task.
#[derive(Debug, Clone)]
pub(crate) struct FakeTask {
    pub(crate) id: String,
    pub(crate) state: String,
    message: Option<Value>,
    artifacts: Vec<Value>,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct FakeRequest {
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) call_token: Option<String>,
}

#[derive(Debug, Default)]
struct FakeState {
    card: Value,
    streams: VecDeque<Vec<Step>>,
    /// By message id: a repeated message is recognised.
    tasks: Vec<(String, FakeTask)>,
    requests: Vec<FakeRequest>,
    /// Refuses every message with this error.
    refusal: Option<Value>,
}

type Shared = Arc<(Mutex<FakeState>, watch::Sender<usize>)>;

/// A peer. Ends when it is dropped.
#[derive(Debug)]
pub(crate) struct FakePeer {
    pub(crate) url: String,
    pub(crate) name: &'static str,
    state: Shared,
    /// Dropped with the peer, which ends its thread.
    open: oneshot::Sender<()>,
    thread: thread::JoinHandle<()>,
}

impl FakePeer {
    /// A workflow with this input schema.
    pub(crate) fn workflow(name: &'static str, input_schema: &Value) -> Self {
        let extensions = json!([
            { "uri": "https://solace.com/a2a/extensions/agent-type", "params": { "type": "workflow" } },
            { "uri": "https://solace.com/a2a/extensions/sam/schemas", "params": { "input_schema": input_schema } },
        ]);
        Self::start(name, &extensions, true)
    }

    pub(crate) fn agent(name: &'static str) -> Self {
        Self::start(name, &json!([]), true)
    }

    pub(crate) fn agent_without_streams(name: &'static str) -> Self {
        Self::start(name, &json!([]), false)
    }

    fn start(name: &'static str, extensions: &Value, streaming: bool) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let card = json!({
            "name": name, "description": format!("Does {name}."), "version": "1", "protocolVersion": "0.3.0",
            "url": format!("{url}/rpc"), "preferredTransport": "JSONRPC",
            "capabilities": { "streaming": streaming, "extensions": extensions },
            "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
        });
        let state: Shared =
            Arc::new((Mutex::new(FakeState { card, ..FakeState::default() }), watch::Sender::new(0)));
        let router = Router::new()
            .route("/.well-known/agent-card.json", get(card_of))
            .route("/rpc", post(answer))
            .with_state(state.clone());
        let (open, closed) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = axum::serve(listener, router) => served.unwrap(),
                    _ = closed => {}
                }
            });
        });
        Self { url, name, state, open, thread }
    }

    /// Returns when nothing listens there any more and every connection is closed.
    pub(crate) fn stop(self) {
        drop(self.open);
        self.thread.join().unwrap();
    }

    /// The next stream brings these.
    pub(crate) fn queue(&self, steps: &[Step]) {
        self.state.0.lock().unwrap().streams.push_back(steps.to_vec());
    }

    pub(crate) fn refuse_messages(&self, error: Value) {
        self.state.0.lock().unwrap().refusal = Some(error);
    }

    pub(crate) fn tasks(&self) -> Vec<FakeTask> {
        self.state.0.lock().unwrap().tasks.iter().map(|(_, task)| task.clone()).collect()
    }

    pub(crate) fn requests_of(&self, method: &str) -> Vec<FakeRequest> {
        let state = self.state.0.lock().unwrap();
        state.requests.iter().filter(|request| request.method == method).cloned().collect()
    }

    /// Returns when that many requests of a method have arrived.
    pub(crate) async fn wait_for_requests(&self, method: &str, count: usize) {
        let mut arrivals = self.state.1.subscribe();
        while self.requests_of(method).len() < count {
            arrivals.changed().await.unwrap();
        }
    }
}

async fn card_of(State(state): State<Shared>) -> Json<Value> {
    Json(state.0.lock().unwrap().card.clone())
}

async fn answer(State(state): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let (method, params) = (body["method"].as_str().unwrap().to_owned(), body["params"].clone());
    let token = headers.get("trackway-call").map(|value| value.to_str().unwrap().to_owned());
    let response = {
        let mut fake = state.0.lock().unwrap();
        fake.requests.push(FakeRequest { method: method.clone(), params: params.clone(), call_token: token });
        fake.answer(&method, &params, &body["id"])
    };
    state.1.send_modify(|count| *count += 1);
    response
}

impl FakeState {
    fn answer(&mut self, method: &str, params: &Value, id: &Value) -> Response {
        let error = |code: i64, text: &str| {
            Json(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }))
                .into_response()
        };
        let result =
            |result: Value| Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response();
        let task_id = params["id"].as_str().unwrap_or_default().to_owned();
        match method {
            "message/stream" | "message/send" => {
                if let Some(refusal) = &self.refusal {
                    return Json(json!({ "jsonrpc": "2.0", "id": id, "error": refusal })).into_response();
                }
                let at = self.task_for_message(&params["message"]);
                if method == "message/send" {
                    return result(self.snapshot(at));
                }
                self.stream(at, id, true)
            }
            "tasks/resubscribe" => match self.tasks.iter().position(|(_, task)| task.id == task_id) {
                Some(at) => self.stream(at, id, true),
                None => error(-32001, "no such task"),
            },
            "tasks/get" => match self.tasks.iter().position(|(_, task)| task.id == task_id) {
                Some(at) => {
                    // An agent without streams goes on when it is asked.
                    if let Some(steps) = self.streams.pop_front() {
                        steps.iter().for_each(|step| drop(self.apply(at, step)));
                    }
                    result(self.snapshot(at))
                }
                None => error(-32001, "no such task"),
            },
            "tasks/cancel" => match self.tasks.iter().position(|(_, task)| task.id == task_id) {
                Some(at) if self.is_over(at) => error(-32002, "it is over"),
                Some(at) => {
                    self.tasks[at].1.state = "canceled".to_owned();
                    result(self.snapshot(at))
                }
                None => error(-32001, "no such task"),
            },
            other => error(-32601, &format!("no method {other}")),
        }
    }

    fn is_over(&self, at: usize) -> bool {
        matches!(self.tasks[at].1.state.as_str(), "completed" | "failed" | "canceled")
    }

    /// The task that a message starts or belongs to. A repeated message is the same task.
    fn task_for_message(&mut self, message: &Value) -> usize {
        let message_id = message["messageId"].as_str().unwrap().to_owned();
        let known = match message["taskId"].as_str() {
            Some(task) => self.tasks.iter().position(|(_, known)| known.id == task),
            None => self.tasks.iter().position(|(id, _)| *id == message_id),
        };
        known.unwrap_or_else(|| {
            let id = format!("task-{}", self.tasks.len() + 1);
            let task = FakeTask { id, state: "submitted".to_owned(), message: None, artifacts: Vec::new() };
            self.tasks.push((message_id, task));
            self.tasks.len() - 1
        })
    }

    fn snapshot(&self, at: usize) -> Value {
        let FakeTask { id, state, message, artifacts } = &self.tasks[at].1;
        let mut status = json!({ "state": state });
        if let Some(message) = message {
            status["message"] = message.clone();
        }
        json!({ "kind": "task", "id": id, "contextId": "ctx", "status": status, "artifacts": artifacts })
    }

    fn stream(&mut self, at: usize, id: &Value, with_snapshot: bool) -> Response {
        let steps = self.streams.pop_front().unwrap_or_else(|| vec![Step::Hang]);
        let mut frames: Vec<Result<String, io::Error>> = Vec::new();
        let frame =
            |result: Value| format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        if with_snapshot && !matches!(steps.first(), Some(Step::Message(_) | Step::Cut)) {
            frames.push(Ok(frame(self.snapshot(at))));
        }
        let mut hangs = false;
        for step in &steps {
            match step {
                Step::Hang => hangs = true,
                Step::Cut => frames.push(Err(io::Error::other("cut"))),
                step => frames.push(Ok(frame(self.apply(at, step)))),
            }
        }
        let tail = if hangs { stream::pending().left_stream() } else { stream::empty().right_stream() };
        let body = Body::from_stream(stream::iter(frames).chain(tail));
        (StatusCode::OK, [(CONTENT_TYPE, "text/event-stream")], body).into_response()
    }

    /// Changes the task, and returns the update.
    fn apply(&mut self, at: usize, step: &Step) -> Value {
        let number = self.requests.len();
        let task = &mut self.tasks[at].1;
        let id = task.id.clone();
        let message = |text: &str, metadata: Value| {
            json!({
                "kind": "message", "messageId": format!("m-{number}-{text}"), "role": "agent",
                "parts": [{ "kind": "text", "text": text, "metadata": metadata }],
            })
        };
        let (state, message) = match step {
            Step::Artifact(name, content) => {
                let parts = match content {
                    Value::Array(parts) => parts.clone(),
                    data => vec![json!({ "kind": "data", "data": data })],
                };
                let artifact = json!({ "artifactId": name, "name": name, "parts": parts });
                task.artifacts.push(artifact.clone());
                return json!({ "kind": "artifact-update", "taskId": id, "contextId": "ctx", "artifact": artifact });
            }
            Step::Message(text) => return message(text, json!({})),
            Step::OtherTask => {
                let status = json!({ "state": "completed", "message": message("not yours", json!({})) });
                return json!({ "kind": "status-update", "taskId": "other", "contextId": "ctx", "status": status,
                               "final": false });
            }
            Step::Working(text) => ("working", message(text, json!({}))),
            Step::Ask(text, schema) => ("input-required", message(text, json!({ "schema": schema }))),
            Step::NeedsAuth(text) => ("auth-required", message(text, json!({}))),
            Step::Complete(text) => ("completed", message(text, json!({}))),
            Step::Fail(text) => ("failed", message(text, json!({}))),
            Step::Hang | Step::Cut => unreachable!("not an update"),
        };
        task.state = state.to_owned();
        task.message = Some(message.clone());
        let is_last = !matches!(step, Step::Working(_));
        json!({ "kind": "status-update", "taskId": id, "contextId": "ctx", "final": is_last,
                "status": { "state": state, "message": message } })
    }
}
