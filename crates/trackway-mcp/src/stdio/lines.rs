//! JSON-RPC messages, one per line. A line that is none is answered as JSON-RPC says, and the next one
//! is read.

use std::{io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientRequest, JsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, watch},
    task::JoinSet,
};

use crate::unread::{Revision, Scan, Unread};

/// Longest line that is read: far more than all bounds of a call together.
/// Limit (MCP): one line on standard input.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

pub(super) struct Lines<R, W> {
    read: BufReader<R>,
    /// The line as far as it was read. Kept here, since reading is given up and taken up again.
    line: Vec<u8>,
    /// The line is too long and is only passed over.
    overlong: Option<Scan>,
    write: Arc<Mutex<W>>,
    /// Answers to lines that were no messages, being written.
    replies: JoinSet<()>,
    /// A request has come; before that, nothing else means anything.
    begun: bool,
    /// What results look like to this client.
    revision: Revision,
    gone: watch::Sender<bool>,
}

enum Read {
    Line,
    TooLong(Scan),
    End,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W, gone: watch::Sender<bool>) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            overlong: None,
            write: Arc::new(Mutex::new(write)),
            replies: JoinSet::new(),
            begun: false,
            revision: Revision::Newest,
            gone,
        }
    }

    /// Reads on until the line is whole. Giving up between two polls loses nothing.
    async fn read_line(&mut self) -> Read {
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) => return Read::End,
                Ok(available) => available,
                Err(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    return Read::End;
                }
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if self.line.len() + taken > LINE_BYTES_MAX {
                self.overlong = Some(Scan::of(&std::mem::take(&mut self.line)));
            }
            match &mut self.overlong {
                Some(scan) => scan.see(&available[..taken]),
                None => self.line.extend_from_slice(&available[..taken]),
            }
            self.read.consume(taken);
            if end.is_some() {
                return self.overlong.take().map_or(Read::Line, Read::TooLong);
            }
        }
    }

    /// The message of a whole line, if it is one that means something now.
    fn message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&line) {
            Ok(message) => message,
            Err(_) => {
                self.reply_to_nonsense(&line);
                return None;
            }
        };
        if let JsonRpcMessage::Request(request) = &message {
            self.begun = true;
            // Clients of the newest revision do not greet.
            if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                self.revision = Revision::Older;
            }
        }
        self.begun.then_some(message)
    }

    fn reply_to_nonsense(&mut self, line: &[u8]) {
        let (id, code, message) = match serde_json::from_slice::<Value>(line) {
            Err(error) => {
                let scan = Scan::of(line);
                if let Some(unread) = Unread::too_deep(&scan) {
                    return self.reply_to_unread(unread, &scan);
                }
                (Value::Null, PARSE_ERROR, format!("the line is not JSON: {error}"))
            }
            // A reply to something that looks like a reply could go on for ever.
            Ok(Value::Object(sent)) if !sent.contains_key("method") => {
                tracing::debug!("an answer from the client is not of its form");
                return;
            }
            Ok(Value::Object(sent)) => {
                let id = sent.get("id").filter(|id| id.is_string() || id.is_number());
                let id = id.cloned().unwrap_or_default();
                (id, INVALID_REQUEST, "the message is not of its form".to_owned())
            }
            Ok(_) => (
                Value::Null,
                INVALID_REQUEST,
                "a message is one JSON object; batches are not taken".to_owned(),
            ),
        };
        let error = json!({ "code": code, "message": message });
        self.reply(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    fn reply_to_unread(&mut self, unread: Unread, scan: &Scan) {
        if let Some(answer) = unread.answer(scan, self.revision) {
            self.reply(&answer);
        }
    }

    /// Written beside the reading, which may be given up at any point.
    fn reply(&mut self, answer: &Value) {
        let text = answer.to_string();
        let (write, gone) = (self.write.clone(), self.gone.clone());
        self.replies.spawn(async move {
            // Where it cannot be written, the client is gone, which is noted there.
            let _ = put(&write, &gone, text.into_bytes()).await;
        });
        while self.replies.try_join_next().is_some() {}
    }
}

/// Writes a line as a whole.
async fn put<W: AsyncWrite + Unpin>(
    write: &Mutex<W>,
    gone: &watch::Sender<bool>,
    mut line: Vec<u8>,
) -> io::Result<()> {
    line.push(b'\n');
    let mut write = write.lock().await;
    let written = async {
        write.write_all(&line).await?;
        write.flush().await
    };
    let written = written.await;
    if written.is_err() {
        gone.send_replace(true);
    }
    written
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, gone) = (self.write.clone(), self.gone.clone());
        async move { put(&write, &gone, serde_json::to_vec(&message)?).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut gone = self.gone.subscribe();
        loop {
            let read = tokio::select! {
                read = self.read_line() => read,
                // Nobody reads what we write any more.
                _ = gone.wait_for(|gone| *gone) => Read::End,
            };
            match read {
                Read::Line => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Read::TooLong(scan) => {
                    self.reply_to_unread(Unread::TooLong { bytes_max: LINE_BYTES_MAX }, &scan);
                }
                Read::End => {
                    while self.replies.join_next().await.is_some() {}
                    self.gone.send_replace(true);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.gone.send_replace(true);
        self.write.lock().await.shutdown().await
    }
}
