//! A scripted model server on a real socket: it records requests and answers by the test's script.
//!
//! Works for a provider in the same process and for a binary whose environment names [`base_url`].
//! Nothing here waits for time: a script stops at a [`ScriptLatch`] until the test releases it.
//!
//! [`base_url`]: ScriptedModelServer::base_url

mod chat;
mod latch;
mod reply;
mod socket;

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex},
    thread,
};

use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{oneshot, watch},
};

pub use self::{chat::ScriptedChatReply, latch::ScriptLatch, reply::ScriptedReply};
use crate::interceptors::lock_ignoring_poison;

/// Answers requests in the order in which they arrive. Ends when it is dropped.
#[derive(Debug)]
pub struct ScriptedModelServer {
    url: String,
    state: Arc<ServerState>,
    /// Dropped with the server, which ends its thread.
    _open: oneshot::Sender<()>,
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    pub method: String,
    /// With its query.
    pub path: String,
    /// Lower-case names, in the order in which they arrived.
    pub headers: Vec<(String, String)>,
    /// Null if it is not JSON.
    pub body: Value,
}

impl ModelRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

type Responder = Box<dyn Fn(&ModelRequest) -> ScriptedReply + Send>;

/// The state that the connections share.
#[derive(Default)]
struct ServerState {
    queue: Mutex<VecDeque<ScriptedReply>>,
    responder: Mutex<Option<Responder>>,
    requests: watch::Sender<Vec<ModelRequest>>,
    /// Replies that were sent completely.
    served: watch::Sender<usize>,
    /// Connections that the client closed before its answer was complete.
    drops: watch::Sender<usize>,
}

impl fmt::Debug for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("asked", &*self.requests.borrow()).finish_non_exhaustive()
    }
}

impl ScriptedModelServer {
    /// On its own thread: a test may block while it waits for a process.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let listener = listener.into_std().expect("a plain socket");
        let desk = Arc::new(ServerState::default());
        let (open, closed) = oneshot::channel();
        let serving = socket::serve_connections(listener, Arc::clone(&desk), closed);
        thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            runtime.expect("a runtime").block_on(serving);
        });
        Self { url, state: desk, _open: open }
    }

    /// An answer in OpenAI's chat format, to be filled.
    pub fn openai_reply() -> ScriptedChatReply {
        ScriptedChatReply::default()
    }

    /// The address without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address with `/v1`, as `OPENAI_BASE_URL` has it.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url)
    }

    /// Adds a reply to the end of the queue.
    pub fn queue_reply(&self, reply: impl Into<ScriptedReply>) {
        lock_ignoring_poison(&self.state.queue).push_back(reply.into());
    }

    /// Answers requests when the queue is empty; without this they are refused with status 400.
    pub fn set_responder(&self, responder: impl Fn(&ModelRequest) -> ScriptedReply + Send + 'static) {
        *lock_ignoring_poison(&self.state.responder) = Some(Box::new(responder));
    }

    /// How many replies of the queue are unused.
    pub fn unused_replies(&self) -> usize {
        lock_ignoring_poison(&self.state.queue).len()
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state.requests.borrow().clone()
    }

    /// Resolves when this many requests have arrived; returns the last of them.
    pub async fn wait_for_requests(&self, count: usize) -> ModelRequest {
        let mut asked = self.state.requests.subscribe();
        let all = asked.wait_for(|asked| asked.len() >= count).await.expect("the desk lives");
        all[count.max(1) - 1].clone()
    }

    /// Resolves when this many replies were sent completely.
    pub async fn wait_for_replies_sent(&self, count: usize) {
        let _ = self.state.served.subscribe().wait_for(|served| *served >= count).await;
    }

    /// Resolves when a client has closed its connection before its answer was complete.
    pub async fn wait_for_dropped_connection(&self) {
        self.wait_for_dropped_connections(1).await;
    }

    /// Resolves when that has happened this many times.
    pub async fn wait_for_dropped_connections(&self, count: usize) {
        let _ = self.state.drops.subscribe().wait_for(|drops| *drops >= count).await;
    }

    pub fn dropped_connections(&self) -> usize {
        *self.state.drops.borrow()
    }
}

impl ServerState {
    fn next_reply(&self, request: &ModelRequest) -> ScriptedReply {
        let next = lock_ignoring_poison(&self.queue).pop_front();
        next.unwrap_or_else(|| match lock_ignoring_poison(&self.responder).as_ref() {
            Some(responder) => responder(request),
            None => ScriptedReply::error_body(400, "the script has no answer left"),
        })
    }
}

#[cfg(test)]
mod tests;
