//! The real binary as a child process, on a separate folder. It ends with its owner.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
};

use serde_json::Value;
use tempfile::TempDir;

use super::A2aClient;
use crate::support::{RunningProcess, http_client, http_client_with_key, trackway_command};

/// A server and its data folder. The folder outlives every crash of the process.
#[derive(Debug)]
pub(crate) struct CrashableServer {
    /// Dropped before its folder: its log is read if the test fails.
    process: ServerProcess,
    home: TempDir,
    env: Vec<(String, String)>,
    http: reqwest::Client,
}

#[derive(Debug)]
struct ServerProcess {
    started: RunningProcess,
    url: String,
    log: PathBuf,
}

impl CrashableServer {
    /// A fresh server on a fresh folder.
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), &[])
    }

    /// A server with these variables, whose current folder and workspace is this one.
    pub(crate) fn start_in(home: TempDir, env: &[(&str, &str)]) -> Self {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let env: Vec<_> = env.collect();
        let process = ServerProcess::start(home.path(), &env);
        Self { home, env, process, http: http_client() }
    }

    /// `kill -9`, then a new process on the same folder, at another address.
    pub(crate) fn crash(&mut self) {
        self.crash_and_inspect(|_| {});
    }

    /// The same, with a look at the folder while no process uses it.
    pub(crate) fn crash_and_inspect(&mut self, look: impl FnOnce(&Self)) {
        self.process.started.kill();
        look(self);
        self.process = ServerProcess::start(self.home.path(), &self.env);
        // Connections to the dead process are useless.
        self.http = http_client();
    }

    pub(crate) fn agent(&self, name: &str) -> A2aClient {
        A2aClient::new(self.http.clone(), format!("{}/a2a/agents/{name}", self.process.url))
    }

    /// An agent, called with this key.
    pub(crate) fn agent_with_key(&self, name: &str, key: &str) -> A2aClient {
        A2aClient::new(http_client_with_key(key), format!("{}/a2a/agents/{name}", self.process.url))
    }

    /// The agent at the address that names none.
    pub(crate) fn default_agent(&self) -> A2aClient {
        A2aClient::new(self.http.clone(), format!("{}/a2a", self.process.url))
    }

    /// Its workspace.
    pub(crate) fn workspace_path(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.process.url)
    }

    pub(crate) fn data_path(&self) -> PathBuf {
        data_path_in(self.home.path())
    }

    fn pid(&self) -> u32 {
        self.process.started.child.id()
    }

    /// Resident memory in kibibytes.
    pub(crate) fn memory_kib(&self) -> u64 {
        self.status_kib("VmRSS:")
    }

    /// The most resident memory that the process ever had, in kibibytes.
    pub(crate) fn memory_peak_kib(&self) -> u64 {
        self.status_kib("VmHWM:")
    }

    fn status_kib(&self, field: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Processor time spent so far, in ticks of 10 ms.
    pub(crate) fn cpu_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        // The second field is a name that may hold spaces; the numbers follow its bracket.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let field = |number: usize| fields.split(' ').nth(number - 3).unwrap().parse::<u64>().unwrap();
        field(14) + field(15)
    }

    /// Whether the process exists and answers.
    pub(crate) async fn is_alive(&self) -> bool {
        let answer = self.http.get(self.url("/livez")).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }
}

fn data_path_in(home: &Path) -> PathBuf {
    home.join("data")
}

impl ServerProcess {
    fn start(home: &Path, env: &[(String, String)]) -> Self {
        let log = home.join("server.log");
        let data = data_path_in(home);
        let args = ["serve", "--json", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let command = trackway_command(&args).in_folder(home).log_to_file(&log);
        let command = env.iter().fold(command, |command, (name, value)| command.env(name, value));
        let mut started = command.start();
        let line = started.read_line();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            panic!("the server said {line:?}, and {}", fs::read_to_string(&log).unwrap())
        });
        let url = said["url"].as_str().expect("the server's address").to_owned();
        Self { started, url, log }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.started.kill();
        if thread::panicking() {
            eprintln!("what the server logged:\n{}", fs::read_to_string(&self.log).unwrap_or_default());
        }
    }
}
