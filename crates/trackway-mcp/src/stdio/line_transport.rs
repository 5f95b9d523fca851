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

use super::stdio_batches::UnansweredBatches;
use crate::{
    batch_rules,
    jsonrpc::{self, INVALID_REQUEST, PARSE_ERROR},
    unparsed_messages::{ClientResultFormat, JsonRpcMessageScan, UnparsedMessageReason},
};

/// Longest line that is read: far more than all limits of a call together.
/// Limit (MCP): one line on standard input.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(super) struct JsonLineTransport<R, W> {
    read: BufReader<R>,
    /// The part of the line that was read so far. It is kept here because reading can be cancelled and
    /// resumed.
    line: Vec<u8>,
    /// The line is too long and is skipped.
    overlong: Option<JsonRpcMessageScan>,
    write: Arc<Mutex<W>>,
    /// Answers to lines that were not messages; they are being written.
    replies: JoinSet<()>,
    /// Whether a request has arrived; before that, other lines are ignored.
    begun: bool,
    /// The form of results that this client expects.
    revision: ClientResultFormat,
    /// The client speaks the revision that has batches.
    has_batches: bool,
    batches: UnansweredBatches,
    /// Messages of a batch that wait to be handled.
    queue: VecDeque<RxJsonRpcMessage<RoleServer>>,
    gone: watch::Sender<bool>,
}

enum LineReadOutcome {
    Line,
    TooLong(JsonRpcMessageScan),
    End,
}

