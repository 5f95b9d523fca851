//! One request and its answer, step by step. Dropping it drops the connection.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{
    Client, Response, Url,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde_json::Value;
use tokio::time::timeout;
use trackway_outgoing::sse::{BadStream, Event, Parser};

use super::{Bounds, failure, failure::Veil, unwelcome::Unwelcome};
use crate::provider::{
    Delta, ModelError,
    format::{Format, Reader},
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
pub(super) struct Ask {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
    pub(super) format: Arc<dyn Format>,
    pub(super) bounds: Bounds,
    pub(super) veil: Veil,
    pub(super) unwelcome: Unwelcome,
}

pub(super) struct Exchange {
    ask: Ask,
    stage: Stage,
    /// Read but not yet returned.
    ready: VecDeque<Result<Delta, ModelError>>,
}

enum Stage {
    /// Not sent yet.
    New,
    Reading(Box<Reading>),
    Over,
}

struct Reading {
    response: Response,
    body: Body,
    reader: Box<dyn Reader>,
    bytes: usize,
}

enum Body {
    /// The first character decides.
    New,
    Events(Parser),
    /// Some servers answer a stream request with one JSON value. It counts as one event.
    Whole(Vec<u8>),
}

/// The result of one read.
enum Read {
    Chunk(Bytes),
    End,
    Lost,
}

impl Exchange {
    pub(super) fn new(ask: Ask) -> Self {
        Self { ask, stage: Stage::New, ready: VecDeque::new() }
    }

    /// The next piece of the answer. An error and `Done` are the last items.
    pub(super) async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item.map_err(|error| self.ask.veil.over(error)));
            }
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::New => match self.ask.send().await {
                    Ok(reading) => self.stage = Stage::Reading(Box::new(reading)),
                    Err(error) if self.ask.unwelcome.learn(&error, &self.ask.body) => {
                        tracing::debug!("retrying without the fields that the server refuses");
                        self.stage = Stage::New;
                    }
                    Err(error) => self.ready.push_back(Err(error)),
                },
                Stage::Reading(reading) => self.read(reading).await,
            }
        }
    }

    /// Reads once, stores the result, and continues reading unless that was the end.
    async fn read(&mut self, mut reading: Box<Reading>) {
        let begun = reading.bytes > 0;
        let read = match timeout(self.ask.bounds.idle, reading.response.chunk()).await {
            Ok(Ok(Some(chunk))) => Read::Chunk(chunk),
            Ok(Ok(None)) => Read::End,
            Ok(Err(error)) if !begun => {
                return self.ready.push_back(Err(self.ask.veil.unreachable(&error)));
            }
            Err(_) if !begun => {
                return self.ready.push_back(Err(self.ask.veil.silent(self.ask.bounds.idle)));
            }
            Ok(Err(_)) | Err(_) => Read::Lost,
        };
        let mut out = Vec::new();
        let told = reading.take(read, self.ask.bounds.bytes, &mut out);
        let done = out.iter().position(|delta| *delta == Delta::Done);
        out.truncate(done.map_or(out.len(), |at| at + 1));
        self.ready.extend(out.into_iter().map(Ok));
        match told {
            _ if done.is_some() => linger(reading.response),
            Ok(()) => self.stage = Stage::Reading(reading),
            Err(error) => self.ready.push_back(Err(error)),
        }
    }
}

impl Ask {
    async fn send(&mut self) -> Result<Reading, ModelError> {
        self.unwelcome.leave_out(&mut self.body);
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let sent = timeout(self.bounds.idle, request.json(&self.body).send()).await;
        let sent = sent.map_err(|_| self.veil.silent(self.bounds.idle))?;
        let response = sent.map_err(|error| self.veil.unreachable(&error))?;
        if !response.status().is_success() {
            let (status, headers) = (response.status(), response.headers().clone());
            let body = timeout(FAILURE_TIMEOUT, beginning(response)).await.unwrap_or_default();
            return Err(failure::refused(status, &headers, &body, self.format.as_ref()));
        }
        let body = match content_type(&response).as_str() {
            "text/event-stream" => Body::Events(Parser::new(self.bounds.bytes)),
            // Usually a proxy, or a wrong address.
            "text/html" => {
                let reason = "it is a page for people (text/html)".to_owned();
                return Err(ModelError::Unreadable { reason });
            }
            // Some servers use other content types for streams, or none.
            _ => Body::New,
        };
        Ok(Reading { response, body, reader: self.format.reader(), bytes: 0 })
    }
}

impl Reading {
    fn take(
        &mut self,
        read: Read,
        bytes_max: usize,
        out: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        match read {
            Read::Chunk(chunk) => {
                self.bytes += chunk.len();
                if self.bytes > bytes_max {
                    let reason = format!("it is larger than {bytes_max} bytes");
                    return Err(ModelError::Unreadable { reason });
                }
                self.chunk(chunk, bytes_max, out)
            }
            Read::End => {
                self.rest(out)?;
                self.end(out)
            }
            // The format decides whether anything is missing.
            Read::Lost => self.end(out),
        }
    }

    fn chunk(
        &mut self,
        mut chunk: Bytes,
        bytes_max: usize,
        out: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        if matches!(self.body, Body::New) {
            self.body = match chunk.trim_ascii_start().first() {
                None => return Ok(()),
                Some(b'{' | b'[') => Body::Whole(Vec::new()),
                Some(_) => Body::Events(Parser::new(bytes_max)),
            };
        }
        match &mut self.body {
            Body::Events(parser) => {
                while let Some(event) = parser.next(&mut chunk).map_err(unreadable)? {
                    self.reader.event(&event.kind, &event.data, out)?;
                    if out.last() == Some(&Delta::Done) {
                        return Ok(());
                    }
                }
            }
            Body::Whole(bytes) => bytes.extend_from_slice(&chunk),
            Body::New => {}
        }
        Ok(())
    }

    /// The remaining text without a line end.
    fn rest(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        match &mut self.body {
            Body::New => Ok(()),
            Body::Events(parser) => {
                // An incomplete character belongs to an incomplete answer.
                let last = parser.finish().map_err(|_| ModelError::Truncated)?;
                let Some(Event { kind, data, .. }) = last else { return Ok(()) };
                self.reader.event(&kind, &data, out).map_err(|error| match error {
                    // An incomplete event is not an event.
                    ModelError::Unreadable { .. } => ModelError::Truncated,
                    other => other,
                })
            }
            Body::Whole(bytes) => {
                let data = String::from_utf8(std::mem::take(bytes));
                let data = data.map_err(|_| unreadable(BadStream::NotUtf8))?;
                self.reader.event("", &data, out)
            }
        }
    }

    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        if out.last() == Some(&Delta::Done) {
            return Ok(());
        }
        self.reader.end(out)?;
        match out.last() {
            Some(Delta::Done) => Ok(()),
            _ => Err(ModelError::Truncated),
        }
    }
}

fn unreadable(bad: BadStream) -> ModelError {
    let reason = match bad {
        BadStream::NotUtf8 => "it is not UTF-8".to_owned(),
        BadStream::TooLarge { .. } => bad.to_string(),
    };
    ModelError::Unreadable { reason }
}

/// Reads the rest of a response after the end of its answer, so that the next request can reuse the
/// connection. No caller waits for it: some servers never end the response.
fn linger(mut response: Response) {
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
async fn beginning(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk[..chunk.len().min(FAILURE_BYTES_MAX - body.len())]);
        if body.len() == FAILURE_BYTES_MAX {
            break;
        }
    }
    body
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}
