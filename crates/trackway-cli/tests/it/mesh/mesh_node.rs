//! A node of the mesh: a real process on a workspace, which can die and come back at the same address.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_ports::IdSource as _;
use trackway_runtime::SystemIds;

use crate::{
    a2a::support::with_test_timeout,
    support::{RunningProcess, http_client, trackway_command},
};

#[derive(Debug)]
pub(super) struct MeshNode {
    process: RunningProcess,
    /// `http://127.0.0.1:PORT`.
    url: String,
    workspace: PathBuf,
    env: Vec<(String, String)>,
    data: TempDir,
    /// Kept until the node ends, if nobody else keeps it.
    _owned_workspace: Option<TempDir>,
}

impl MeshNode {
    pub(super) fn start(workspace: &Path, env: &[(&str, &str)]) -> Self {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env: Vec<(String, String)> = env.collect();
        let data = tempfile::tempdir().unwrap();
        let (process, url) = launch(workspace, &env, data.path(), "127.0.0.1:0");
        Self { process, url, workspace: workspace.to_owned(), env, data, _owned_workspace: None }
    }

    pub(super) fn start_owned(workspace: TempDir) -> Self {
        let node = Self::start(workspace.path(), &[]);
        Self { _owned_workspace: Some(workspace), ..node }
    }

    pub(super) fn kill(&mut self) {
        self.process.kill();
    }

    /// At the address that it had.
    pub(super) fn start_again(&mut self) {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        (self.process, self.url) = launch(&self.workspace, &self.env, self.data.path(), &address);
    }

    pub(super) fn kill_and_restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// The base of an agent's card.
    pub(super) fn agent_url(&self, agent: &str) -> String {
        format!("{}/a2a/agents/{agent}", self.url)
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let answer = http_client().get(format!("{}{path}", self.url)).send();
        with_test_timeout(path, async { answer.await.unwrap().json().await.unwrap() }).await
    }

    pub(super) async fn add_peer(&self, peer: &Value) {
        let address = format!("{}/api/peers", self.url);
        let answer = with_test_timeout("add", http_client().post(address).json(peer).send()).await.unwrap();
        let status = answer.status();
        assert!(status.is_success(), "{status}: {}", answer.text().await.unwrap());
    }

    /// Reads the card of a peer now.
    pub(super) async fn ping_peer(&self, peer: &str) {
        let address = format!("{}/api/peers/{peer}/ping", self.url);
        let answer = with_test_timeout("ping", http_client().post(address).send()).await.unwrap();
        let status = answer.status();
        assert!(status.is_success(), "{status}: {}", answer.text().await.unwrap());
    }

    /// The runs of a workflow.
    pub(super) async fn list_runs(&self, workflow: &str) -> Vec<Value> {
        let list = self.get(&format!("/api/runs?workflow={workflow}")).await;
        list["runs"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
    }

    /// Sends a message and waits until the task is idle.
    pub(super) async fn send(&self, agent: &str, parts: &[Value], task: Option<&str>) -> Value {
        self.send_with(agent, parts, task.map(|task| ("taskId", task))).await
    }

    /// Goes on with a conversation.
    pub(super) async fn send_in_context(&self, agent: &str, parts: &[Value], context: &str) -> Value {
        self.send_with(agent, parts, Some(("contextId", context))).await
    }

    async fn send_with(&self, agent: &str, parts: &[Value], to: Option<(&str, &str)>) -> Value {
        let mut message =
            json!({ "messageId": SystemIds.new_uuid().to_string(), "role": "ROLE_USER", "parts": parts });
        if let Some((field, id)) = to {
            message[field] = id.into();
        }
        let answer = self.call(agent, "SendMessage", json!({ "message": message })).await;
        answer["task"].clone()
    }

    pub(super) async fn cancel(&self, agent: &str, task: &str) {
        let canceled = self.call(agent, "CancelTask", json!({ "id": task })).await;
        assert_eq!(canceled["status"]["state"], "TASK_STATE_CANCELED", "{canceled}");
    }

    /// Waits until the run has ended. Returns its state.
    pub(super) async fn wait_for_end(&self, run: &str) -> String {
        let address = format!("{}/api/runs/{run}/stream?after=0", self.url);
        // The stream ends with the run.
        let stream = async { http_client().get(address).send().await.unwrap().text().await.unwrap() };
        with_test_timeout("the end of the run", stream).await;
        let detail = self.get(&format!("/api/runs/{run}")).await;
        detail["state"].as_str().unwrap().to_owned()
    }

    async fn call(&self, agent: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = http_client().post(self.agent_url(agent)).header("A2A-Version", "1.0").json(&body);
        let answer: Value =
            with_test_timeout(method, async { request.send().await.unwrap().json().await.unwrap() }).await;
        answer.get("result").unwrap_or_else(|| panic!("{answer:#}")).clone()
    }
}

fn launch(
    workspace: &Path,
    env: &[(String, String)],
    data: &Path,
    address: &str,
) -> (RunningProcess, String) {
    let args = ["serve", "--json", "--listen", address, "--workspace", workspace.to_str().unwrap()];
    let command = trackway_command(&args).env("TRACKWAY_DATA", data);
    let command = env.iter().fold(command, |command, (name, value)| command.env(name, value));
    let mut process = command.start();
    let said = process.read_json_line();
    (process, said["url"].as_str().unwrap().trim_end_matches('/').to_owned())
}
