//! Scans a message without parsing all of it: the `id` and the `method` of its outermost object, and its
//! depth. There is no recursion, and very little is kept.

use serde_json::Value;

/// Longest name, id or method that is kept. Clients send numbers, words and UUIDs.
/// Limit (MCP): name, id or method of a request that cannot be read.
const WORD_BYTES_MAX: usize = 256;

/// The scan of a message so far. The message may arrive in chunks.
#[derive(Debug, Default)]
pub(crate) struct JsonRpcMessageScan {
    depth: usize,
    deepest: usize,
    in_text: bool,
    /// The next character of the string is escaped.
    escaped: bool,
    /// The outermost value is closed.
    ended: bool,
    /// It cannot be one JSON object.
    broken: bool,
    /// The plain value or the name that is being scanned in the outermost object.
    word: Vec<u8>,
    name: Option<String>,
    id: Option<Value>,
    method: Option<String>,
}

impl JsonRpcMessageScan {
    pub(crate) fn scan_message(message: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.scan_chunk(message);
        scan
    }

    /// Scans the next chunk of the message.
    pub(crate) fn scan_chunk(&mut self, piece: &[u8]) {
        for byte in piece {
            self.scan_byte(*byte);
        }
    }

    /// Whether the scanned bytes are one complete object, judged by brackets.
    pub(crate) fn is_complete_object(&self) -> bool {
        self.ended && !self.broken
    }

    /// Levels of objects and lists.
    pub(crate) fn max_nesting_depth(&self) -> usize {
        self.deepest
    }

    pub(crate) fn request_id(&self) -> Option<&Value> {
        self.id.as_ref()
    }

    pub(crate) fn request_method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    fn scan_byte(&mut self, byte: u8) {
        if self.in_text {
            self.push_kept_word_byte(byte);
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'{' | b'[' => {
                self.broken |= self.ended || (self.depth == 0 && byte == b'[');
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' if self.depth == 0 => self.broken = true,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.finish_object_member();
                    self.ended = true;
                }
                self.depth -= 1;
            }
            b':' if self.depth == 1 => {
                let name = serde_json::from_slice(&self.word).ok();
                self.word.clear();
                self.name = name;
            }
            b',' if self.depth == 1 => self.finish_object_member(),
            _ => {
                self.broken |= self.depth == 0;
                self.in_text = byte == b'"';
                self.push_kept_word_byte(byte);
            }
        }
    }

    /// Keeps one byte more than the limit, which shows that the word is too long.
    fn push_kept_word_byte(&mut self, byte: u8) {
        if self.depth == 1 && self.word.len() <= WORD_BYTES_MAX {
            self.word.push(byte);
        }
    }

    fn finish_object_member(&mut self) {
        let value = match self.word.len() <= WORD_BYTES_MAX {
            true => serde_json::from_slice::<Value>(&self.word).ok(),
            false => None,
        };
        self.word.clear();
        match (self.name.take().as_deref(), value) {
            (Some("id"), Some(id)) if id.is_string() || id.is_number() => self.id = Some(id),
            (Some("method"), Some(Value::String(method))) => self.method = Some(method),
            _ => {}
        }
    }
}
