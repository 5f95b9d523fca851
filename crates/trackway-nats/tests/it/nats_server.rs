//! A NATS server of one test: its own port of loopback, its own folder.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// A machine that is busy with other tests is slow.
const START_MAX: Duration = Duration::from_secs(60);

/// The streams of a namespace reserve their limits in bytes. Without a setting the server has three quarters
/// of the free disk to give away, and a second namespace is refused on a machine that is nearly full.
const SERVER_CONFIG: &str = "jetstream { max_file_store: 8G }\n";

/// A process with JetStream. It ends with the value.
#[derive(Debug)]
pub(crate) struct NatsServer {
    pub(crate) url: String,
    port: u16,
    process: Option<Child>,
    folder: tempfile::TempDir,
}

impl NatsServer {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("nats.conf"), SERVER_CONFIG).unwrap();
        let (process, port) = spawn_server(folder.path(), None).await;
        Self { url: format!("nats://127.0.0.1:{port}"), port, process: Some(process), folder }
    }

    /// Ends the server without a warning.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Starts it again at the same address, with what it had stored.
    pub(crate) async fn start_again(&mut self) {
        let (process, _) = spawn_server(self.folder.path(), Some(self.port)).await;
        self.process = Some(process);
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The server takes a free port itself and writes it into a file; nobody else can take it in between.
async fn spawn_server(folder: &Path, port: Option<u16>) -> (Child, u16) {
    let ports = folder.join("ports");
    let _ = fs::remove_dir_all(&ports);
    fs::create_dir_all(&ports).unwrap();
    let path = server_program();
    let port = port.map_or("-1".to_owned(), |port| port.to_string());
    let mut process = Command::new(path)
        .args(["--addr", "127.0.0.1", "--port", &port, "--jetstream"])
        .arg("--config")
        .arg(folder.join("nats.conf"))
        .arg("--store_dir")
        .arg(folder.join("store"))
        .arg("--ports_file_dir")
        .arg(&ports)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("nats-server is installed: `cargo xtask test` does that");
    let started = tokio::time::Instant::now();
    loop {
        if let Some(port) = read_port(&ports) {
            return (process, port);
        }
        assert!(process.try_wait().unwrap().is_none(), "nats-server has ended");
        assert!(started.elapsed() < START_MAX, "nats-server does not start");
        // why: the file with the port is the only sign that the server listens.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The one that `cargo xtask test` found, or that of the search path.
#[expect(clippy::disallowed_methods, reason = "the test runner says where the server is")]
fn server_program() -> std::ffi::OsString {
    std::env::var_os("TRACKWAY_TEST_NATS_SERVER").unwrap_or_else(|| "nats-server".into())
}

fn read_port(ports: &Path) -> Option<u16> {
    let file = fs::read_dir(ports).ok()?.next()?.ok()?.path();
    let content: serde_json::Value = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    content["nats"][0].as_str()?.rsplit(':').next()?.parse().ok()
}
