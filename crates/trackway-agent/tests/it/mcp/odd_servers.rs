//! Servers at an address that answer in unusual ways, each as JSON and as a stream of events.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::mcp_harness::{RunningServers, call_tool, start_servers, tool_names};

/// How a server writes its answers.
#[derive(Debug, Clone, Copy)]
enum AnswerForm {
    Json,
    Events,
}

const FORMS: [AnswerForm; 2] = [AnswerForm::Json, AnswerForm::Events];

impl AnswerForm {
    fn write(self, text: &[u8]) -> Response {
        let (kind, body) = match self {
            Self::Json => ("application/json", text.to_vec()),
            Self::Events => ("text/event-stream", [b"data: ", text, b"\n\n"].concat()),
        };
        ([(header::CONTENT_TYPE, kind)], Body::from(body)).into_response()
    }
}

/// The answer to the request with this id.
type Answer = dyn Fn(&Value) -> Vec<u8> + Send + Sync;

/// A server without sessions whose only callable tool returns this answer.
#[derive(Clone)]
struct OddServer {
    form: AnswerForm,
    answer: Arc<Answer>,
}

async fn serve(State(odd): State<OddServer>, body: String) -> Response {
    let message: Value = serde_json::from_str(&body).unwrap();
    let id = &message["id"];
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        }),
        "tools/list" => {
            let tool = |name: &str, support: &str| json!({"name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}});
            json!({"tools": [tool("task", "required"), tool("odd", "optional")]})
        }
        "tools/call" => return odd.form.write(&(odd.answer)(id)),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    odd.form.write(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().as_bytes())
}

async fn start_odd_server(
    form: AnswerForm,
    answer: impl Fn(&Value) -> Vec<u8> + Send + Sync + 'static,
) -> RunningServers {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let odd = OddServer { form, answer: Arc::new(answer) };
    let router = Router::new().route("/mcp", post(serve)).with_state(odd);
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    start_servers(&json!({"web": {"url": url}})).await
}

/// Issue 11, E8: a tool that can only be called as a task is not offered.
#[tokio::test]
async fn tools_that_are_tasks_are_left_out_over_http() {
    for form in FORMS {
        let servers = start_odd_server(form, |_| Vec::new()).await;
        assert_eq!(tool_names(&servers), ["web__odd"], "{form:?} {:?}", servers.server_statuses());
        servers.shutdown().await;
    }
}

/// Issue 11, S-L9: an answer that cannot be read ends its call immediately, and no other call. A call
/// may take two minutes here, so a call that waited for its timeout would not finish within the test.
#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_its_call_over_http() {
    let whole = |id: &Value, text: &str| {
        let result = json!({"content": [{"type": "text", "text": text}]});
        json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_bytes()
    };
    let deep = |id: &Value| {
        let deep = "[".repeat(50_000);
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{deep}").into_bytes()
    };
    let long = move |id: &Value| whole(id, &"x".repeat(9 * 1024 * 1024));
    let no_text = |id: &Value| {
        let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"");
        [start.as_bytes(), b"\xff\"}"].concat()
    };
    let no_message = |_: &Value| b"{\"hello\": true}".to_vec();
    for form in FORMS {
        let answers: [Box<Answer>; 4] =
            [Box::new(deep), Box::new(long), Box::new(no_text), Box::new(no_message)];
        for answer in answers {
            let servers = start_odd_server(form, answer).await;
            let failure = call_tool(&servers, "web__odd", json!({})).await.unwrap_err();
            assert!(failure.message.contains("cannot be read"), "{form:?} {failure:?}");
            assert_eq!(servers.server_statuses()[0].starts, 1, "the connection goes on");
            servers.shutdown().await;
        }
        let servers = start_odd_server(form, move |id| whole(id, "fine")).await;
        assert_eq!(call_tool(&servers, "web__odd", json!({})).await.unwrap().value, "fine", "{form:?}");
        servers.shutdown().await;
    }
}
