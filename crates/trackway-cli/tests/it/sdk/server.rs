//! The server that the clients meet: the conformance profile, since webhooks are on this machine and one
//! agent is the default.

use crate::support::{Folder, Served};

#[derive(Debug)]
pub(super) struct Subject {
    server: Served,
    _folder: Folder,
}

impl Subject {
    pub(super) fn start() -> Self {
        let folder = Folder::new();
        let args = ["--profile", "tck", "--grpc-listen", "127.0.0.1:0"];
        Self { server: Served::start_as(&folder.data(), &args), _folder: folder }
    }

    pub(super) fn agent(&self, name: &str) -> String {
        format!("{}/a2a/agents/{name}", self.server.url)
    }
}
