//! The server's standard output, filtered line by line before it reaches the protocol.
//!
//! The protocol client drops a line that it cannot parse, and the caller of that request would wait
//! forever. Here such a line is replaced by an error that says what is wrong with it. A line that names
//! no request ends the connection. Tools that can only be called as tasks are removed from lists,
//! because we do not start tasks.

use rmcp::{ErrorData, model::ErrorCode};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWriteExt as _, BufReader, DuplexStream, duplex};

/// Longest message that is read. It has room for a result of the largest size with every character
/// escaped.
///
/// Limit (Tools): one message of an MCP server, in bytes.
pub(super) const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes that are kept from the start and the end of a longer line, to find the request that it
/// answers.
const EDGE_BYTES: usize = 256;

/// Buffer between the server and the protocol, in bytes.
const PIPE_BYTES: usize = 64 * 1024;

/// The output of a server, in a form that the protocol can read completely.
pub(super) fn filter_server_stdout(output: impl AsyncRead + Unpin + Send + 'static) -> DuplexStream {
    let (ours, theirs) = duplex(PIPE_BYTES);
    tokio::spawn(forward_readable_lines(output, ours));
    theirs
}

async fn forward_readable_lines(output: impl AsyncRead + Unpin, mut to: DuplexStream) {
    let mut output = BufReader::new(output);
    let mut line = StdoutLineBuffer::default();
    loop {
        let consumed = match output.fill_buf().await {
            Ok([]) | Err(_) => return,
            Ok(bytes) => {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let taken = end.map_or(bytes.len(), |end| end + 1);
                line.push_line_bytes(&bytes[..taken]);
                (taken, end.is_some())
            }
        };
        output.consume(consumed.0);
        if !consumed.1 {
            continue;
        }
        let passed = match std::mem::take(&mut line).classify_line() {
            StdoutLineContent::Readable(line) => to.write_all(&line).await,
            StdoutLineContent::Unreadable { id: Some(id), why } => {
                let error = unreadable_answer_error(&why);
                let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
                to.write_all(format!("{answer}\n").as_bytes()).await
            }
            StdoutLineContent::Unreadable { id: None, why } => {
                tracing::warn!("cannot read a message of an MCP server: {why}");
                return;
            }
        };
        if passed.is_err() {
            return;
        }
    }
}

/// The code of errors that we create, from the range that the protocol leaves to implementations.
const UNREADABLE: ErrorCode = ErrorCode(-32_050);

/// The error that replaces an answer that cannot be read.
pub(super) fn unreadable_answer_error(why: &str) -> ErrorData {
    ErrorData::new(UNREADABLE, format!("its answer cannot be read: {why}"), None)
}

/// A line while it is read.
#[derive(Debug, Default)]
struct StdoutLineBuffer {
    bytes: Vec<u8>,
    /// Its end, if the line is longer than the limit; `bytes` then has its start.
    tail: Vec<u8>,
    length: usize,
}

/// The kind of a line.
#[derive(Debug, PartialEq)]
enum StdoutLineContent {
    /// A message that the protocol can read, or text that is no message at all.
    Readable(Vec<u8>),
    /// A message that the protocol cannot read, and the request that it answers.
    Unreadable { id: Option<u64>, why: String },
}

impl StdoutLineBuffer {
    fn push_line_bytes(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        if self.length <= MESSAGE_BYTES_MAX {
            self.bytes.extend_from_slice(bytes);
            return;
        }
        if self.tail.is_empty() {
            self.tail = self.bytes.split_off(self.bytes.len().min(EDGE_BYTES));
            self.bytes.shrink_to_fit();
        }
        self.tail.extend_from_slice(bytes);
        let surplus = self.tail.len().saturating_sub(EDGE_BYTES);
        self.tail.drain(..surplus);
    }

    fn classify_line(self) -> StdoutLineContent {
        if self.length > MESSAGE_BYTES_MAX {
            let why = format!("it has {} bytes; at most {MESSAGE_BYTES_MAX} are read", self.length);
            let id = request_id_at_start(&self.bytes).or_else(|| request_id_at_end(&self.tail));
            return StdoutLineContent::Unreadable { id, why };
        }
        let Some(why) = json_parse_error(&self.bytes) else {
            return StdoutLineContent::Readable(remove_task_only_tools(self.bytes));
        };
        let id = request_id_at_start(&self.bytes).or_else(|| request_id_at_end(&self.bytes));
        match id {
            // Output that is not a message, such as a log on the wrong pipe. The protocol ignores it.
            None => StdoutLineContent::Readable(self.bytes),
            id => StdoutLineContent::Unreadable { id, why },
        }
    }
}

