//! One request and its answer, step by step. Dropping it drops the connection.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{
    Client, Response, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde_json::Value;
use tokio::time::timeout;
use trackway_outgoing::sse::{SseError, SseEvent, SseParser};

use super::{
    ResponseLimits, model_http_error, model_http_error::SecretRedactor,
    unsupported_body_fields::UnsupportedBodyFields,
};
use crate::provider::{
    Delta, ModelError,
    provider_format::{AnswerStreamReader, ProviderFormat},
};

/// How much of a failed answer is read. The error message is at its start.
/// Limit (Agents): failed answer of a model's server that is read.
const FAILURE_BYTES_MAX: usize = 64 * 1024;

/// How long to wait for the body of a failure. Its status is the most important part.
/// Limit (Agents): wait for the body of a model server's failure.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for the end of a response. It arrives with its last event, or not at all.
/// Limit (Agents): wait for the end of a response after its last event.
const LINGER_TIMEOUT: Duration = Duration::from_millis(500);

/// Text that may follow the last event: an empty line, a comment.
/// Limit (Agents): text after the last event of a response.
const LINGER_BYTES_MAX: usize = 1_024;

/// Everything that a request needs.
pub(super) struct ModelHttpRequest {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    pub(super) format: Arc<dyn ProviderFormat>,
    pub(super) bounds: ResponseLimits,
    pub(super) redactor: SecretRedactor,
    pub(super) unsupported_fields: UnsupportedBodyFields,
}

pub(super) struct ModelHttpExchange {
    request: ModelHttpRequest,
    stage: HttpExchangeState,
    /// Read but not yet returned.
    ready: VecDeque<Result<Delta, ModelError>>,
}

enum HttpExchangeState {
    /// Not sent yet.
    New,
    Reading(Box<AnswerResponseReader>),
    Over,
}

struct AnswerResponseReader {
    response: Response,
    body: ResponseBodyFormat,
    reader: Box<dyn AnswerStreamReader>,
    bytes: usize,
}

enum ResponseBodyFormat {
    /// The first character decides.
    New,
    Events(SseParser),
    /// Some servers answer a stream request with one JSON value. It counts as one event.
    Whole(Vec<u8>),
}

/// The result of one read.
enum BodyReadOutcome {
    Chunk(Bytes),
    End,
    Lost,
}

impl ModelHttpExchange {
    pub(super) fn new(ask: ModelHttpRequest) -> Self {
        Self { request: ask, stage: HttpExchangeState::New, ready: VecDeque::new() }
    }

    /// The next piece of the answer. An error and `Done` are the last items.
    pub(super) async fn next_delta(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item.map_err(|error| self.request.redactor.redact_model_error(error)));
            }
            match std::mem::replace(&mut self.stage, HttpExchangeState::Over) {
                HttpExchangeState::Over => return None,
                HttpExchangeState::New => match self.request.send_model_request().await {
                    Ok(reading) => self.stage = HttpExchangeState::Reading(Box::new(reading)),
                    Err(error)
                        if self
                            .request
                            .unsupported_fields
                            .learn_field_from_refusal(&error, &self.request.body) =>
                    {
                        tracing::debug!("retrying without the fields that the server refuses");
                        self.stage = HttpExchangeState::New;
                    }
                    Err(error) => self.ready.push_back(Err(error)),
                },
                HttpExchangeState::Reading(reading) => self.read_next_chunk(reading).await,
            }
        }
    }

    /// Reads once, stores the result, and continues reading unless that was the end.
    async fn read_next_chunk(&mut self, mut reader: Box<AnswerResponseReader>) {
        let begun = reader.bytes > 0;
        let read = match timeout(self.request.bounds.idle, reader.response.chunk()).await {
            Ok(Ok(Some(chunk))) => BodyReadOutcome::Chunk(chunk),
            Ok(Ok(None)) => BodyReadOutcome::End,
            Ok(Err(error)) if !begun => {
                return self.ready.push_back(Err(self.request.redactor.unreachable_error(&error)));
            }
            Err(_) if !begun => {
                return self
                    .ready
                    .push_back(Err(self.request.redactor.silent_server_error(self.request.bounds.idle)));
            }
            Ok(Err(_)) | Err(_) => BodyReadOutcome::Lost,
        };
        let mut out = Vec::new();
        let told = reader.handle_read_outcome(read, self.request.bounds.bytes, &mut out);
        let done = out.iter().position(|delta| *delta == Delta::Done);
        out.truncate(done.map_or(out.len(), |at| at + 1));
        self.ready.extend(out.into_iter().map(Ok));
        match told {
            _ if done.is_some() => drain_response_in_background(reader.response),
            Ok(()) => self.stage = HttpExchangeState::Reading(reader),
            Err(error) => self.ready.push_back(Err(error)),
        }
    }
}

