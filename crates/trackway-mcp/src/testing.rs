//! Fixtures for the tests of this crate: a folder with workflows, and doors on its store.

use std::{fs, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    task::JoinHandle,
};
use trackway_domain::Timestamp;
use trackway_ports::{Journal, KeyStore, NoFaultInjection};
use trackway_runtime::{Catalogue, GuidedRunOptions, GuidedRuns, SystemClock, SystemIds};
use trackway_sqlite::{FolderKeys, SqliteJournal};

use crate::{CheckpointSwitches, KeyRing, McpDoor};

/// Two steps; the second requires a person's agreement.
pub(crate) const NOTES: &str = include_str!("testing/notes.yaml");

/// A data folder, and a folder of workflows next to it.
pub(crate) struct TestWorkflowFolder {
    folder: TempDir,
}

impl TestWorkflowFolder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("workflows")).unwrap();
        Self { folder }
    }

    pub(crate) fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn key_store(&self) -> Arc<dyn KeyStore> {
        Arc::new(FolderKeys::in_folder(&self.data_folder()))
    }

    /// Writes a workflow's file.
    pub(crate) fn write_workflow_file(&self, name: &str, text: &str) -> &Self {
        fs::write(self.folder.path().join("workflows").join(name), text).unwrap();
        self
    }

    /// A door with everything switched on, as a process of its own would open it.
    pub(crate) async fn open_door(&self) -> McpDoor {
        self.open_door_with(CheckpointSwitches { checkpoints: true, session_checkpoints: true }).await
    }

    pub(crate) async fn open_door_with(&self, switches: CheckpointSwitches) -> McpDoor {
        let journal: Arc<dyn Journal> = Arc::new(SqliteJournal::open(&self.data_folder()).unwrap());
        let guide = GuidedRuns::new(GuidedRunOptions {
            journal,
            catalogue: Arc::new(Catalogue::new(vec![self.folder.path().join("workflows")])),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            faults: Arc::new(NoFaultInjection),
        });
        let ring = KeyRing::open(self.key_store(), Timestamp(0)).await.unwrap();
        McpDoor::new(guide, Arc::new(ring), switches)
    }
}

/// A client that speaks line by line, so that tests see the bytes on the wire.
pub(crate) struct TestLineClient {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    serving: JoinHandle<Result<(), crate::StdioError>>,
    /// Sent with each request by clients of the newest revision.
    meta: Option<Value>,
    id: u64,
}

impl TestLineClient {
    /// A client that has sent nothing yet.
    pub(crate) fn connect_without_initialize(door: McpDoor) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let serving = tokio::spawn(door.serve_line_streams(read, write));
        let (read, write) = tokio::io::split(ours);
        Self { read: BufReader::new(read), write, serving, meta: None, id: 0 }
    }

    /// A client of an older revision, which sends `initialize` first.
    pub(crate) async fn connect_with_older_revision(door: McpDoor, capabilities: Value) -> Self {
        Self::connect_with_revision(door, "2025-06-18", capabilities).await
    }

    /// A client of an older revision on a folder with the workflow [`NOTES`].
    pub(crate) async fn connect_to_notes_workflow(capabilities: Value) -> (TestWorkflowFolder, Self) {
        let at = TestWorkflowFolder::new();
        at.write_workflow_file("notes.yaml", NOTES);
        let client = Self::connect_with_older_revision(at.open_door().await, capabilities).await;
        (at, client)
    }

    pub(crate) async fn connect_with_revision(door: McpDoor, revision: &str, capabilities: Value) -> Self {
        let mut client = Self::connect_without_initialize(door);
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "0" },
        });
        let greeted = client.send_request_and_wait("initialize", params).await;
        assert_eq!(greeted["result"]["protocolVersion"], revision, "{greeted}");
        client.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    /// A client of the newest revision, which sends its capabilities with each request.
    pub(crate) fn connect_with_newest_revision(door: McpDoor, capabilities: &Value) -> Self {
        let mut client = Self::connect_without_initialize(door);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        self.write.write_all(line.as_bytes()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn send_message(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// The next message from the server.
    pub(crate) async fn next_message(&mut self) -> Value {
        let mut line = String::new();
        self.read.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(crate) async fn send_request(&mut self, method: &str, mut params: Value) {
        self.id += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let id = self.id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send_message(&request).await;
    }

    pub(crate) async fn send_request_and_wait(&mut self, method: &str, params: Value) -> Value {
        self.send_request(method, params).await;
        self.next_message().await
    }

    /// The result of a call.
    pub(crate) async fn call_tool(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        let mut answer = self.send_request_and_wait("tools/call", params).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// The structured part of a call that succeeds.
    pub(crate) async fn call_tool_ok(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.call_tool(name, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    /// The code of a refused call.
    pub(crate) async fn call_tool_refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call_tool(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let code = result["structuredContent"]["error"]["code"].as_str().unwrap().to_owned();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&code), "{text}");
        code
    }

    /// Closes its side and waits until the server has ended.
    pub(crate) async fn disconnect(mut self) {
        self.write.shutdown().await.unwrap();
        drop(self.write);
        drop(self.read);
        self.serving.await.unwrap().unwrap();
    }
}

/// The arguments that answer the pending step of a position.
pub(crate) fn advance_arguments(position: &Value, notes: &str) -> Value {
    json!({
        "stateToken": position["stateToken"],
        "ackToken": position["ackToken"],
        "notesMarkdown": notes,
    })
}
