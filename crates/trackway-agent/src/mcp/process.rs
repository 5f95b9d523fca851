//! A server as a process of ours. It ends with us: its standard input closes, and what is still there
//! after that is killed with everything that it started.

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

/// How long a server may take to end by itself once its input is closed, and again once it was told to.
/// Limit (Tools): time in which a tool server ends once its input is closed.
const END_WAIT: Duration = Duration::from_secs(2);

/// How long the rest of a log is waited for once its server has ended.
const LOG_WAIT: Duration = Duration::from_millis(500);

/// Longest line of a log that is repeated as the reason why a server is down.
///
/// Limit (Tools): letters of a dead MCP server's last line that are told.
const LAST_LINE_CHARS_MAX: usize = 300;

/// Longest line of a server's log that is passed on whole.
/// Limit (Tools): line of a tool server's log.
const LOG_LINE_BYTES_MAX: u64 = 8 * 1024;

/// Variables that a server has from us beside its own: what programs need to find their files, speak a
/// language and reach the network. Keys of models are among ours, so the rest stays here.
const INHERITED: &str = "\
    HOME LOGNAME PATH SHELL TERM USER LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME \
    XDG_DATA_HOME XDG_RUNTIME_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy \
    SSL_CERT_FILE SSL_CERT_DIR APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMFILES \
    SYSTEMROOT TEMP USERNAME USERPROFILE";

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Its id, which is also that of the group of all processes that it starts.
    id: Option<u32>,
    /// Passes its log on, and ends with it.
    log: JoinHandle<()>,
    /// The last line of its log.
    last_line: Arc<Mutex<String>>,
}

/// What a process is started with.
#[derive(Debug)]
pub(super) struct Start<'a> {
    pub(super) server: &'a str,
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) folder: &'a Path,
}

impl Process {
    /// Starts it, and passes on what it writes to its standard error.
    pub(super) fn start(start: &Start<'_>) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = Command::new(start.command);
        command
            .args(start.args)
            .env_clear()
            .envs(inherited())
            .envs(start.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A workspace that is the current folder has no name, and no process can be started in that.
        if !start.folder.as_os_str().is_empty() {
            command.current_dir(start.folder);
        }
        // A group of its own: a signal at our terminal is for us to pass on, and a launcher's children
        // can be ended with it.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let id = child.id();
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(output), Some(input), Some(log)) = pipes else {
            return Err(io::Error::other("its pipes could not be opened"));
        };
        let last_line = Arc::<Mutex<String>>::default();
        let log = tokio::spawn(pass_on(start.server.to_owned(), log, last_line.clone()));
        Ok((Self { child, id, log, last_line }, output, input))
    }

    /// When it ends, and how.
    pub(super) async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Ends it. Its standard input is closed already, which is how a server is told to go.
    /// With its status comes what it said last.
    pub(super) async fn end(mut self) -> (Option<ExitStatus>, String) {
        let status = self.end_now().await;
        (status, self.last_words().await)
    }

    async fn end_now(&mut self) -> Option<ExitStatus> {
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

    /// The last line of its log, to be put behind a reason; empty where there is none. To be asked once it
    /// has ended: what it wrote at the end is waited for.
    pub(super) async fn last_words(&mut self) -> String {
        // What it started may hold its log open.
        let _open = timeout(LOG_WAIT, &mut self.log).await;
        let line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if line.is_empty() { String::new() } else { format!("; its last words: {line}") }
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
            // All of it may have ended by itself.
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

/// What a server has started goes with it, also where the server itself is gone.
impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

#[expect(clippy::disallowed_methods, reason = "what a child has from us is decided here alone")]
fn inherited() -> impl Iterator<Item = (&'static str, OsString)> {
    INHERITED.split(' ').filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// Writes a server's log into ours, line by line.
async fn pass_on(server: String, log: impl AsyncRead + Unpin, last_line: Arc<Mutex<String>>) {
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A longer line comes in pieces.
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
