//! A model server in this process, in OpenAI's chat format, that answers immediately.

use std::net::SocketAddr;

use anyhow::Result;
use axum::{Json, Router, http::header::CONTENT_TYPE, response::IntoResponse, routing::post};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{DISPATCH, PLAIN};

pub(super) const PATH: &str = "/v1/chat/completions";

/// The tool by which `echo` is dispatched.
pub(super) const TOOL: &str = "dispatch_workflow_echo";

/// Ends when it is dropped.
pub(super) struct ModelServer {
    pub(super) address: SocketAddr,
    serving: JoinHandle<()>,
}

impl ModelServer {
    pub(super) async fn start() -> Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let app = Router::new().route(PATH, post(answer_chat_completion));
        let serving = tokio::spawn(async move {
            // Without it there are no figures; the first request reports that.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { address, serving })
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer_chat_completion(Json(request): Json<Value>) -> impl IntoResponse {
    let last = request["messages"].as_array().and_then(|messages| messages.last());
    let role = last.map_or("", |last| last["role"].as_str().unwrap_or_default());
    let asks = last.is_some_and(|last| last["content"].to_string().contains(DISPATCH.user));
    let (delta, finish) = if role == "tool" {
        (json!({ "content": DISPATCH.end }), "stop")
    } else if asks {
        let function = json!({ "name": TOOL, "arguments": "{\"text\":\"hello\"}" });
        let call = json!({ "index": 0, "id": "call-1", "type": "function", "function": function });
        (json!({ "tool_calls": [call] }), "tool_calls")
    } else {
        (json!({ "content": PLAIN.end }), "stop")
    };
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "id": "answer", "object": "chat.completion.chunk", "created": 1,
            "model": "m", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let body = [chunk(delta, Value::Null), chunk(json!({}), finish.into()), "data: [DONE]\n\n".to_owned()];
    ([(CONTENT_TYPE, "text/event-stream")], body.concat())
}
