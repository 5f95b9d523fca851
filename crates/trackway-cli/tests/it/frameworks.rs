//! Frameworks of other vendors from the package registries, against the real binary with the offline rules.
//! Their results are compared with what the server has recorded.

mod a2a;
mod mcp;

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::support::{ServerUnderTest, TestFolder, client_command, prepared_path, run_client_to_end};

/// Runs a command to its end, and returns each line of its stdout, and its stderr.
async fn run_client(command: Command) -> (Vec<Value>, String) {
    let (printed, errors) = run_client_to_end(command).await;
    (printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), errors)
}

/// A framework in Python. Warnings about its experimental parts are ignored.
fn python(variable: &str, script: &str) -> Command {
    let mut command = client_command(variable, &format!("frameworks/{script}"));
    command.env("PYTHONWARNINGS", "ignore");
    command
}

fn node(variable: &str, script: &str) -> Command {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/frameworks");
    let mut command = Command::new("node");
    command.arg(scripts.join(script)).arg(prepared_path(variable));
    command
}

/// A server in a workspace with these files.
#[derive(Debug)]
struct FrameworkServer {
    server: ServerUnderTest,
    _folder: TestFolder,
}

impl FrameworkServer {
    fn start(files: &[(&str, &str)], args: &[&str]) -> Self {
        let folder = TestFolder::with_files(files);
        Self { server: folder.serve(args), _folder: folder }
    }

    fn agent_url(&self, name: &str) -> String {
        format!("{}/a2a/agents/{name}", self.server.url)
    }

    /// The runs of a workflow, oldest first, each complete.
    async fn list_runs(&self, workflow: &str) -> Vec<Value> {
        let (_, list) = self.server.get(&format!("/api/runs?workflow={workflow}")).await;
        let mut runs = Vec::new();
        for run in list["runs"].as_array().unwrap().iter().rev() {
            let id = run["id"].as_str().unwrap();
            runs.push(self.server.get(&format!("/api/runs/{id}")).await.1);
        }
        runs
    }

    /// Why answers to the questions of this run were refused, in the server's words.
    async fn answer_refusals(&self, run: &Value) -> Vec<String> {
        let updates = self.server.wait_for_end(run["id"].as_str().unwrap()).await;
        let errors = updates.iter().filter_map(|update| update["question"]["errors"].as_array());
        errors.flatten().map(|error| error["message"].as_str().unwrap().to_owned()).collect()
    }
}

/// The agent's text in a turn.
fn turn_text(turn: &Value) -> String {
    let artifacts = turn["artifacts"].as_array().unwrap();
    let text = artifacts.iter().find(|artifact| artifact["artifactId"] == "text-response").unwrap();
    let parts = text["parts"].as_array().unwrap().iter();
    parts.map(|part| part["text"].as_str().unwrap()).collect()
}
