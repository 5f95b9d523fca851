//! The server for the clients: it has every binding, and its webhooks may be on this machine.

use crate::support::{ServerUnderTest, TestFolder, http_client};

/// gRPC of 0.3 knows no tenants: it reaches the default agent.
const SETTINGS: &str = r#"
[outgoing]
allow_loopback = true

[a2a]
default_agent = "review"
"#;

#[derive(Debug)]
pub(super) struct SdkServer {
    server: ServerUnderTest,
    _folder: TestFolder,
}

impl SdkServer {
    pub(super) fn start() -> Self {
        let folder = TestFolder::with_files(&[("trackway.toml", SETTINGS)]);
        Self { server: folder.serve(&["--grpc-listen", "127.0.0.1:0"]), _folder: folder }
    }

    /// The agent that the script runs against.
    pub(super) fn review_agent_url(&self) -> String {
        self.agent_url("review")
    }

    pub(super) fn agent_url(&self, name: &str) -> String {
        format!("{}/a2a/agents/{name}", self.server.url)
    }

    /// Saves a file for the user that the clients are.
    pub(super) async fn save_artifact(&self, name: &str, media_type: &str, content: &'static str) {
        let url = format!("{}/api/artifacts/{name}", self.server.url);
        let put = http_client().put(url).header("content-type", media_type).body(content);
        assert_eq!(put.send().await.unwrap().status().as_u16(), 201);
    }

    /// The same agent at the address that names none.
    pub(super) fn default_agent_url(&self) -> String {
        self.server.url.clone()
    }
}
