//! Server-sent events, as far as our own server sends them: lines of `id:`, `event:` and `data:`, an
//! empty line after each event, comments between them.

/// Longest event that is read: the largest artifact a run takes, and room around it.
/// Limit (CLI): one event of a server's stream.
const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One event of the stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frame {
    pub(crate) id: Option<String>,
    /// `message` where the server names none.
    pub(crate) event: Option<String>,
    pub(crate) data: String,
}

/// An event that does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Puts chunks together and takes events out, wherever the chunks are cut.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    buffer: Vec<u8>,
    /// Bytes of the buffer that hold no line end.
    looked_at: usize,
    frame: Frame,
    /// Lines of `data:` seen in this event.
    lines: usize,
}

impl Parser {
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), TooLong> {
        self.buffer.extend_from_slice(chunk);
        if self.buffer.len() + self.frame.data.len() > FRAME_BYTES_MAX {
            return Err(TooLong);
        }
        Ok(())
    }

    /// The next whole event, where there is one.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                let frame = std::mem::take(&mut self.frame);
                if std::mem::take(&mut self.lines) > 0 {
                    return Some(frame);
                }
            } else {
                self.field(&line);
            }
        }
        None
    }

    fn line(&mut self) -> Option<String> {
        let found = self.buffer[self.looked_at..].iter().position(|byte| *byte == b'\n');
        let Some(end) = found.map(|at| at + self.looked_at) else {
            self.looked_at = self.buffer.len();
            return None;
        };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        self.looked_at = 0;
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Some(String::from_utf8_lossy(line).into_owned())
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.frame.id = Some(value.to_owned()),
            "event" => self.frame.event = Some(value.to_owned()),
            "data" => {
                if self.lines > 0 {
                    self.frame.data.push('\n');
                }
                self.frame.data.push_str(value);
                self.lines += 1;
            }
            // A comment has an empty name; other fields are not for us.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(chunks: &[&str]) -> Vec<Frame> {
        let mut parser = Parser::default();
        let mut frames = Vec::new();
        for chunk in chunks {
            parser.push(chunk.as_bytes()).unwrap();
            frames.extend(std::iter::from_fn(|| parser.next()));
        }
        frames
    }

    fn frame(id: &str, data: &str) -> Frame {
        Frame { id: Some(id.into()), event: None, data: data.into() }
    }

    #[test]
    fn events_come_out_whole_wherever_the_chunks_are_cut() {
        let text = "id: 1\ndata: {\"a\":\"ü\"}\n\n:\n\nid:2\r\ndata: x\r\ndata:y\r\n\r\nevent: end\ndata: {}\n\n";
        let end = Frame { id: None, event: Some("end".into()), data: "{}".into() };
        let expected = vec![frame("1", "{\"a\":\"ü\"}"), frame("2", "x\ny"), end];
        assert_eq!(frames(&[text]), expected);
        let mut parser = Parser::default();
        let mut bytewise = Vec::new();
        for byte in text.as_bytes() {
            parser.push(&[*byte]).unwrap();
            bytewise.extend(parser.next());
        }
        assert_eq!(bytewise, expected);
    }

    #[test]
    fn comments_empty_events_and_unfinished_ones_are_no_events() {
        assert_eq!(frames(&[":\n\n", "id: 3\n\n", "retry: 5\n\n", "data: unfinished\n"]), vec![]);
    }
}
