//! Parses server-sent events as they arrive: bytes in, one event out at a time.
//!
//! Nothing is queued. A caller passes in the received bytes, takes the first complete event, and
//! calls again with the rest; the parser keeps less than one event in between. Text is decoded when
//! a line is complete, so a chunk may end inside a character.

use std::mem;

use bytes::{Buf, Bytes};

/// Longest id that is kept. It is sent back in a header, and servers do not accept longer ones.
/// Limit (HTTP): event id that is kept of a stream.
const ID_BYTES_MAX: usize = 1_024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; empty if the server sent none.
    pub kind: String,
    pub data: String,
    /// The newest id of the stream; it stays until another one arrives.
    pub id: Option<String>,
}

/// Why the rest of a stream is unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    #[error("an event is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// The state between two chunks. `retry` is ignored: readers have their own pauses.
#[derive(Debug)]
pub struct SseParser {
    line: Vec<u8>,
    kind: String,
    data: String,
    has_data: bool,
    /// The id after the current event; it counts when that event is complete.
    id: Option<String>,
    /// The last byte was a carriage return: a newline directly after it belongs to it.
    after_return: bool,
    /// No line has ended yet.
    at_start: bool,
    bytes_max: usize,
}

impl SseParser {
    /// `bytes_max` bounds an event, and therefore a line.
    pub fn new(bytes_max: usize) -> Self {
        Self::resume_after_event_id(None, bytes_max)
    }

    /// `id`: the newest id of the previous connection.
    pub fn resume_after_event_id(id: Option<String>, bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            kind: String::new(),
            data: String::new(),
            has_data: false,
            id,
            after_return: false,
            at_start: true,
            bytes_max,
        }
    }

    /// The next complete event in the received bytes; `None` when all of `received` was used.
    pub fn next_event(&mut self, received: &mut Bytes) -> Result<Option<SseEvent>, SseError> {
        loop {
            if received.is_empty() {
                return Ok(None);
            }
            if mem::take(&mut self.after_return) && received.first() == Some(&b'\n') {
                received.advance(1);
                continue;
            }
            let Some(end) = received.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
                let rest = mem::take(received);
                self.append_to_line(&rest)?;
                return Ok(None);
            };
            let rest = received.split_to(end);
            self.append_to_line(&rest)?;
            // The newline after a return at the end of a chunk may be in the next chunk.
            self.after_return = received.first() == Some(&b'\r');
            received.advance(1);
            if let Some(event) = self.process_line()? {
                return Ok(Some(event));
            }
        }
    }

    /// The stream has ended. Some servers omit the empty line after their last event. This returns
    /// that event, for callers that accept it.
    pub fn finish_stream(&mut self) -> Result<Option<SseEvent>, SseError> {
        if !self.line.is_empty() {
            self.process_line()?;
        }
        Ok(self.take_finished_event())
    }

    fn append_to_line(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        let bytes_max = self.bytes_max;
        if self.line.len() + self.data.len() + bytes.len() > bytes_max {
            return Err(SseError::TooLarge { bytes_max });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn process_line(&mut self) -> Result<Option<SseEvent>, SseError> {
        let mut line = mem::take(&mut self.line);
        if mem::take(&mut self.at_start) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            return Ok(self.take_finished_event());
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(str::from_utf8(value).map_err(|_| SseError::NotUtf8)?);
            }
            b"event" => self.kind = String::from_utf8_lossy(value).into_owned(),
            b"id" if value.len() <= ID_BYTES_MAX && !value.contains(&0) => {
                self.id = str::from_utf8(value).ok().map(str::to_owned);
            }
            // Comments have an empty name.
            _ => {}
        }
        Ok(None)
    }

    fn take_finished_event(&mut self) -> Option<SseEvent> {
        let (kind, data) = (mem::take(&mut self.kind), mem::take(&mut self.data));
        let id = || self.id.clone().filter(|id| !id.is_empty());
        mem::take(&mut self.has_data).then(|| SseEvent { kind, data, id: id() })
    }
}

#[cfg(test)]
mod tests;