impl ModelHttpRequest {
    async fn send_model_request(&mut self) -> Result<AnswerResponseReader, ModelError> {
        self.unsupported_fields.remove_unsupported_fields(&mut self.body);
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let sent = timeout(self.bounds.idle, request.json(&self.body).send()).await;
        let sent = sent.map_err(|_| self.redactor.silent_server_error(self.bounds.idle))?;
        let response = sent.map_err(|error| self.redactor.unreachable_error(&error))?;
        if !response.status().is_success() {
            let (status, headers) = (response.status(), response.headers().clone());
            let body = timeout(FAILURE_TIMEOUT, read_failure_body(response)).await.unwrap_or_default();
            return Err(model_http_error::model_error_from_status(
                status,
                &headers,
                &body,
                self.format.as_ref(),
            ));
        }
        let body = match response_content_type(&response).as_str() {
            "text/event-stream" => ResponseBodyFormat::Events(SseParser::new(self.bounds.bytes)),
            // Usually a proxy, or a wrong address.
            "text/html" => {
                let reason = "it is a page for people (text/html)".to_owned();
                return Err(ModelError::Unreadable { reason });
            }
            // Some servers use other content types for streams, or none.
            _ => ResponseBodyFormat::New,
        };
        Ok(AnswerResponseReader { response, body, reader: self.format.new_stream_reader(), bytes: 0 })
    }
}

impl AnswerResponseReader {
    fn handle_read_outcome(
        &mut self,
        read_outcome: BodyReadOutcome,
        bytes_max: usize,
        out: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        match read_outcome {
            BodyReadOutcome::Chunk(chunk) => {
                self.bytes += chunk.len();
                if self.bytes > bytes_max {
                    let reason = format!("it is larger than {bytes_max} bytes");
                    return Err(ModelError::Unreadable { reason });
                }
                self.handle_body_chunk(chunk, bytes_max, out)
            }
            BodyReadOutcome::End => {
                self.handle_unterminated_remainder(out)?;
                self.finish_answer_reading(out)
            }
            // The format decides whether anything is missing.
            BodyReadOutcome::Lost => self.finish_answer_reading(out),
        }
    }

    fn handle_body_chunk(
        &mut self,
        mut chunk: Bytes,
        bytes_max: usize,
        out: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        if matches!(self.body, ResponseBodyFormat::New) {
            self.body = match chunk.trim_ascii_start().first() {
                None => return Ok(()),
                Some(b'{' | b'[') => ResponseBodyFormat::Whole(Vec::new()),
                Some(_) => ResponseBodyFormat::Events(SseParser::new(bytes_max)),
            };
        }
        match &mut self.body {
            ResponseBodyFormat::Events(parser) => {
                while let Some(event) = parser.next_event(&mut chunk).map_err(unreadable_stream_error)? {
                    self.reader.read_stream_event(&event.kind, &event.data, out)?;
                    if out.last() == Some(&Delta::Done) {
                        return Ok(());
                    }
                }
            }
            ResponseBodyFormat::Whole(bytes) => bytes.extend_from_slice(&chunk),
            ResponseBodyFormat::New => {}
        }
        Ok(())
    }

    /// The remaining text without a line end.
    fn handle_unterminated_remainder(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        match &mut self.body {
            ResponseBodyFormat::New => Ok(()),
            ResponseBodyFormat::Events(parser) => {
                // An incomplete character belongs to an incomplete answer.
                let last = parser.finish_stream().map_err(|_| ModelError::Truncated)?;
                let Some(SseEvent { kind, data, .. }) = last else { return Ok(()) };
                self.reader.read_stream_event(&kind, &data, out).map_err(|error| match error {
                    // An incomplete event is not an event.
                    ModelError::Unreadable { .. } => ModelError::Truncated,
                    other => other,
                })
            }
            ResponseBodyFormat::Whole(bytes) => {
                let data = String::from_utf8(std::mem::take(bytes));
                let data = data.map_err(|_| unreadable_stream_error(SseError::NotUtf8))?;
                self.reader.read_stream_event("", &data, out)
            }
        }
    }

    fn finish_answer_reading(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if out.last() == Some(&Delta::Done) {
            return Ok(());
        }
        self.reader.finish_stream(out)?;
        match out.last() {
            Some(Delta::Done) => Ok(()),
            _ => Err(ModelError::Truncated),
        }
    }
}

fn unreadable_stream_error(error: SseError) -> ModelError {
    let reason = match error {
        SseError::NotUtf8 => "it is not UTF-8".to_owned(),
        SseError::TooLarge { .. } => error.to_string(),
    };
    ModelError::Unreadable { reason }
}

/// Reads the rest of a response after the end of its answer, so that the next request can reuse the
/// connection. No caller waits for it: some servers never end the response.
fn drain_response_in_background(mut response: Response) {
    tokio::spawn(timeout(LINGER_TIMEOUT, async move {
        let mut bytes = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes += chunk.len();
            if bytes > LINGER_BYTES_MAX {
                return;
            }
        }
    }));
}

/// The body of a failure, within limits.
async fn read_failure_body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk[..chunk.len().min(FAILURE_BYTES_MAX - body.len())]);
        if body.len() == FAILURE_BYTES_MAX {
            break;
        }
    }
    body
}

fn response_content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}