/// Why a line is not readable JSON.
fn json_parse_error(line: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(line) else { return Some("it is not UTF-8".to_owned()) };
    serde_json::from_str::<IgnoredAny>(text).err().map(|error| error.to_string())
}

/// The id of an answer that starts with it, as most servers write answers.
fn request_id_at_start(line: &[u8]) -> Option<u64> {
    let start = String::from_utf8_lossy(&line[..line.len().min(EDGE_BYTES)]);
    let plain: String = start.chars().filter(|letter| !letter.is_whitespace()).collect();
    let rest = plain.strip_prefix('{')?;
    let rest = rest.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix(',')).unwrap_or(rest);
    parse_number_before(rest.strip_prefix(ID)?, ',')
}

/// The id of an answer that ends with it.
fn request_id_at_end(line: &[u8]) -> Option<u64> {
    let end = String::from_utf8_lossy(&line[line.len().saturating_sub(EDGE_BYTES)..]);
    let plain: String = end.chars().filter(|letter| !letter.is_whitespace()).collect();
    let rest = plain.strip_suffix('}')?;
    let rest = rest.strip_suffix(VERSION).and_then(|rest| rest.strip_suffix(',')).unwrap_or(rest);
    let (before, id) = rest.rsplit_once(ID)?;
    // Inside a text its quotes would be written as `\"`.
    if before.ends_with('\\') { None } else { id.parse().ok() }
}

const VERSION: &str = r#""jsonrpc":"2.0""#;
const ID: &str = r#""id":"#;

fn parse_number_before(text: &str, end: char) -> Option<u64> {
    text.split_once(end)?.0.parse().ok()
}

/// A list of tools without those that can only be called as tasks. Anything else is unchanged.
pub(super) fn remove_task_only_tools(line: Vec<u8>) -> Vec<u8> {
    const MARK: &[u8] = b"\"taskSupport\"";
    if !line.windows(MARK.len()).any(|window| window == MARK) {
        return line;
    }
    let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { return line };
    let Some(tools) = message.pointer_mut("/result/tools").and_then(Value::as_array_mut) else {
        return line;
    };
    let is_task =
        |tool: &Value| tool.pointer("/execution/taskSupport").is_some_and(|support| support == "required");
    tools.retain(|tool| !is_task(tool));
    format!("{message}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> StdoutLineContent {
        let mut line = StdoutLineBuffer::default();
        pieces.iter().for_each(|piece| line.push_line_bytes(piece));
        line.classify_line()
    }

    fn unreadable_request_id(read: StdoutLineContent) -> Option<u64> {
        match read {
            StdoutLineContent::Unreadable { id, .. } => id,
            StdoutLineContent::Readable(line) => panic!("{}", String::from_utf8_lossy(&line)),
        }
    }

    /// Issue 11, S-L9: finds the request that an unreadable answer belongs to.
    #[test]
    fn an_unreadable_answer_names_its_request() {
        let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}", "[".repeat(50_000));
        assert_eq!(unreadable_request_id(read(&[deep.as_bytes(), b"\n"])), Some(7));
        let bytes = b"{\"result\":{\"text\":\"\xff\"},\"jsonrpc\":\"2.0\",\"id\": 8}\n";
        assert_eq!(unreadable_request_id(read(&[bytes])), Some(8));
        let chunk = vec![b'x'; 1024 * 1024];
        let mut pieces: Vec<&[u8]> = vec![b"{\"result\":\""];
        pieces.extend(std::iter::repeat_n(chunk.as_slice(), 50));
        pieces.push(b"\",\"id\":9,\"jsonrpc\":\"2.0\"}\n");
        assert_eq!(unreadable_request_id(read(&pieces)), Some(9));
    }

    /// Text that is no message, or only looks like one, is passed on.
    #[test]
    fn everything_else_is_passed_on() {
        for line in ["Listening on stdio\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "\n"] {
            assert_eq!(read(&[line.as_bytes()]), StdoutLineContent::Readable(line.as_bytes().to_vec()));
        }
        let text = b"{\"result\":\"broken \\\"id\":3}\n";
        assert_eq!(read(&[text]), StdoutLineContent::Readable(text.to_vec()));
    }

    /// Issue 11, E8: a tool that can only be called as a task is not offered.
    #[test]
    fn tools_that_are_tasks_are_left_out() {
        let tool = |name: &str, support: &str| json!({"name": name, "inputSchema": {}, "execution": {"taskSupport": support}});
        let tools = [tool("a", "required"), tool("b", "optional"), tool("c", "forbidden")];
        let list = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}});
        let StdoutLineContent::Readable(line) = read(&[format!("{list}\n").as_bytes()]) else {
            panic!("whole")
        };
        let kept: Value = serde_json::from_slice(&line).unwrap();
        let names: Vec<&Value> =
            kept["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["b", "c"]);
    }
}
