//! JSON-RPC messages, one per line. A line that is not a message is answered as JSON-RPC says, and reading
//! continues with the next one.

use std::{collections::VecDeque, io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, watch},
    task::JoinSet,
};

use super::batches::OpenBatches;
use crate::{
    batch,
    jsonrpc::{self, INVALID_REQUEST, PARSE_ERROR},
    unparsed::{MessageScan, ResultForm, UnparsedMessage},
};

/// Longest line that is read: far more than all limits of a call together.
/// Limit (MCP): one line on standard input.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) struct LineTransport<R, W> {
    read: BufReader<R>,
    /// The part of the line that was read so far. It is kept here because reading can be cancelled and
    /// resumed.
    line: Vec<u8>,
    /// The line is too long and is skipped.
    overlong: Option<MessageScan>,
    write: Arc<Mutex<W>>,
    /// Answers to lines that were not messages; they are being written.
    replies: JoinSet<()>,
    /// Whether a request has arrived; before that, other lines are ignored.
    begun: bool,
    /// The form of results that this client expects.
    revision: ResultForm,
    /// The client speaks the revision that has batches.
    has_batches: bool,
    batches: OpenBatches,
    /// Messages of a batch that wait to be handled.
    queue: VecDeque<RxJsonRpcMessage<RoleServer>>,
    gone: watch::Sender<bool>,
}

enum ReadLine {
    Line,
    TooLong(MessageScan),
    End,
}

impl<R, W> LineTransport<R, W>
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
            revision: ResultForm::Newest,
            has_batches: false,
            batches: OpenBatches::default(),
            queue: VecDeque::new(),
            gone,
        }
    }

    /// Reads until the line is complete. Cancelling between two polls loses nothing.
    async fn read_line(&mut self) -> ReadLine {
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) => return ReadLine::End,
                Ok(available) => available,
                Err(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    return ReadLine::End;
                }
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if self.line.len() + taken > LINE_BYTES_MAX {
                self.overlong = Some(MessageScan::scan_message(&std::mem::take(&mut self.line)));
            }
            match &mut self.overlong {
                Some(scan) => scan.scan_chunk(&available[..taken]),
                None => self.line.extend_from_slice(&available[..taken]),
            }
            self.read.consume(taken);
            if end.is_some() {
                return self.overlong.take().map_or(ReadLine::Line, ReadLine::TooLong);
            }
        }
    }

    /// The message of a complete line, if it is valid at this point.
    fn parse_line(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&line) {
            Ok(message) => message,
            Err(_) => {
                self.handle_non_message(&line);
                return None;
            }
        };
        if let JsonRpcMessage::Request(request) = &message {
            self.begun = true;
            // Clients of the newest revision do not send `initialize`.
            if let ClientRequest::InitializeRequest(greeting) = &request.request {
                self.revision = ResultForm::Older;
                // If the server knows the revision, that is the agreed one.
                self.has_batches = greeting.params.protocol_version.as_str() == batch::BATCH_REVISION;
            }
        }
        self.begun.then_some(message)
    }

    /// Handles a line that is not one message: a batch, or invalid input.
    fn handle_non_message(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Value>(line) {
            Err(error) => {
                let scan = MessageScan::scan_message(line);
                match UnparsedMessage::check_depth(&scan) {
                    Some(unread) => self.reply_to_unparsed(unread, &scan),
                    None => {
                        let message = format!("the line is not JSON: {error}");
                        self.spawn_reply(&jsonrpc::error_message(&Value::Null, PARSE_ERROR, &message));
                    }
                }
            }
            Ok(Value::Array(batch)) if self.has_batches => self.handle_batch(batch, line.len()),
            Ok(Value::Array(_)) => {
                let message = "a message is one JSON object; only revision 2025-03-26 has batches";
                self.spawn_reply(&jsonrpc::error_message(&Value::Null, INVALID_REQUEST, message));
            }
            Ok(sent) => {
                if let Some(answer) = invalid_message_answer(&sent, "the message is not of its form") {
                    self.spawn_reply(&answer);
                }
            }
        }
    }

    fn handle_batch(&mut self, batch: Vec<Value>, bytes: usize) {
        let is_large = bytes > batch::BATCH_BYTES_MAX;
        let refusal = is_large.then_some(batch::BATCH_TOO_LARGE).or_else(|| batch::batch_refusal(&batch));
        if let Some(reason) = refusal {
            return self.spawn_reply(&jsonrpc::error_message(&Value::Null, INVALID_REQUEST, reason));
        }
        let (messages, answer) = self.batches.split_batch(batch);
        self.queue.extend(messages);
        if let Some(answer) = answer {
            self.spawn_reply(&answer);
        }
    }

    /// A cancelled request gets no answer, so its batch stops waiting for it.
    fn drop_cancelled_request(&mut self, message: &RxJsonRpcMessage<RoleServer>) {
        if let JsonRpcMessage::Notification(sent) = message
            && let ClientNotification::CancelledNotification(cancelled) = &sent.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(answer) = self.batches.cancel_request(id)
        {
            self.spawn_reply(&answer);
        }
    }

    fn reply_to_unparsed(&mut self, unread: UnparsedMessage, scan: &MessageScan) {
        if let Some(answer) = unread.error_answer(scan, self.revision) {
            self.spawn_reply(&answer);
        }
    }

    /// Written in a separate task, because the reading may be cancelled at any point.
    fn spawn_reply(&mut self, answer: &Value) {
        let text = answer.to_string();
        let (write, gone) = (self.write.clone(), self.gone.clone());
        self.replies.spawn(async move {
            // If writing fails, the client has disconnected; the writer records that.
            let _ = write_line(&write, &gone, text.into_bytes()).await;
        });
        while self.replies.try_join_next().is_some() {}
    }
}

