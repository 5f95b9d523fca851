//! A scripted model server on a real socket: it records requests and answers by the test's script.
//!
//! Works for a provider in the same process and for a binary whose environment names [`base_url`].
//! Nothing here waits for time: a script stops at a [`Latch`] until the test releases it.
//!
//! [`base_url`]: ModelServer::base_url

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

pub use self::{chat::ChatReply, latch::Latch, reply::Reply};
use crate::taps::locked;

/// Answers requests in the order in which they arrive. Ends when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    url: String,
    desk: Arc<Desk>,
    /// Dropped with the server, which ends its thread.
    _open: oneshot::Sender<()>,
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub method: String,
    /// With its query.
    pub path: String,
    /// Lower-case names, in the order in which they arrived.
    pub headers: Vec<(String, String)>,
    /// Null if it is not JSON.
    pub body: Value,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

type Responder = Box<dyn Fn(&Asked) -> Reply + Send>;

/// The state that the connections share.
#[derive(Default)]
struct Desk {
    queue: Mutex<VecDeque<Reply>>,
    responder: Mutex<Option<Responder>>,
    asked: watch::Sender<Vec<Asked>>,
    /// Replies that were sent completely.
    served: watch::Sender<usize>,
    /// Connections that the client closed before its answer was complete.
    drops: watch::Sender<usize>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("asked", &*self.asked.borrow()).finish_non_exhaustive()
    }
}

impl ModelServer {
    /// On its own thread: a test may block while it waits for a process.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let listener = listener.into_std().expect("a plain socket");
        let desk = Arc::new(Desk::default());
        let (open, closed) = oneshot::channel();
        let serving = socket::serve(listener, Arc::clone(&desk), closed);
        thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            runtime.expect("a runtime").block_on(serving);
        });
        Self { url, desk, _open: open }
    }

    /// An answer in OpenAI's chat format, to be filled.
    pub fn openai() -> ChatReply {
        ChatReply::default()
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
    pub fn queue(&self, reply: impl Into<Reply>) {
        locked(&self.desk.queue).push_back(reply.into());
    }

    /// Answers requests when the queue is empty; without this they are refused with status 400.
    pub fn respond(&self, responder: impl Fn(&Asked) -> Reply + Send + 'static) {
        *locked(&self.desk.responder) = Some(Box::new(responder));
    }

    /// How many replies of the queue are unused.
    pub fn left(&self) -> usize {
        locked(&self.desk.queue).len()
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.desk.asked.borrow().clone()
    }

    /// Resolves when this many requests have arrived; returns the last of them.
    pub async fn until_asked(&self, count: usize) -> Asked {
        let mut asked = self.desk.asked.subscribe();
        let all = asked.wait_for(|asked| asked.len() >= count).await.expect("the desk lives");
        all[count.max(1) - 1].clone()
    }

    /// Resolves when this many replies were sent completely.
    pub async fn until_served(&self, count: usize) {
        let _ = self.desk.served.subscribe().wait_for(|served| *served >= count).await;
    }

    /// Resolves when a client has closed its connection before its answer was complete.
    pub async fn dropped(&self) {
        self.until_drops(1).await;
    }

    /// Resolves when that has happened this many times.
    pub async fn until_drops(&self, count: usize) {
        let _ = self.desk.drops.subscribe().wait_for(|drops| *drops >= count).await;
    }

    pub fn drops(&self) -> usize {
        *self.desk.drops.borrow()
    }
}

impl Desk {
    fn reply(&self, asked: &Asked) -> Reply {
        let next = locked(&self.queue).pop_front();
        next.unwrap_or_else(|| match locked(&self.responder).as_ref() {
            Some(responder) => responder(asked),
            None => Reply::refusal(400, "the script has no answer left"),
        })
    }
}

#[cfg(test)]
mod tests;
