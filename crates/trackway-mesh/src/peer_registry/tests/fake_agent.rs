//! An agent that serves whatever card a test wants, and remembers who asked.

use std::sync::{Arc, Mutex};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// What the agent answers to a request for its card.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Card(Value),
    /// With a tag, and 304 for whoever has it.
    TaggedCard(Value, &'static str),
    Status(u16),
    Redirect(&'static str),
    Text(String),
}

/// A server on a free port of this machine; it ends with the test's runtime.
#[derive(Debug, Clone)]
pub(super) struct FakeAgent {
    pub(super) url: String,
    state: Arc<Mutex<FakeState>>,
}

#[derive(Debug)]
struct FakeState {
    answer: Answer,
    requests: Vec<HeaderMap>,
    not_modified: usize,
}

impl FakeAgent {
    pub(super) async fn start(answer: Answer) -> Self {
        let state = Arc::new(Mutex::new(FakeState { answer, requests: Vec::new(), not_modified: 0 }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer_card).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, state }
    }

    /// One that serves a plain agent of this name.
    pub(super) async fn named(name: &str) -> Self {
        Self::start(Answer::Card(agent_card(name))).await
    }

    pub(super) fn answers(&self, answer: Answer) {
        self.state.lock().unwrap().answer = answer;
    }

    /// The headers of every request so far.
    pub(super) fn received_requests(&self) -> Vec<HeaderMap> {
        self.state.lock().unwrap().requests.clone()
    }

    /// How many requests were answered with 304.
    pub(super) fn not_modified(&self) -> usize {
        self.state.lock().unwrap().not_modified
    }
}

async fn answer_card(State(state): State<Arc<Mutex<FakeState>>>, headers: HeaderMap) -> Response {
    let mut state = state.lock().unwrap();
    state.requests.push(headers.clone());
    match state.answer.clone() {
        Answer::Card(card) => axum::Json(card).into_response(),
        Answer::TaggedCard(_, tag)
            if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag) =>
        {
            state.not_modified += 1;
            StatusCode::NOT_MODIFIED.into_response()
        }
        Answer::TaggedCard(card, tag) => ([(header::ETAG, tag)], axum::Json(card)).into_response(),
        Answer::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Answer::Redirect(to) => (StatusCode::FOUND, [(header::LOCATION, to)]).into_response(),
        Answer::Text(text) => text.into_response(),
    }
}

pub(super) fn agent_card(name: &str) -> Value {
    json!({"name": name, "description": "does things", "url": "/", "protocolVersion": "0.3.0", "capabilities": {}})
}

/// A card in the form in which Solace Agent Mesh publishes workflows.
pub(super) fn workflow_card(name: &str, input_schema: &Value) -> Value {
    let mut card = agent_card(name);
    card["capabilities"] = json!({
        "streaming": true, "pushNotifications": false, "stateTransitionHistory": null,
        "extensions": [
            {"uri": "https://solace.com/a2a/extensions/agent-type", "description": null, "required": null,
                "params": {"type": "workflow"}},
            {"uri": "https://solace.com/a2a/extensions/sam/schemas", "description": "Input and output.",
                "required": false, "params": {"input_schema": input_schema, "output_schema": {"type": "object"}}},
        ],
    });
    card
}
