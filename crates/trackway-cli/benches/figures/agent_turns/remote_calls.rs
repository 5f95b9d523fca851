//! A turn that calls `echo` on another node, over HTTP and over NATS, to compare with a turn that dispatches its
//! own. Both nodes are real processes; the CPU figure is the sum of both.

use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{ConversationLoad, ScriptedExchange};
use crate::{http_connection::HttpConnection, report::Report, server_process::TrackwayServer};

/// The peer's workflow as a tool.
const TOOL: &str = "workflow_echo";
const REMOTE: ScriptedExchange = ScriptedExchange { user: "Have it echoed elsewhere", end: "It was echoed." };

const OVER_HTTP: &str = "turn that calls echo on another node, over HTTP, at 1";
const OVER_NATS: &str = "turn that calls echo on another node, over NATS, at 1";
const TURNS: usize = 300;

/// How long a node may take until it knows its peer, and NATS until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn measure_rows(report: &mut Report, runtime: &Runtime) -> Result<()> {
    if report.is_selected(OVER_HTTP) {
        let other = create_workspace("")?;
        let callee = TrackwayServer::start_in_workspace(other.path())?;
        let peer = format!(
            "[[peers]]\nname = \"echo\"\nurl = \"http://{}/a2a/agents/echo\"\n",
            callee.process.address
        );
        measure_row(report, runtime, OVER_HTTP, &callee, &peer)?;
    }
    if report.is_selected(OVER_NATS) {
        let Some(nats) = NatsServer::start_if_installed()? else {
            // Our other figures do not need it.
            eprintln!("{OVER_NATS}: skipped, there is no nats-server");
            return Ok(());
        };
        let settings = format!("[nats]\nurl = \"{}\"\n", nats.url);
        let other = create_workspace(&settings)?;
        let callee = TrackwayServer::start_in_workspace(other.path())?;
        measure_row(report, runtime, OVER_NATS, &callee, &settings)?;
    }
    Ok(())
}

fn measure_row(
    report: &mut Report,
    runtime: &Runtime,
    name: &str,
    callee: &TrackwayServer,
    settings: &str,
) -> Result<()> {
    let folder = create_workspace(settings)?;
    let caller = TrackwayServer::start_in_workspace(folder.path())?;
    runtime.block_on(wait_until_peer_is_up(&caller))?;
    let turns = report.scaled_count(TURNS);
    let load = ConversationLoad { talk: REMOTE, conversations: 1, turns, is_new_conversation: true };
    load.measure_servers(report, runtime, &[&caller, callee], (name, ""))
}

/// The node that is called may fetch from this machine, the node that calls has a model in process.
fn create_workspace(settings: &str) -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    let config = format!(
        "[defaults]\nagent = \"caller\"\nmodel = \"main\"\n\n[models.main]\nprovider = \"scripted\"\n\
         file = \"script.yaml\"\n\n[outgoing]\nallow_loopback = true\n\n{settings}"
    );
    fs::write(folder.path().join("trackway.toml"), config)?;
    let script = json!({ "answers": [
        { "after": TOOL, "text": REMOTE.end, "repeat": true },
        { "user": REMOTE.user, "repeat": true, "calls": [{ "tool": TOOL, "arguments": { "text": "hello" } }] },
    ] });
    fs::write(folder.path().join("script.yaml"), script.to_string())?;
    fs::create_dir(folder.path().join("agents"))?;
    let agent = "---\ndescription: Calls another node.\nworkflows: []\npeers: [echo]\n---\n\nYou call.\n";
    fs::write(folder.path().join("agents/caller.md"), agent)?;
    Ok(folder)
}

/// Pings the peer until it answers: over NATS its card arrives some time after the start.
async fn wait_until_peer_is_up(caller: &TrackwayServer) -> Result<()> {
    let started = Instant::now();
    loop {
        let mut connection = HttpConnection::open(caller.process.address).await?;
        let listed = connection.get("/api/peers").await?;
        let listed: serde_json::Value = serde_json::from_slice(&listed)?;
        let items = listed["items"].as_array().context("no items")?;
        if items.iter().any(|peer| peer["name"] == "echo" && peer["health"] == "up") {
            return Ok(());
        }
        ensure!(started.elapsed() < START_TIMEOUT, "the peer is not up: {listed}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A NATS server on a free port. It ends with the value.
struct NatsServer {
    url: String,
    process: Child,
    _folder: TempDir,
}

impl NatsServer {
    #[expect(clippy::disallowed_methods, reason = "the runner says where the server is")]
    fn start_if_installed() -> Result<Option<Self>> {
        let program: OsString =
            std::env::var_os("TRACKWAY_TEST_NATS_SERVER").unwrap_or_else(|| "nats-server".into());
        let folder = tempfile::tempdir()?;
        let started = Command::new(program)
            .args(["--addr", "127.0.0.1", "--port", "-1", "--jetstream", "--store_dir"])
            .arg(folder.path().join("store"))
            .arg("--ports_file_dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(process) = started else { return Ok(None) };
        let mut server = Self { url: String::new(), process, _folder: folder };
        let begun = Instant::now();
        while server.url.is_empty() {
            ensure!(begun.elapsed() < START_TIMEOUT, "nats-server does not start");
            std::thread::sleep(Duration::from_millis(10));
            server.url = read_address(server._folder.path()).unwrap_or_default();
        }
        Ok(Some(server))
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The address that the server wrote into its file of ports.
fn read_address(folder: &Path) -> Option<String> {
    let mut entries = fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let file = entries.find(|path| path.extension().is_some_and(|extension| extension == "ports"))?;
    let ports: serde_json::Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    Some(ports["nats"][0].as_str()?.to_owned())
}
