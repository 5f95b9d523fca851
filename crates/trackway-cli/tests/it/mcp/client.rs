//! The official Python client on a string.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::answer::Answer;
use crate::support::{Started, python};

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
    process: Started,
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
        let mut command = python("TRACKWAY_TEST_MCP_PYTHON", "mcp_client.py");
        command.args([mode, consent]).args(words);
        let mut process = Started::spawn(command);
        let protocol = process.json()["protocol"].as_str().unwrap().to_owned();
        Self { process, protocol, pid_file: None }
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
        Answer::of(&self.process.json())
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
        self.process.close_stdin();
        assert_eq!(self.process.exit_code(), 0);
    }

    /// Ends the server as a power cut would, and the client with it.
    pub(super) fn kill(&mut self) {
        kill(self.server_pid());
        self.process.kill();
    }

    fn tell(&mut self, what: &Value) -> Value {
        self.write(what);
        self.process.json()
    }

    fn write(&mut self, what: &Value) {
        self.process.write(&format!("{what}\n"));
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        // The client is let end by itself: it takes its server along.
        self.process.close_stdin();
        self.process.exit_code();
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
