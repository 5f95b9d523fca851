//! A server with a `trackway.toml`, and callers of it.

use std::path::PathBuf;

use reqwest::{Method, header::HeaderMap};
use serde_json::{Value, json};

use crate::support::{CommandOutput, ServerUnderTest, TestFolder, trackway_command};

/// A folder with a configuration and a data folder.
pub(super) struct AuthWorkspace {
    folder: TestFolder,
}

/// What a server answered.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl HttpAnswer {
    #[track_caller]
    pub(super) fn expect_problem(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        self
    }

    #[track_caller]
    pub(super) fn expect_success(self) -> Value {
        assert!(self.status < 300, "{self:?}");
        self.body
    }
}

impl AuthWorkspace {
    /// With this text as its `trackway.toml`.
    pub(super) fn new(config: &str) -> Self {
        Self { folder: TestFolder::with_files(&[("trackway.toml", config)]) }
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        self.folder.write_file(name, text);
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.data_path()
    }

    pub(super) fn serve(&self) -> ServerUnderTest {
        self.folder.serve(&[])
    }

    /// With these arguments, and at most this many open files.
    pub(super) fn serve_with_files(&self, files: u32, args: &[&str]) -> ServerUnderTest {
        let workspace = self.folder.path().to_str().unwrap();
        let args = [&["--workspace", workspace], args].concat();
        ServerUnderTest::start_with_file_limit(&self.folder.data_path(), files, &args)
    }

    /// A command on the data folder.
    pub(super) fn trackway(&self, args: &[&str]) -> CommandOutput {
        self.folder.run_command(args)
    }

    /// `trackway serve`, which is expected to refuse.
    pub(super) fn refuses_to_serve(&self, listen: &str) -> CommandOutput {
        let workspace = self.folder.path().to_str().unwrap();
        trackway_command(&["serve", "--listen", listen, "--workspace", workspace])
            .env("TRACKWAY_DATA", self.data())
            .run_to_end("")
    }

    /// A key of the data folder.
    pub(super) fn create_key(&self, tenant: &str, scopes: &[&str]) -> String {
        self.create_key_for_user(tenant, "ann", scopes)
    }

    pub(super) fn create_key_for_user(&self, tenant: &str, user: &str, scopes: &[&str]) -> String {
        let args = ["keys", "create", "--tenant", tenant, "--user", user, "--json", "--scope"];
        let created = self.trackway(&[&args, scopes].concat()).expect(0);
        created.json()["key"].as_str().unwrap().to_owned()
    }
}

/// One request with these credentials, or without.
pub(super) async fn send_request(
    server: &ServerUnderTest,
    bearer: Option<&str>,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> HttpAnswer {
    let mut request = server.http.request(method, format!("{}{path}", server.url));
    if let Some(bearer) = bearer {
        request = request.bearer_auth(bearer);
    }
    if let Some(body) = body {
        request = request.json(body);
    }
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    // Streams are not JSON.
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    HttpAnswer { status, headers, body }
}

pub(super) async fn get(server: &ServerUnderTest, bearer: impl Into<Option<&str>>, path: &str) -> HttpAnswer {
    send_request(server, bearer.into(), Method::GET, path, None).await
}

pub(super) async fn post(
    server: &ServerUnderTest,
    bearer: impl Into<Option<&str>>,
    path: &str,
    body: Value,
) -> HttpAnswer {
    send_request(server, bearer.into(), Method::POST, path, Some(&body)).await
}

/// Starts `review`, which then waits for an answer, and returns the run's id.
pub(super) async fn start_review(server: &ServerUnderTest, bearer: &str) -> String {
    let body = json!({ "workflow": "review", "input": { "subject": "x" } });
    let run = post(server, bearer, "/api/runs", body).await.expect_success();
    run["id"].as_str().unwrap().to_owned()
}

pub(super) const REQUIRED: &str = "[auth]\nrequired = true\n";
