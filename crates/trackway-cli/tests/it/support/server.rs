//! A real `trackway serve` on a free port.

use std::path::{Path, PathBuf};

use reqwest::{
    Client,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};
use serde_json::{Value, json};

use super::command::{Started, trackway};

/// A server of the binary under test. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Served {
    data: PathBuf,
    process: Started,
    pub(crate) url: String,
    /// Where gRPC is served, if it is.
    pub(crate) grpc: Option<String>,
    pub(crate) http: Client,
}

impl Served {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    /// With these environment variables.
    pub(crate) fn start_with(data: &Path, env: &[(&str, &str)]) -> Self {
        let (process, url) = launch(data, &[], env);
        Self { data: data.to_owned(), process, url, grpc: None, http: client() }
    }

    /// With these arguments.
    pub(crate) fn start_as(data: &Path, args: &[&str]) -> Self {
        let (process, url) = launch(data, args, &[]);
        Self { data: data.to_owned(), process, url, grpc: None, http: client() }
    }

    /// With these arguments, and no more than so many open files.
    pub(crate) fn start_with_files(data: &Path, files: u32, args: &[&str]) -> Self {
        let args = [&["serve", "--json", "--listen", "127.0.0.1:0"], args].concat();
        let command = trackway(&args).env("TRACKWAY_DATA", data).files(files);
        let (process, said) = announced(command.start());
        let grpc = said["grpc"].as_str().map(str::to_owned);
        Self { data: data.to_owned(), process, url: address(&said), grpc, http: client() }
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Kills it and starts another one on the same folder, at another address.
    pub(crate) fn restart(&mut self) {
        self.kill();
        (self.process, self.url) = launch(&self.data, &[], &[]);
        self.http = client();
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

    /// Waits until it ends by itself; −1 where that was a crash.
    pub(crate) fn crashed(&mut self) -> i32 {
        self.process.exit_code()
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.answer(self.http.get(format!("{}{path}", self.url))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.answer(self.http.post(format!("{}{path}", self.url)).json(body)).await
    }

    /// Starts a run over REST and returns its id.
    pub(crate) async fn begin(&self, workflow: &str, input: Value) -> String {
        let (status, run) =
            self.post("/api/runs", &json!({ "workflow": workflow, "input": input })).await;
        assert_eq!(status, 201, "{run}");
        run["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the run has ended, and returns all its updates.
    pub(crate) async fn ended(&self, run: &str) -> Vec<Value> {
        let address = format!("{}/api/runs/{run}/stream?after=0", self.url);
        let text = self.http.get(address).send().await.unwrap().text().await.unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let values = data.map(|line| serde_json::from_str::<Value>(line).unwrap());
        values.filter(|value| value.get("pos").is_some()).collect()
    }

    /// Waits until the run asks something, and returns the question.
    pub(crate) async fn asked(&self, run: &str) -> Value {
        self.told(run, |update| update.get("question").cloned()).await
    }

    /// Waits until the run has started a child, and returns the child's id.
    pub(crate) async fn child(&self, run: &str) -> String {
        let child = |update: &Value| update["message"]["referenceTaskIds"].get(0).cloned();
        self.told(run, child).await.as_str().unwrap().to_owned()
    }

    /// The first thing of this kind that the run's updates tell.
    async fn told(&self, run: &str, find: impl Fn(&Value) -> Option<Value>) -> Value {
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

    async fn answer(&self, request: reqwest::RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        let expected = if status < 400 { "application/json" } else { "application/problem+json" };
        assert_eq!(kind, expected, "{status}");
        (status, response.json().await.unwrap())
    }
}

fn launch(data: &Path, args: &[&str], env: &[(&str, &str)]) -> (Started, String) {
    let args = [&["serve", "--json", "--listen", "127.0.0.1:0"], args].concat();
    let mut command = trackway(&args).env("TRACKWAY_DATA", data);
    for (name, value) in env {
        command = command.env(name, value);
    }
    let (process, said) = announced(command.start());
    (process, address(&said))
}

/// What it says when it serves.
fn announced(mut process: Started) -> (Started, Value) {
    let said = process.json();
    (process, said)
}

fn address(said: &Value) -> String {
    said["url"].as_str().unwrap().to_owned()
}

pub(crate) fn client() -> Client {
    client_with(HeaderMap::new())
}

/// A client that brings this key along.
pub(crate) fn client_for(key: &str) -> Client {
    let bearer = HeaderValue::try_from(format!("Bearer {key}")).unwrap();
    client_with(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests talk to the loopback address without any policy"
)]
fn client_with(headers: HeaderMap) -> Client {
    trackway_outgoing::install_tls();
    Client::builder().no_proxy().default_headers(headers).build().unwrap()
}