impl<R, W> JsonLineTransport<R, W>
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
            revision: ClientResultFormat::Newest,
            has_batches: false,
            batches: UnansweredBatches::default(),
            queue: VecDeque::new(),
            gone,
        }
    }

    /// Reads until the line is complete. Cancelling between two polls loses nothing.
    async fn read_line(&mut self) -> LineReadOutcome {
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) => return LineReadOutcome::End,
                Ok(available) => available,
                Err(error) => {
                    tracing::error!(%error, "standard input cannot be read");
                    return LineReadOutcome::End;
                }
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if self.line.len() + taken > LINE_BYTES_MAX {
                self.overlong = Some(JsonRpcMessageScan::scan_message(&std::mem::take(&mut self.line)));
            }
            match &mut self.overlong {
                Some(scan) => scan.scan_chunk(&available[..taken]),
                None => self.line.extend_from_slice(&available[..taken]),
            }
            self.read.consume(taken);
            if end.is_some() {
                return self.overlong.take().map_or(LineReadOutcome::Line, LineReadOutcome::TooLong);
            }
        }
    }

    /// The message of a complete line, if it is valid at this point.
    fn parse_message_line(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(&line) {
            Ok(message) => message,
            Err(_) => {
                self.handle_non_message_line(&line);
                return None;
            }
        };
        if let JsonRpcMessage::Request(request) = &message {
            self.begun = true;
            // Clients of the newest revision do not send `initialize`.
            if let ClientRequest::InitializeRequest(greeting) = &request.request {
                self.revision = ClientResultFormat::Older;
                // If the server knows the revision, that is the agreed one.
                self.has_batches = greeting.params.protocol_version.as_str() == batch_rules::BATCH_REVISION;
            }
        }
        self.begun.then_some(message)
    }

    /// Handles a line that is not one message: a batch, or invalid input.
    fn handle_non_message_line(&mut self, line: &[u8]) {
        match serde_json::from_slice::<Value>(line) {
            Err(error) => {
                let scan = JsonRpcMessageScan::scan_message(line);
                match UnparsedMessageReason::check_nesting_depth(&scan) {
                    Some(unread) => self.reply_to_unparsed_message(unread, &scan),
                    None => {
                        let message = format!("the line is not JSON: {error}");
                        self.spawn_reply_write(&jsonrpc::jsonrpc_error_message(
                            &Value::Null,
                            PARSE_ERROR,
                            &message,
                        ));
                    }
                }
            }
            Ok(Value::Array(batch)) if self.has_batches => self.handle_batch_line(batch, line.len()),
            Ok(Value::Array(_)) => {
                let message = "a message is one JSON object; only revision 2025-03-26 has batches";
                self.spawn_reply_write(&jsonrpc::jsonrpc_error_message(
                    &Value::Null,
                    INVALID_REQUEST,
                    message,
                ));
            }
            Ok(sent) => {
                if let Some(answer) = invalid_message_answer(&sent, "the message is not of its form") {
                    self.spawn_reply_write(&answer);
                }
            }
        }
    }

    fn handle_batch_line(&mut self, batch: Vec<Value>, bytes: usize) {
        let is_large = bytes > batch_rules::BATCH_BYTES_MAX;
        let refusal = is_large
            .then_some(batch_rules::BATCH_TOO_LARGE)
            .or_else(|| batch_rules::batch_refusal_reason(&batch));
        if let Some(reason) = refusal {
            return self.spawn_reply_write(&jsonrpc::jsonrpc_error_message(
                &Value::Null,
                INVALID_REQUEST,
                reason,
            ));
        }
        let (messages, answer) = self.batches.split_batch_into_messages(batch);
        self.queue.extend(messages);
        if let Some(answer) = answer {
            self.spawn_reply_write(&answer);
        }
    }

    /// A cancelled request gets no answer, so its batch stops waiting for it.
    fn drop_cancelled_batch_request(&mut self, message: &RxJsonRpcMessage<RoleServer>) {
        if let JsonRpcMessage::Notification(sent) = message
            && let ClientNotification::CancelledNotification(cancelled) = &sent.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(answer) = self.batches.cancel_batch_request(id)
        {
            self.spawn_reply_write(&answer);
        }
    }

    fn reply_to_unparsed_message(
        &mut self,
        unparsed_reason: UnparsedMessageReason,
        scan: &JsonRpcMessageScan,
    ) {
        if let Some(answer) = unparsed_reason.jsonrpc_refusal_answer(scan, self.revision) {
            self.spawn_reply_write(&answer);
        }
    }

    /// Written in a separate task, because the reading may be cancelled at any point.
    fn spawn_reply_write(&mut self, answer: &Value) {
        let text = answer.to_string();
        let (write, gone) = (self.write.clone(), self.gone.clone());
        self.replies.spawn(async move {
            // If writing fails, the client has disconnected; the writer records that.
            let _ = write_message_line(&write, &gone, text.into_bytes()).await;
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
        return Some(jsonrpc::jsonrpc_error_message(&Value::Null, INVALID_REQUEST, message));
    };
    // An answer to something that looks like an answer could start an endless exchange.
    if sent.contains_key("result") || sent.contains_key("error") {
        tracing::debug!("an answer from the client is not of its form");
        return None;
    }
    let id = sent.get("id").filter(|id| id.is_string() || id.is_number());
    Some(jsonrpc::jsonrpc_error_message(id.unwrap_or(&Value::Null), INVALID_REQUEST, why))
}

/// Writes a complete line.
async fn write_message_line<W: AsyncWrite + Unpin>(
    write: &Mutex<W>,
    client_disconnected: &watch::Sender<bool>,
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
        client_disconnected.send_replace(true);
    }
    written
}

impl<R, W> Transport<RoleServer> for JsonLineTransport<R, W>
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
            Some(id) if self.batches.is_awaited_by_batch(id) => serde_json::to_value(&message)
                .map(|answer| self.batches.add_answer_to_batch(id, answer).map(|all| all.to_string().into())),
            _ => serde_json::to_vec(&message).map(Some),
        };
        async move {
            match line? {
                Some(line) => write_message_line(&write, &gone, line).await,
                // It is written with the rest of its batch.
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut gone = self.gone.subscribe();
        loop {
            if let Some(message) = self.queue.pop_front() {
                self.drop_cancelled_batch_request(&message);
                return Some(message);
            }
            let read = tokio::select! {
                read = self.read_line() => read,
                // The client no longer reads.
                _ = gone.wait_for(|gone| *gone) => LineReadOutcome::End,
            };
            match read {
                LineReadOutcome::Line => {
                    let message = self.parse_message_line();
                    self.queue.extend(message);
                }
                LineReadOutcome::TooLong(scan) => {
                    self.reply_to_unparsed_message(
                        UnparsedMessageReason::TooLong { bytes_max: LINE_BYTES_MAX },
                        &scan,
                    );
                }
                LineReadOutcome::End => {
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
