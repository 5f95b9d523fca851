//! The official Python client on a string.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use super::answer::Answer;
use crate::support::python;

/// Which revision the client speaks.
#[derive(Debug, Clone, Copy)]
pub(super) enum Era {
    Newest,
    Legacy,
}

/// Whether the client can ask a person, and what the person says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Person {
    Unasked,
    Accepts,
    Declines,
    Cancels,
}

/// A client and the server that it started or called. Both end with it.
#[derive(Debug)]
pub(super) struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    /// The revision that both agreed on.
    pub(super) protocol: String,
    /// Where the server wrote its process id, if the client started it.
    pid_file: Option<PathBuf>,
}

impl Mcp {
    /// Starts `trackway mcp` with these arguments through the client.
    pub(super) fn stdio(era: Era, person: Person, pid_file: &Path, args: &[&str]) -> Self {
        // The shell tells its process id and becomes the server.
        let mut words = vec!["stdio", "sh", "-c", r#"echo $$ > "$0"; exec "$@""#];
        words.push(pid_file.to_str().unwrap());
        words.push(env!("CARGO_BIN_EXE_trackway"));
        words.extend(args);
        let mut agent = Self::start(era, person, &words);
        agent.pid_file = Some(pid_file.to_owned());
        agent
    }

    /// Calls a server over HTTP.
    pub(super) fn http(era: Era, person: Person, url: &str) -> Self {
        Self::start(era, person, &["http", url])
    }

    /// The same with a key.
    pub(super) fn http_as(era: Era, person: Person, url: &str, key: &str) -> Self {
        Self::start(era, person, &["http", url, key])
    }

    fn start(era: Era, person: Person, words: &[&str]) -> Self {
        let mode = match era {
            Era::Newest => "auto",
            Era::Legacy => "legacy",
        };
        let consent = match person {
            Person::Unasked => "none",
            Person::Accepts => "accept",
            Person::Declines => "decline",
            Person::Cancels => "cancel",
        };
        let mut child = python("TRACKWAY_TEST_MCP_PYTHON", "mcp_client.py")
            .args([mode, consent])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        let protocol = told["protocol"].as_str().unwrap().to_owned();
        Self { child, stdin, lines, protocol, pid_file: None }
    }

    /// The tools that are offered, as the protocol has them.
    pub(super) fn tools(&mut self) -> Vec<Value> {
        let told = self.tell(&json!({ "op": "tools" }));
        told.as_array().unwrap().clone()
    }

    pub(super) fn call(&mut self, name: &str, arguments: &Value) -> Answer {
        Answer::of(&self.tell(&json!({ "op": "call", "name": name, "arguments": arguments })))
    }

    /// Sends a call without waiting for its answer, which `answer` gets.
    pub(super) fn send(&mut self, name: &str, arguments: &Value) {
        self.write(&json!({ "op": "call", "name": name, "arguments": arguments }));
    }

    pub(super) fn answer(&mut self) -> Answer {
        Answer::of(&self.read())
    }

    /// Makes all these calls at once.
    pub(super) fn calls(&mut self, name: &str, arguments: &[Value]) -> Vec<Answer> {
        let call = |arguments| json!({ "name": name, "arguments": arguments });
        let calls: Vec<Value> = arguments.iter().map(call).collect();
        let told = self.tell(&json!({ "op": "calls", "calls": calls }));
        told.as_array().unwrap().iter().map(Answer::of).collect()
    }

    pub(super) fn list(&mut self) -> Answer {
        self.call("workflow_list", &json!({}))
    }

    pub(super) fn inspect(&mut self, workflow: &str) -> Answer {
        self.call("workflow_inspect", &json!({ "workflowId": workflow }))
    }

    pub(super) fn start_run(&mut self, workflow: &str, context: Value) -> Answer {
        self.call("workflow_start", &json!({ "workflowId": workflow, "context": context }))
    }

    /// Answers the step of `at` with these further arguments.
    pub(super) fn advance(&mut self, at: &Answer, more: Value) -> Answer {
        self.call("workflow_advance", &advance(at, more))
    }

    /// Looks at a snapshot without answering it.
    pub(super) fn look(&mut self, state: &str) -> Answer {
        self.call("workflow_advance", &json!({ "stateToken": state }))
    }

    /// Looks for runs without a token.
    pub(super) fn resume(&mut self, query: &str) -> Answer {
        self.call("workflow_resume", &json!({ "query": query }))
    }

    pub(super) fn checkpoint(&mut self, state: &str, notes: &str) -> Answer {
        let arguments = json!({ "stateToken": state, "notesMarkdown": notes });
        self.call("workflow_checkpoint", &arguments)
    }

    /// The process of the server that the client started.
    pub(super) fn server_pid(&self) -> u32 {
        let file = self.pid_file.as_ref().unwrap();
        std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
    }

    /// Ends the client as a person closes it, and waits until it has gone.
    pub(super) fn close(&mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends the server as a power cut would, and the client with it.
    pub(super) fn kill(&mut self) {
        kill(self.server_pid());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn tell(&mut self, what: &Value) -> Value {
        self.write(what);
        self.read()
    }

    fn write(&mut self, what: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{what}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // The client is let end by itself: it takes its server along.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// The arguments that answer the step of `at`.
pub(super) fn advance(at: &Answer, mut more: Value) -> Value {
    more["stateToken"] = at.state().into();
    more["ackToken"] = at.ack().into();
    more
}

fn kill(pid: u32) {
    let pid = pid.to_string();
    assert!(Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap().success());
}
