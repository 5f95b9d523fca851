//! A real `trackway serve` on a free port.

use std::path::{Path, PathBuf};

use reqwest::{
    Client,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};
use serde_json::{Value, json};

use super::command::{RunningProcess, trackway_command};

/// A server of the binary under test. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct ServerUnderTest {
    data: PathBuf,
    process: RunningProcess,
    pub(crate) url: String,
    /// Where gRPC is served, if it is.
    pub(crate) grpc: Option<String>,
    pub(crate) http: Client,
}

impl ServerUnderTest {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with_env(data, &[])
    }

    /// With these environment variables.
    pub(crate) fn start_with_env(data: &Path, env: &[(&str, &str)]) -> Self {
        let (process, url) = launch_server(data, &[], env);
        Self { data: data.to_owned(), process, url, grpc: None, http: http_client() }
    }

    /// With these arguments.
    pub(crate) fn start_with_args(data: &Path, args: &[&str]) -> Self {
        let (process, url) = launch_server(data, args, &[]);
        Self { data: data.to_owned(), process, url, grpc: None, http: http_client() }
    }

    /// With these arguments, and at most this many open files.
    pub(crate) fn start_with_file_limit(data: &Path, files: u32, args: &[&str]) -> Self {
        let args = [&["serve", "--json", "--listen", "127.0.0.1:0"], args].concat();
        let command = trackway_command(&args).env("TRACKWAY_DATA", data).with_open_file_limit(files);
        let (process, said) = read_announcement(command.start());
        let grpc = said["grpc"].as_str().map(str::to_owned);
        Self { data: data.to_owned(), process, url: announced_url(&said), grpc, http: http_client() }
    }

    /// Kills it like a power cut.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Kills it and starts another one on the same folder, at another address.
    pub(crate) fn restart(&mut self) {
        self.kill();
        (self.process, self.url) = launch_server(&self.data, &[], &[]);
        self.http = http_client();
    }

    /// Ends it as Ctrl-C does, and returns its exit code.
    pub(crate) fn interrupt(&mut self) -> i32 {
        self.process.signal("INT");
        self.process.exit_code()
    }

    /// Ends it as a supervisor does, and returns its exit code.
    pub(crate) fn terminate(&mut self) -> i32 {
        self.process.signal("TERM");
        self.process.exit_code()
    }

    /// Waits until it ends by itself; −1 if that was a crash.
    pub(crate) fn wait_for_exit(&mut self) -> i32 {
        self.process.exit_code()
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send_and_parse(self.http.get(format!("{}{path}", self.url))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send_and_parse(self.http.post(format!("{}{path}", self.url)).json(body)).await
    }

    /// Starts a run over REST and returns its id.
    pub(crate) async fn start_run(&self, workflow: &str, input: Value) -> String {
        let (status, run) = self.post("/api/runs", &json!({ "workflow": workflow, "input": input })).await;
        assert_eq!(status, 201, "{run}");
        run["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the run has ended, and returns all its updates.
    pub(crate) async fn wait_for_end(&self, run: &str) -> Vec<Value> {
        let address = format!("{}/api/runs/{run}/stream?after=0", self.url);
        let text = self.http.get(address).send().await.unwrap().text().await.unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let values = data.map(|line| serde_json::from_str::<Value>(line).unwrap());
        values.filter(|value| value.get("pos").is_some()).collect()
    }

    /// Waits until the run asks a question, and returns it.
    pub(crate) async fn wait_for_question(&self, run: &str) -> Value {
        self.wait_for_update(run, |update| update.get("question").cloned()).await
    }

    /// Waits until the run has started a child, and returns the child's id.
    pub(crate) async fn wait_for_child(&self, run: &str) -> String {
        let child = |update: &Value| update["message"]["referenceTaskIds"].get(0).cloned();
        self.wait_for_update(run, child).await.as_str().unwrap().to_owned()
    }

    /// The first update of this kind.
    async fn wait_for_update(&self, run: &str, find: impl Fn(&Value) -> Option<Value>) -> Value {
        let address = format!("{}/api/runs/{run}/stream?after=0", self.url);
        let mut response = self.http.get(address).send().await.unwrap();
        let mut text = String::new();
        loop {
            let updates = text.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
            let data = updates.lines().filter_map(|line| line.strip_prefix("data: "));
            let mut values = data.map(|line| serde_json::from_str::<Value>(line).unwrap());
            if let Some(found) = values.find_map(|value| find(&value)) {
                return found;
            }
            let chunk = response.chunk().await.unwrap().expect("the run ended without it");
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn send_and_parse(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        let expected = if status < 400 { "application/json" } else { "application/problem+json" };
        assert_eq!(kind, expected, "{status}");
        (status, response.json().await.unwrap())
    }
}

fn launch_server(data: &Path, args: &[&str], env: &[(&str, &str)]) -> (RunningProcess, String) {
    let args = [&["serve", "--json", "--listen", "127.0.0.1:0"], args].concat();
    let mut command = trackway_command(&args).env("TRACKWAY_DATA", data);
    for (name, value) in env {
        command = command.env(name, value);
    }
    let (process, said) = read_announcement(command.start());
    (process, announced_url(&said))
}

/// The line that it prints when it serves.
fn read_announcement(mut process: RunningProcess) -> (RunningProcess, Value) {
    let said = process.read_json_line();
    (process, said)
}

fn announced_url(said: &Value) -> String {
    said["url"].as_str().unwrap().to_owned()
}

pub(crate) fn http_client() -> Client {
    http_client_with_headers(HeaderMap::new())
}

/// A client that sends this key.
pub(crate) fn http_client_with_key(key: &str) -> Client {
    let bearer = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
    http_client_with_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
}

#[expect(clippy::disallowed_methods, reason = "tests talk to the loopback address without any policy")]
fn http_client_with_headers(headers: HeaderMap) -> Client {
    trackway_outgoing::install_tls_provider();
    Client::builder().no_proxy().default_headers(headers).build().unwrap()
}
