//! One request and its answer, step by step. Whoever drops it drops the connection.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{RequestBuilder, Response, header::CONTENT_TYPE};
use tokio::time::timeout;

use super::{Bounds, failure, failure::Veil};
use crate::provider::{
    Delta, ModelError,
    format::{Format, Reader},
    sse::{Event, NotText, Parser},
};

/// How much is read of an answer that is a failure: its complaint stands at its beginning.
const FAILURE_BYTES_MAX: usize = 64 * 1024;

/// How long the body of a failure is waited for. Its status says the most.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct Exchange {
    stage: Stage,
    /// Read and not yet handed out.
    ready: VecDeque<Result<Delta, ModelError>>,
    format: Arc<dyn Format>,
    bounds: Bounds,
    veil: Veil,
}

enum Stage {
    /// Not sent yet.
    New(Box<RequestBuilder>),
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
    Events(Parser),
    /// Some servers answer with one JSON value although a stream was asked for. It is one event.
    Whole(Vec<u8>),
}

/// What one read came to.
enum Read {
    Chunk(Bytes),
    End,
    Lost,
}

impl Exchange {
    pub(super) fn new(
        asked: RequestBuilder,
        format: Arc<dyn Format>,
        bounds: Bounds,
        veil: Veil,
    ) -> Self {
        Self { stage: Stage::New(Box::new(asked)), ready: VecDeque::new(), format, bounds, veil }
    }

    /// The next piece of the answer. An error, and `Done`, are the last.
    pub(super) async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item.map_err(|error| self.veil.over(error)));
            }
            match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::New(asked) => match self.send(*asked).await {
                    Ok(reading) => self.stage = Stage::Reading(Box::new(reading)),
                    Err(error) => self.ready.push_back(Err(error)),
                },
                Stage::Reading(reading) => self.read(reading).await,
            }
        }
    }

    async fn send(&mut self, asked: RequestBuilder) -> Result<Reading, ModelError> {
        let sent = timeout(self.bounds.idle, asked.send()).await;
        let sent = sent.map_err(|_| self.veil.silent(self.bounds.idle))?;
        let response = sent.map_err(|error| self.veil.unreachable(&error))?;
        if !response.status().is_success() {
            let (status, headers) = (response.status(), response.headers().clone());
            let body = timeout(FAILURE_TIMEOUT, beginning(response)).await.unwrap_or_default();
            return Err(failure::refused(status, &headers, &body, self.format.as_ref()));
        }
        let body = match is_json(&response) {
            true => Body::Whole(Vec::new()),
            false => Body::Events(Parser::default()),
        };
        Ok(Reading { response, body, reader: self.format.reader(), bytes: 0 })
    }

    /// Reads once more; keeps what came of it, and goes on reading unless that was the end.
    async fn read(&mut self, mut reading: Box<Reading>) {
        let begun = reading.bytes > 0;
        let read = match timeout(self.bounds.idle, reading.response.chunk()).await {
            Ok(Ok(Some(chunk))) => Read::Chunk(chunk),
            Ok(Ok(None)) => Read::End,
            Ok(Err(error)) if !begun => {
                return self.ready.push_back(Err(self.veil.unreachable(&error)));
            }
            Err(_) if !begun => {
                return self.ready.push_back(Err(self.veil.silent(self.bounds.idle)));
            }
            Ok(Err(_)) | Err(_) => Read::Lost,
        };
        let mut out = Vec::new();
        let told = reading.take(read, self.bounds.bytes, &mut out);
        let done = out.iter().position(|delta| *delta == Delta::Done);
        out.truncate(done.map_or(out.len(), |at| at + 1));
        self.ready.extend(out.into_iter().map(Ok));
        match told {
            // Some servers keep the connection after the last event of an answer.
            _ if done.is_some() => {}
            Ok(()) => self.stage = Stage::Reading(reading),
            Err(error) => self.ready.push_back(Err(error)),
        }
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
                self.chunk(&chunk, out)
            }
            Read::End => {
                self.rest(out)?;
                self.end(out)
            }
            // Whether anything is missing is for the format to say.
            Read::Lost => self.end(out),
        }
    }

    fn chunk(&mut self, chunk: &[u8], out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let mut events = Vec::new();
        let parsed = match &mut self.body {
            Body::Events(parser) => parser.push(chunk, &mut events),
            Body::Whole(bytes) => {
                bytes.extend_from_slice(chunk);
                Ok(())
            }
        };
        for Event { kind, data } in events {
            self.reader.event(&kind, &data, out)?;
            if out.last() == Some(&Delta::Done) {
                return Ok(());
            }
        }
        parsed.map_err(not_text)
    }

    /// What stands at the end without an end of its own.
    fn rest(&mut self, out: &mut Vec<Delta>) -> Result<(), ModelError> {
        let mut events = Vec::new();
        match &mut self.body {
            // A part of a letter is a part of an answer.
            Body::Events(parser) => {
                parser.finish(&mut events).map_err(|_| ModelError::Truncated)?;
            }
            Body::Whole(bytes) => {
                let data = String::from_utf8(std::mem::take(bytes)).map_err(|_| NotText);
                events.push(Event { kind: String::new(), data: data.map_err(not_text)? });
            }
        }
        let whole = matches!(self.body, Body::Whole(_));
        for Event { kind, data } in events {
            self.reader.event(&kind, &data, out).map_err(|error| match error {
                // Half an event is no event.
                ModelError::Unreadable { .. } if !whole => ModelError::Truncated,
                other => other,
            })?;
        }
        Ok(())
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

fn not_text(_: NotText) -> ModelError {
    ModelError::Unreadable { reason: "it is not UTF-8".to_owned() }
}

/// As much of a failure's body as there is, within bounds.
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

fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}
