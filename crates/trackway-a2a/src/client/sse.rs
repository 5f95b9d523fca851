//! Server-sent events as they arrive: bytes in, one event out at a time.
//!
//! Nothing is queued. A caller hands in what it received, takes the first whole event, and comes
//! back with the rest; what is held in between is less than one event.

use std::mem;

use bytes::{Buf, Bytes};

/// Largest event, and therefore largest line. A Task with all its artifacts is one event; documents
/// of ten megabytes in base64 are met, several in one task too.
/// Limit (A2A): one event of a stream that our client reads.
pub(super) const EVENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest id that is kept. It is sent back in a header, and servers take no longer ones.
/// Limit (A2A): event id that our client keeps.
const ID_BYTES_MAX: usize = 1_024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) data: String,
    /// The newest id of the stream; it stays until another one comes.
    pub(super) id: Option<String>,
}

/// What makes a stream unreadable from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadStream {
    #[error("an event is larger than {EVENT_BYTES_MAX} bytes")]
    TooLarge,
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// The state between two chunks. Names of events and `retry` are not used by A2A and are skipped.
#[derive(Debug)]
pub(super) struct Parser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The id as the current event leaves it; it counts when that event is whole.
    id: Option<String>,
    /// The last byte was a carriage return: a newline right after it belongs to it.
    after_return: bool,
    /// No line has ended yet.
    at_start: bool,
    bytes_max: usize,
}

impl Parser {
    /// `id`: the newest one of the connection before.
    pub(super) fn new(id: Option<String>) -> Self {
        Self::bounded(id, EVENT_BYTES_MAX)
    }

    fn bounded(id: Option<String>, bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            id,
            after_return: false,
            at_start: true,
            bytes_max,
        }
    }

    /// The next whole event of what was received; `None` when all of `received` was used.
    pub(super) fn next(&mut self, received: &mut Bytes) -> Result<Option<Event>, BadStream> {
        loop {
            if mem::take(&mut self.after_return) && received.first() == Some(&b'\n') {
                received.advance(1);
            }
            if received.is_empty() {
                return Ok(None);
            }
            let Some(end) = received.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
                let rest = mem::take(received);
                self.grow(&rest)?;
                return Ok(None);
            };
            let rest = received.split_to(end);
            self.grow(&rest)?;
            // A return at the end of a chunk may have its newline in the next one.
            self.after_return = received.first() == Some(&b'\r');
            received.advance(1);
            if let Some(event) = self.end_line()? {
                return Ok(Some(event));
            }
        }
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), BadStream> {
        if self.line.len() + self.data.len() + bytes.len() > self.bytes_max {
            return Err(BadStream::TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Event>, BadStream> {
        let mut line = mem::take(&mut self.line);
        if mem::take(&mut self.at_start) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"id" if value.len() <= ID_BYTES_MAX && !value.contains(&0) => {
                self.id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            // Comments have an empty name.
            _ => {}
        }
        Ok(None)
    }

    fn end_event(&mut self) -> Result<Option<Event>, BadStream> {
        if !mem::take(&mut self.has_data) {
            return Ok(None);
        }
        let data = String::from_utf8(mem::take(&mut self.data)).map_err(|_| BadStream::NotUtf8)?;
        Ok(Some(Event { data, id: self.id.clone().filter(|id| !id.is_empty()) }))
    }
}

#[cfg(test)]
mod tests;
