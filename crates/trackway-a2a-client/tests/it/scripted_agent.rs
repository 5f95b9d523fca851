//! An agent that follows a script: one step for each connection, on a real socket.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use trackway_a2a_client::{Client, Options, ProtocolVersion};

/// The agent's reaction to one connection.
#[derive(Debug, Clone)]
pub(crate) enum ScriptedStep {
    /// An answer with its status, additional headers, and body.
    Answer(u16, &'static str, String),
    /// A stream, written piece by piece, and how it ends.
    Stream(Vec<Vec<u8>>, StreamEnd),
    /// Closes without an answer.
    Hang,
    /// Sends nothing and keeps the connection.
    Silence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    Proper,
    Cut,
    Silence,
}

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    head: String,
    pub(crate) body: Value,
}

#[derive(Debug)]
pub(crate) struct ScriptedAgent {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<RecordedRequest>>>,
    steps: Arc<Mutex<Vec<ScriptedStep>>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for ScriptedAgent {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl ScriptedAgent {
    pub(crate) async fn new(steps: impl IntoIterator<Item = ScriptedStep>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut steps: Vec<ScriptedStep> = steps.into_iter().collect();
        steps.reverse();
        let asked: Arc<Mutex<Vec<RecordedRequest>>> = Arc::default();
        let steps = Arc::new(Mutex::new(steps));
        let (asking, left) = (Arc::clone(&asked), Arc::clone(&steps));
        let serving = tokio::spawn(async move {
            // Silent connections are kept until the test ends.
            let mut kept = Vec::new();
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let Some(request) = read_request(&mut socket).await else { continue };
                asking.lock().unwrap().push(request);
                let step = left.lock().unwrap().pop();
                kept.extend(perform_step(socket, step.expect("no more was to be asked")).await);
            }
        });
        Self { url, asked, steps, serving }
    }

    pub(crate) fn client(&self, generation: ProtocolVersion, options: Options) -> Client {
        Client::for_json_rpc(&self.url, generation, options).unwrap()
    }

    /// Every request so far; the script must be used up.
    pub(crate) fn recorded_requests(&self) -> Vec<RecordedRequest> {
        assert_eq!(self.steps.lock().unwrap().len(), 0, "steps that nobody asked for");
        self.asked.lock().unwrap().clone()
    }
}

impl RecordedRequest {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Method and path.
    pub(crate) fn request_line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }
}

impl ScriptedStep {
    pub(crate) fn result(result: &Value) -> Self {
        let body = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        Self::Answer(200, "content-type: application/json\r\n", body.to_string())
    }

    pub(crate) fn error(code: i64, data: &Value) -> Self {
        let error = json!({"code": code, "message": "no", "data": data});
        let body = json!({"jsonrpc": "2.0", "id": 1, "error": error});
        Self::Answer(200, "content-type: application/json\r\n", body.to_string())
    }

    pub(crate) fn status(status: u16, headers: &'static str) -> Self {
        Self::Answer(status, headers, "an error page".to_owned())
    }

    /// Events without ids.
    pub(crate) fn events(items: &[Value], end: StreamEnd) -> Self {
        Self::Stream(items.iter().map(|item| encode_event(None, item)).collect(), end)
    }

    /// Events with ids, counted from `first`.
    pub(crate) fn numbered_events(first: u64, items: &[Value], end: StreamEnd) -> Self {
        let numbered = (first..).zip(items).map(|(id, item)| encode_event(Some(id), item));
        Self::Stream(numbered.collect(), end)
    }
}

pub(crate) fn encode_event(id: Option<u64>, item: &Value) -> Vec<u8> {
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": item});
    let id = id.map_or(String::new(), |id| format!("id: {id}\n"));
    format!("{id}data: {response}\n\n").into_bytes()
}

async fn read_request(socket: &mut TcpStream) -> Option<RecordedRequest> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let request = RecordedRequest { head: head.to_owned(), body: Value::Null };
            let length = request.header("content-length").map_or(0, |text| text.parse().unwrap());
            if body.len() >= length {
                let body = serde_json::from_str(body).unwrap_or_default();
                return Some(RecordedRequest { body, ..request });
            }
        }
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

/// Runs the step; returns the socket if it must be kept.
async fn perform_step(mut socket: TcpStream, step: ScriptedStep) -> Option<TcpStream> {
    match step {
        ScriptedStep::Answer(status, headers, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n"
            );
            let _ = socket.write_all((head + &body).as_bytes()).await;
            None
        }
        ScriptedStep::Stream(pieces, end) => {
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
                transfer-encoding: chunked\r\n\r\n";
            let _ = socket.write_all(head.as_bytes()).await;
            for piece in pieces {
                let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), &piece, b"\r\n"].concat();
                let _ = socket.write_all(&chunk).await;
            }
            if end == StreamEnd::Proper {
                let _ = socket.write_all(b"0\r\n\r\n").await;
            }
            (end == StreamEnd::Silence).then_some(socket)
        }
        ScriptedStep::Hang => None,
        ScriptedStep::Silence => Some(socket),
    }
}
