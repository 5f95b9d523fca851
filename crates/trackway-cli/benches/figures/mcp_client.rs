//! A minimal agent at the MCP door: one line of JSON out, one line in, or the same over HTTP. It measures
//! the time from the first byte of the request to the last byte of the answer.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::server_process::{process_cpu_time, process_memory_mb};

/// The revision of the protocol that most clients speak.
const PROTOCOL: &str = "2025-06-18";

/// A way to send a message and to get its answer.
pub(crate) trait McpTransport {
    fn send_request(&mut self, message: &str) -> Result<String>;
    /// Sends a message that has no answer.
    fn send_notification(&mut self, message: &str) -> Result<()>;
}

/// A client that waits for each answer.
pub(crate) struct McpClient<W> {
    pub(crate) wire: W,
    id: u64,
}

impl<W: McpTransport> McpClient<W> {
    /// Sends `initialize`, as every client of that revision does first.
    pub(crate) fn connect(wire: W) -> Result<Self> {
        let mut agent = Self { wire, id: 0 };
        let client = json!({ "name": "figures", "version": "0" });
        let params = json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client });
        agent.request("initialize", &params)?;
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        agent.wire.send_notification(&ready.to_string())?;
        Ok(agent)
    }

    /// The result of a request, and how long it took. Encoding and decoding JSON here is not counted.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<(Value, Duration)> {
        self.id += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }).to_string();
        let begun = Instant::now();
        let answer = self.wire.send_request(&message)?;
        let took = begun.elapsed();
        let mut answer: Value = serde_json::from_str(&answer).context(answer)?;
        // A refusal is fast and would distort the figure.
        ensure!(answer["id"] == self.id && answer.get("error").is_none(), "{answer}");
        Ok((answer["result"].take(), took))
    }

    /// The structured answer of a tool.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> Result<(Value, Duration)> {
        let params = json!({ "name": tool, "arguments": arguments });
        let (mut result, took) = self.request("tools/call", &params)?;
        ensure!(result["isError"] != true, "{tool} was refused: {result}");
        Ok((result["structuredContent"].take(), took))
    }
}

/// `trackway mcp` in a separate process, ended when dropped.
pub(crate) struct StdioTransport {
    child: Child,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
}

impl StdioTransport {
    pub(crate) fn spawn_server(folder: &Path) -> Result<Self> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trackway"));
        command.arg("mcp").arg("--data").arg(folder.join("data"));
        command.arg("--workspace").arg(folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let write = child.stdin.take().context("no stdin")?;
        let read = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, write, read })
    }

    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        process_cpu_time(&self.child.id().to_string())
    }

    pub(crate) fn memory_mb(&self) -> Result<f64> {
        process_memory_mb(&self.child.id().to_string())
    }
}

impl McpTransport for StdioTransport {
    fn send_request(&mut self, message: &str) -> Result<String> {
        self.send_notification(message)?;
        let mut answer = String::new();
        ensure!(self.read.read_line(&mut answer)? > 0, "the server closed its side");
        Ok(answer)
    }

    fn send_notification(&mut self, message: &str) -> Result<()> {
        // In one write: the server reads a line when it is complete.
        Ok(self.write.write_all(format!("{message}\n").as_bytes())?)
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `/mcp` of a server, over one kept connection.
pub(crate) struct HttpTransport {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    /// The protocol session, once the server has sent its id.
    session: Option<String>,
}

impl HttpTransport {
    pub(crate) fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), address, session: None })
    }

    fn post_message(&mut self, message: &str) -> Result<String> {
        let mut whole = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            self.address,
            message.len(),
        );
        if let Some(session) = &self.session {
            whole.extend(["mcp-protocol-version: ", PROTOCOL, "\r\nmcp-session-id: "]);
            whole.extend([session, "\r\n"]);
        }
        whole.extend(["\r\n", message]);
        self.stream.get_mut().write_all(whole.as_bytes())?;
        self.read_response()
    }

    fn read_response(&mut self) -> Result<String> {
        let mut line = String::new();
        let (mut length, mut chunked) = (0, false);
        loop {
            line.clear();
            ensure!(self.stream.read_line(&mut line)? > 0, "the server closed the connection");
            if line == "\r\n" {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse()?,
                "transfer-encoding" => chunked = true,
                "mcp-session-id" => self.session = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        if !chunked {
            return Ok(String::from_utf8(self.read_bytes(length)?)?);
        }
        // An event stream that ends with the answer.
        let mut stream = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16)?;
            let chunk = self.read_bytes(size + 2)?;
            if size == 0 {
                break;
            }
            stream.extend_from_slice(&chunk[..size]);
        }
        let stream = String::from_utf8(stream)?;
        let said = stream.lines().filter_map(|line| line.strip_prefix("data:"));
        let answer = said.map(str::trim).rfind(|data| !data.is_empty());
        Ok(answer.context("a stream without an answer")?.to_owned())
    }

    fn read_bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl McpTransport for HttpTransport {
    fn send_request(&mut self, message: &str) -> Result<String> {
        self.post_message(message)
    }

    fn send_notification(&mut self, message: &str) -> Result<()> {
        self.post_message(message).map(drop)
    }
}
