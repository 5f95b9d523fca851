//! A peer that does what a test tells it: an agent on a real socket and its own thread, so that it outlives the
//! processes that call it. It thinks in the words of protocol 0.3; `v1_form` translates for an agent of 1.0.

mod v1_form;

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
use trackway_a2a_client::IDEMPOTENT_MESSAGES_EXTENSION;

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
    /// As the only one: the stream is opened, and not even the task is named.
    Silent,
    /// The connection breaks.
    Cut,
    /// As the first one: the peer does what follows, and a proxy in front of it answers 502.
    BadGateway,
}

/// What the peer remembers of a task.
#[derive(Debug, Clone)]
pub(crate) struct FakeTask {
    pub(crate) id: String,
    pub(crate) state: String,
    message: Option<Value>,
    artifacts: Vec<Value>,
    history: Vec<Value>,
}

/// How a peer is unlike others.
#[derive(Debug, Clone, Copy, Default)]
struct FakeNature {
    has_streams: bool,
    /// It promises to recognise repeated messages, and does.
    is_idempotent: bool,
    /// It speaks protocol 1.0.
    is_v1: bool,
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
    nature: FakeNature,
    /// By message id.
    tasks: Vec<(String, FakeTask)>,
    /// What its task says when it is cancelled, because it has just ended.
    last_words: Option<&'static str>,
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
        Self::start(name, extensions, FakeNature { has_streams: true, is_idempotent: true, is_v1: false })
    }

    /// An agent of 0.3 that starts a task with every message.
    pub(crate) fn agent(name: &'static str) -> Self {
        Self::start(name, json!([]), FakeNature { has_streams: true, ..FakeNature::default() })
    }

    pub(crate) fn agent_without_streams(name: &'static str) -> Self {
        Self::start(name, json!([]), FakeNature::default())
    }

    /// An agent of 1.0 that starts a task with every message, and lists its tasks.
    pub(crate) fn agent_v1(name: &'static str) -> Self {
        Self::start(name, json!([]), FakeNature { has_streams: true, is_v1: true, is_idempotent: false })
    }

    fn start(name: &'static str, mut extensions: Value, nature: FakeNature) -> Self {
        if nature.is_idempotent {
            extensions.as_array_mut().unwrap().push(json!({ "uri": IDEMPOTENT_MESSAGES_EXTENSION }));
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut card = json!({
            "name": name, "description": format!("Does {name}."), "version": "1",
            "capabilities": { "streaming": nature.has_streams, "extensions": extensions },
            "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
        });
        let address = format!("{url}/rpc");
        if nature.is_v1 {
            let interface = json!({ "url": address, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" });
            card["supportedInterfaces"] = json!([interface]);
        } else {
            (card["protocolVersion"], card["url"]) = (json!("0.3.0"), json!(address));
        }
        let state = FakeState { card, nature, ..FakeState::default() };
        let state: Shared = Arc::new((Mutex::new(state), watch::Sender::new(0)));
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

    /// The next task that is cancelled has just ended with these words.
    pub(crate) fn end_when_cancelled(&self, text: &'static str) {
        self.state.0.lock().unwrap().last_words = Some(text);
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
    let mut method = body["method"].as_str().unwrap().to_owned();
    if state.0.lock().unwrap().nature.is_v1 {
        method = v1_form::v03_method(&method).to_owned();
    }
    // Of messages only the ids count here, and those are the same in both generations.
    let params = body["params"].clone();
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
        let is_v1 = self.nature.is_v1;
        let rpc_result =
            |result: Value| Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response();
        let result = |task: Value| rpc_result(if is_v1 { v1_form::v1_task(task) } else { task });
        let task_id = params["id"].as_str().unwrap_or_default().to_owned();
        match method {
            "message/stream" | "message/send" => {
                if let Some(refusal) = &self.refusal {
                    return Json(json!({ "jsonrpc": "2.0", "id": id, "error": refusal })).into_response();
                }
                let at = self.task_for_message(&params["message"]);
                if method == "message/send" && is_v1 {
                    return rpc_result(v1_form::v1_update(self.snapshot(at)));
                }
                if method == "message/send" {
                    return result(self.snapshot(at));
                }
                self.stream(at, id)
            }
            "tasks/resubscribe" => match self.tasks.iter().position(|(_, task)| task.id == task_id) {
                Some(at) => self.stream(at, id),
                None => error(-32001, "no such task"),
            },
            "tasks/get" => match self.tasks.iter().position(|(_, task)| task.id == task_id) {
                Some(at) => {
                    // An agent without streams goes on when it is asked.
                    if !self.nature.has_streams
                        && let Some(steps) = self.streams.pop_front()
                    {
                        steps.iter().for_each(|step| drop(self.apply(at, step)));
                    }
                    result(self.snapshot(at))
                }
                None => error(-32001, "no such task"),
            },
            "tasks/cancel" => match self.tasks.iter().position(|(_, task)| task.id == task_id) {
                Some(at) if self.is_over(at) => error(-32002, "it is over"),
                Some(at) if self.last_words.is_some() => {
                    let text = self.last_words.take().unwrap_or_default();
                    self.apply(at, &Step::Complete(text));
                    error(-32002, "it is over")
                }
                Some(at) => {
                    self.tasks[at].1.state = "canceled".to_owned();
                    result(self.snapshot(at))
                }
                None => error(-32001, "no such task"),
            },
            "tasks/list" => {
                let tasks: Vec<Value> =
                    (0..self.tasks.len()).rev().map(|at| v1_form::v1_task(self.snapshot(at))).collect();
                let total = tasks.len();
                rpc_result(json!({ "tasks": tasks, "nextPageToken": "", "totalSize": total, "pageSize": 50 }))
            }
            other => error(-32601, &format!("no method {other}")),
        }
    }

    fn is_over(&self, at: usize) -> bool {
        matches!(self.tasks[at].1.state.as_str(), "completed" | "failed" | "canceled")
    }

    /// The task that a message starts or belongs to. Only an idempotent peer recognises a repeated message.
    fn task_for_message(&mut self, message: &Value) -> usize {
        let message_id = message["messageId"].as_str().unwrap().to_owned();
        let known = match message["taskId"].as_str() {
            Some(task) => self.tasks.iter().position(|(_, known)| known.id == task),
            None if self.nature.is_idempotent => self.tasks.iter().position(|(id, _)| *id == message_id),
            None => None,
        };
        known.unwrap_or_else(|| {
            let id = format!("task-{}", self.tasks.len() + 1);
            let task = FakeTask {
                id,
                state: "submitted".to_owned(),
                message: None,
                artifacts: Vec::new(),
                history: vec![message.clone()],
            };
            self.tasks.push((message_id, task));
            self.tasks.len() - 1
        })
    }

    fn snapshot(&self, at: usize) -> Value {
        let FakeTask { id, state, message, artifacts, history } = &self.tasks[at].1;
        let mut status = json!({ "state": state });
        if let Some(message) = message {
            status["message"] = message.clone();
        }
        json!({ "kind": "task", "id": id, "contextId": "ctx", "status": status, "artifacts": artifacts,
                "history": history })
    }

    fn stream(&mut self, at: usize, id: &Value) -> Response {
        let steps = self.streams.pop_front().unwrap_or_else(|| vec![Step::Hang]);
        if let Some((Step::BadGateway, rest)) = steps.split_first() {
            rest.iter().for_each(|step| drop(self.apply(at, step)));
            return StatusCode::BAD_GATEWAY.into_response();
        }
        let mut frames: Vec<Result<String, io::Error>> = Vec::new();
        let is_v1 = self.nature.is_v1;
        let frame = |update: Value| {
            let result = if is_v1 { v1_form::v1_update(update) } else { update };
            format!("data: {}\n\n", json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        };
        if !matches!(steps.first(), Some(Step::Message(_) | Step::Cut | Step::Silent)) {
            frames.push(Ok(frame(self.snapshot(at))));
        }
        let mut hangs = false;
        for step in &steps {
            match step {
                Step::Hang | Step::Silent => hangs = true,
                Step::Cut | Step::BadGateway => frames.push(Err(io::Error::other("cut"))),
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
            Step::Hang | Step::Silent | Step::Cut | Step::BadGateway => unreachable!("not an update"),
        };
        task.state = state.to_owned();
        task.message = Some(message.clone());
        let is_last = !matches!(step, Step::Working(_));
        json!({ "kind": "status-update", "taskId": id, "contextId": "ctx", "final": is_last,
                "status": { "state": state, "message": message } })
    }
}
