//! Drives the official Python client.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::answer::ToolAnswer;
use crate::support::{RunningProcess, python_client};

/// Which revision the client speaks.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProtocolRevision {
    Newest,
    Legacy,
}

/// Whether the client can ask a person, and the person's answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum ConfirmationReply {
    Unasked,
    Accepts,
    Declines,
    Cancels,
}

/// A client and the server that it started or called. Both end with it.
#[derive(Debug)]
pub(super) struct McpTestClient {
    process: RunningProcess,
    /// The agreed revision.
    pub(super) protocol: String,
    /// Where the server wrote its process id, if the client started it.
    pid_file: Option<PathBuf>,
}

impl McpTestClient {
    /// Starts `trackway mcp` with these arguments through the client.
    pub(super) fn stdio(
        era: ProtocolRevision,
        person: ConfirmationReply,
        pid_file: &Path,
        args: &[&str],
    ) -> Self {
        // The shell prints its process id and becomes the server.
        let mut words = vec!["stdio", "sh", "-c", r#"echo $$ > "$0"; exec "$@""#];
        words.push(pid_file.to_str().unwrap());
        words.push(env!("CARGO_BIN_EXE_trackway"));
        words.extend(args);
        let mut agent = Self::start(era, person, &words);
        agent.pid_file = Some(pid_file.to_owned());
        agent
    }

    /// Calls a server over HTTP.
    pub(super) fn http(era: ProtocolRevision, person: ConfirmationReply, url: &str) -> Self {
        Self::start(era, person, &["http", url])
    }

    /// The same with a key.
    pub(super) fn http_as(era: ProtocolRevision, person: ConfirmationReply, url: &str, key: &str) -> Self {
        Self::start(era, person, &["http", url, key])
    }

    fn start(era: ProtocolRevision, person: ConfirmationReply, words: &[&str]) -> Self {
        let mode = match era {
            ProtocolRevision::Newest => "auto",
            ProtocolRevision::Legacy => "legacy",
        };
        let consent = match person {
            ConfirmationReply::Unasked => "none",
            ConfirmationReply::Accepts => "accept",
            ConfirmationReply::Declines => "decline",
            ConfirmationReply::Cancels => "cancel",
        };
        let mut command = python_client("TRACKWAY_TEST_MCP_PYTHON", "mcp_client.py");
        command.args([mode, consent]).args(words);
        let mut process = RunningProcess::spawn(command);
        let protocol = process.read_json_line()["protocol"].as_str().unwrap().to_owned();
        Self { process, protocol, pid_file: None }
    }

    /// The tools that are offered, as the protocol has them.
    pub(super) fn tools(&mut self) -> Vec<Value> {
        let told = self.send_operation(&json!({ "op": "tools" }));
        told.as_array().unwrap().clone()
    }

    pub(super) fn call(&mut self, name: &str, arguments: &Value) -> ToolAnswer {
        ToolAnswer::from_client_report(
            &self.send_operation(&json!({ "op": "call", "name": name, "arguments": arguments })),
        )
    }

    /// Sends a call without waiting for its answer, which `answer` gets.
    pub(super) fn send(&mut self, name: &str, arguments: &Value) {
        self.write_operation(&json!({ "op": "call", "name": name, "arguments": arguments }));
    }

    pub(super) fn answer(&mut self) -> ToolAnswer {
        ToolAnswer::from_client_report(&self.process.read_json_line())
    }

    /// Makes all these calls at once.
    pub(super) fn calls(&mut self, name: &str, arguments: &[Value]) -> Vec<ToolAnswer> {
        let call = |arguments| json!({ "name": name, "arguments": arguments });
        let calls: Vec<Value> = arguments.iter().map(call).collect();
        let told = self.send_operation(&json!({ "op": "calls", "calls": calls }));
        told.as_array().unwrap().iter().map(ToolAnswer::from_client_report).collect()
    }

    pub(super) fn list(&mut self) -> ToolAnswer {
        self.call("workflow_list", &json!({}))
    }

    pub(super) fn inspect(&mut self, workflow: &str) -> ToolAnswer {
        self.call("workflow_inspect", &json!({ "workflowId": workflow }))
    }

    pub(super) fn start_run(&mut self, workflow: &str, context: Value) -> ToolAnswer {
        self.call("workflow_start", &json!({ "workflowId": workflow, "context": context }))
    }

    /// Answers the step of `at` with these further arguments.
    pub(super) fn advance(&mut self, at: &ToolAnswer, more: Value) -> ToolAnswer {
        self.call("workflow_advance", &advance_arguments(at, more))
    }

    /// Looks at a snapshot without answering it.
    pub(super) fn look(&mut self, state: &str) -> ToolAnswer {
        self.call("workflow_advance", &json!({ "stateToken": state }))
    }

    /// Looks for runs without a token.
    pub(super) fn resume(&mut self, query: &str) -> ToolAnswer {
        self.call("workflow_resume", &json!({ "query": query }))
    }

    pub(super) fn checkpoint(&mut self, state: &str, notes: &str) -> ToolAnswer {
        let arguments = json!({ "stateToken": state, "notesMarkdown": notes });
        self.call("workflow_checkpoint", &arguments)
    }

    /// The process of the server that the client started.
    pub(super) fn server_pid(&self) -> u32 {
        let file = self.pid_file.as_ref().unwrap();
        std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
    }

    /// Ends the client as a person closes it, and waits until it has exited.
    pub(super) fn close(&mut self) {
        self.process.close_stdin();
        assert_eq!(self.process.exit_code(), 0);
    }

    /// Ends the server as a power cut would, and the client with it.
    pub(super) fn kill(&mut self) {
        kill_process(self.server_pid());
        self.process.kill();
    }

    fn send_operation(&mut self, what: &Value) -> Value {
        self.write_operation(what);
        self.process.read_json_line()
    }

    fn write_operation(&mut self, what: &Value) {
        self.process.write(&format!("{what}\n"));
    }
}

impl Drop for McpTestClient {
    fn drop(&mut self) {
        // The client ends by itself, and its server ends with it.
        self.process.close_stdin();
        self.process.exit_code();
    }
}

/// The arguments that answer the step of `at`.
pub(super) fn advance_arguments(at: &ToolAnswer, mut more: Value) -> Value {
    more["stateToken"] = at.state_token().into();
    more["ackToken"] = at.ack_token().into();
    more
}

fn kill_process(pid: u32) {
    let pid = pid.to_string();
    assert!(Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap().success());
}
