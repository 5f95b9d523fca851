//! A server with a `trackway.toml`, and callers of it.

use std::path::PathBuf;

use reqwest::{Method, header::HeaderMap};
use serde_json::{Value, json};

use crate::support::{Finished, Folder, Served, trackway};

/// A folder with a configuration and a data folder.
pub(super) struct Site {
    folder: Folder,
}

/// What a server answered.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Answer {
    #[track_caller]
    pub(super) fn expect(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status, self.body["code"].as_str()), (status, Some(code)), "{self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        self
    }

    #[track_caller]
    pub(super) fn good(self) -> Value {
        assert!(self.status < 300, "{self:?}");
        self.body
    }
}

impl Site {
    /// With this text as its `trackway.toml`.
    pub(super) fn new(config: &str) -> Self {
        Self { folder: Folder::with(&[("trackway.toml", config)]) }
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        self.folder.write(name, text);
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.data()
    }

    pub(super) fn serve(&self) -> Served {
        self.folder.serve(&[])
    }

    /// With these arguments, and no more than so many open files.
    pub(super) fn serve_with_files(&self, files: u32, args: &[&str]) -> Served {
        let workspace = self.folder.path().to_str().unwrap();
        let args = [&["--workspace", workspace], args].concat();
        Served::start_with_files(&self.folder.data(), files, &args)
    }

    /// A command on the data folder.
    pub(super) fn trackway(&self, args: &[&str]) -> Finished {
        self.folder.trackway(args)
    }

    /// `trackway serve`, which is expected to refuse.
    pub(super) fn refuses_to_serve(&self, listen: &str) -> Finished {
        let workspace = self.folder.path().to_str().unwrap();
        trackway(&["serve", "--listen", listen, "--workspace", workspace])
            .env("TRACKWAY_DATA", self.data())
            .finish("")
    }

    /// A key of the data folder.
    pub(super) fn key(&self, tenant: &str, scopes: &[&str]) -> String {
        self.key_of(tenant, "ann", scopes)
    }

    pub(super) fn key_of(&self, tenant: &str, user: &str, scopes: &[&str]) -> String {
        let args = ["keys", "create", "--tenant", tenant, "--user", user, "--json", "--scope"];
        let created = self.trackway(&[&args, scopes].concat()).expect(0);
        created.json()["key"].as_str().unwrap().to_owned()
    }
}

/// One request with these credentials, or without.
pub(super) async fn call(
    server: &Served,
    bearer: Option<&str>,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Answer {
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
    // Streams are no JSON.
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    Answer { status, headers, body }
}

pub(super) async fn get(server: &Served, bearer: impl Into<Option<&str>>, path: &str) -> Answer {
    call(server, bearer.into(), Method::GET, path, None).await
}

pub(super) async fn post(
    server: &Served,
    bearer: impl Into<Option<&str>>,
    path: &str,
    body: Value,
) -> Answer {
    call(server, bearer.into(), Method::POST, path, Some(&body)).await
}

/// Starts `review`, which then waits for an answer, and returns the run's id.
pub(super) async fn review(server: &Served, bearer: &str) -> String {
    let body = json!({ "workflow": "review", "input": { "subject": "x" } });
    let run = post(server, bearer, "/api/runs", body).await.good();
    run["id"].as_str().unwrap().to_owned()
}

pub(super) const REQUIRED: &str = "[auth]\nrequired = true\n";
