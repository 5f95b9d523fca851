//! Server-sent events as model servers write them: bytes in, whole events out.
//!
//! Our own reader, since the crate in view panics on a byte order mark and has no bound. Text is decoded
//! when a line is whole, so a chunk may end inside of a letter.

use std::mem;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One event: its type, empty where the server gave none, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) data: String,
}

/// An event holds what is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotText;

/// The state between two chunks. It is as large as one event; whoever reads bounds the whole.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    kind: String,
    data: String,
    has_data: bool,
    /// The last byte was a carriage return: a newline right after it belongs to it.
    after_return: bool,
    /// A line has ended.
    started: bool,
}

impl Parser {
    /// Takes in a chunk; writes the events that it completes.
    pub(super) fn push(&mut self, chunk: &[u8], out: &mut Vec<Event>) -> Result<(), NotText> {
        let mut rest = chunk;
        if mem::take(&mut self.after_return) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            self.line.extend_from_slice(&rest[..end]);
            let returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if returned {
                // Its newline may be in the next chunk.
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
            self.end_line(out)?;
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// The stream is over. Some servers leave out the empty line after their last event, which is given
    /// out here.
    pub(super) fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), NotText> {
        if !self.line.is_empty() {
            self.end_line(out)?;
        }
        self.end_event(out);
        Ok(())
    }

    fn end_line(&mut self, out: &mut Vec<Event>) -> Result<(), NotText> {
        let mut line = mem::take(&mut self.line);
        if !mem::replace(&mut self.started, true) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            self.end_event(out);
            return Ok(());
        }
        let line = String::from_utf8(line).map_err(|_| NotText)?;
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                if mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // A comment has an empty name; ids and times to come back are of no use for one answer.
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self, out: &mut Vec<Event>) {
        let (kind, data) = (mem::take(&mut self.kind), mem::take(&mut self.data));
        if mem::take(&mut self.has_data) {
            out.push(Event { kind, data });
        }
    }
}

#[cfg(test)]
mod tests;