/// The request that a message answers.
fn answered_request_id(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// The answer to JSON that is not a message.
pub(super) fn invalid_message_answer(sent: &Value, why: &str) -> Option<Value> {
    let Value::Object(sent) = sent else {
        let message = "a message is one JSON object";
        return Some(jsonrpc::error_message(&Value::Null, INVALID_REQUEST, message));
    };
    // An answer to something that looks like an answer could start an endless exchange.
    if sent.contains_key("result") || sent.contains_key("error") {
        tracing::debug!("an answer from the client is not of its form");
        return None;
    }
    let id = sent.get("id").filter(|id| id.is_string() || id.is_number());
    Some(jsonrpc::error_message(id.unwrap_or(&Value::Null), INVALID_REQUEST, why))
}

/// Writes a complete line.
async fn write_line<W: AsyncWrite + Unpin>(
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

impl<R, W> Transport<RoleServer> for LineTransport<R, W>
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
        let line = match answered_request_id(&message) {
            Some(id) if self.batches.is_awaited(id) => serde_json::to_value(&message)
                .map(|answer| self.batches.add_answer(id, answer).map(|all| all.to_string().into())),
            _ => serde_json::to_vec(&message).map(Some),
        };
        async move {
            match line? {
                Some(line) => write_line(&write, &gone, line).await,
                // It is written with the rest of its batch.
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut gone = self.gone.subscribe();
        loop {
            if let Some(message) = self.queue.pop_front() {
                self.drop_cancelled_request(&message);
                return Some(message);
            }
            let read = tokio::select! {
                read = self.read_line() => read,
                // The client no longer reads.
                _ = gone.wait_for(|gone| *gone) => ReadLine::End,
            };
            match read {
                ReadLine::Line => {
                    let message = self.parse_line();
                    self.queue.extend(message);
                }
                ReadLine::TooLong(scan) => {
                    self.reply_to_unparsed(UnparsedMessage::TooLong { bytes_max: LINE_BYTES_MAX }, &scan);
                }
                ReadLine::End => {
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
