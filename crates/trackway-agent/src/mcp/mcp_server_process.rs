//! A server as a child process. It ends with us: its standard input closes, and if it is still running
//! after that, it is killed together with everything that it started.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

/// How long a server may take to exit after its input is closed, and again after the signal to end.
/// Limit (Tools): time in which a tool server ends once its input is closed.
const END_WAIT: Duration = Duration::from_secs(2);

/// How long to wait for the rest of a log after its server has ended.
const LOG_WAIT: Duration = Duration::from_millis(500);

/// Longest log line that is reported as the reason why a server is down.
///
/// Limit (Tools): characters of a dead MCP server's last line that are reported.
const LAST_LINE_CHARS_MAX: usize = 300;

/// Longest line of a server's log that is passed on in one piece.
/// Limit (Tools): line of a tool server's log.
const LOG_LINE_BYTES_MAX: u64 = 8 * 1024;

/// Variables that a server inherits in addition to its own: those that programs need to find their
/// files, choose a language and reach the network. Our environment also has the keys of models, so
/// nothing else is inherited.
const INHERITED: &str = "\
    HOME LOGNAME PATH SHELL TERM USER LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME \
    XDG_DATA_HOME XDG_RUNTIME_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy \
    SSL_CERT_FILE SSL_CERT_DIR APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMFILES \
    SYSTEMROOT TEMP USERNAME USERPROFILE";

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Child,
    /// Its process id, which is also the id of the group of all processes that it starts.
    id: Option<u32>,
    /// Forwards its log, and ends with it.
    log: JoinHandle<()>,
    /// The last line of its log.
    last_line: Arc<Mutex<String>>,
}

/// The parameters of a new process.
#[derive(Debug)]
pub(super) struct ServerProcessOptions<'a> {
    pub(super) server: &'a str,
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) folder: &'a Path,
}

impl ServerProcess {
    /// Starts it, and forwards its standard error.
    pub(super) fn spawn_process(
        start: &ServerProcessOptions<'_>,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = Command::new(start.command);
        command
            .args(start.args)
            .env_clear()
            .envs(inherited_env_vars())
            .envs(start.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A workspace that is the current folder has an empty path, and no process can start in that.
        if !start.folder.as_os_str().is_empty() {
            command.current_dir(start.folder);
        }
        // Its own process group: we handle a signal from the terminal ourselves, and we can end the
        // children of a launcher together with it.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let id = child.id();
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(output), Some(input), Some(log)) = pipes else {
            return Err(io::Error::other("its pipes could not be opened"));
        };
        let last_line = Arc::<Mutex<String>>::default();
        let log = tokio::spawn(forward_server_log(start.server.to_owned(), log, last_line.clone()));
        Ok((Self { child, id, log, last_line }, output, input))
    }

    /// Waits for its end, and returns its status.
    pub(super) async fn wait_for_exit_status(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends it. Its standard input is already closed, which tells a server to exit. Returns its status
    /// and its last log line.
    pub(super) async fn terminate(mut self) -> (Option<ExitStatus>, String) {
        let status = self.terminate_gracefully().await;
        (status, self.last_log_line().await)
    }

    async fn terminate_gracefully(&mut self) -> Option<ExitStatus> {
        if let Ok(status) = timeout(END_WAIT, self.child.wait()).await {
            return status.ok();
        }
        self.signal(Signal::Term);
        if let Ok(status) = timeout(END_WAIT, self.child.wait()).await {
            return status.ok();
        }
        self.signal(Signal::Kill);
        self.child.wait().await.ok()
    }

    /// The last line of its log, as a suffix for a reason; empty if there is none. Call it after the
    /// process has ended: it waits for the rest of the log.
    pub(super) async fn last_log_line(&mut self) -> String {
        // Its child processes may keep the log open.
        let _open = timeout(LOG_WAIT, &mut self.log).await;
        let line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if line.is_empty() { String::new() } else { format!("; its last log line: {line}") }
    }

    #[cfg(unix)]
    fn signal(&mut self, signal: Signal) {
        use rustix::process::{Pid, Signal as Unix, kill_process_group};

        let group = self.id.and_then(|id| Pid::from_raw(id.cast_signed()));
        let signal = match signal {
            Signal::Term => Unix::TERM,
            Signal::Kill => Unix::KILL,
        };
        if let Some(group) = group {
            // All processes may already have ended.
            let _gone = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: Signal) {
        let _gone = self.child.start_kill();
    }
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Term,
    Kill,
}

/// The child processes of a server are killed with it, even if the server itself is gone.
impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

#[expect(clippy::disallowed_methods, reason = "what a child has from us is decided here alone")]
fn inherited_env_vars() -> impl Iterator<Item = (&'static str, OsString)> {
    INHERITED.split(' ').filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// Writes a server's log into ours, line by line.
async fn forward_server_log(server: String, log: impl AsyncRead + Unpin, last_line: Arc<Mutex<String>>) {
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A longer line arrives in pieces.
        match (&mut log).take(LOG_LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line);
                tracing::info!(server, "{}", text.trim_end());
                if !text.trim().is_empty() {
                    let last = text.trim().chars().take(LAST_LINE_CHARS_MAX).collect();
                    *last_line.lock().unwrap_or_else(PoisonError::into_inner) = last;
                }
            }
        }
    }
}
