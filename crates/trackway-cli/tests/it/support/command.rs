//! Commands of the binary, to their end or under way.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use super::terminal::PseudoTerminal;

/// The binary with these arguments, without the developer's own environment.
pub(crate) fn trackway_command(args: &[&str]) -> TrackwayCommand {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trackway"));
    for variable in ["LISTEN", "DATA", "SERVER", "LOG", "FAULT", "WORKSPACE", "KEY", "MODEL", "PEER_KEY"] {
        command.env_remove(format!("TRACKWAY_{variable}"));
    }
    for provider in ["OPENAI", "ANTHROPIC", "GEMINI"] {
        command.env_remove(format!("{provider}_API_KEY"));
        command.env_remove(format!("{provider}_BASE_URL"));
    }
    command.args(args);
    TrackwayCommand { command }
}

#[derive(Debug)]
pub(crate) struct TrackwayCommand {
    command: Command,
}

impl TrackwayCommand {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// It is started in this folder.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// It may have at most this many open files, whatever it asks for.
    pub(crate) fn with_open_file_limit(mut self, most: u32) -> Self {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {most}; exec \"$0\" \"$@\"")]);
        limited.arg(self.command.get_program()).args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        self.command = limited;
        self
    }

    /// Its stderr is appended to this file.
    pub(crate) fn log_to_file(mut self, file: &Path) -> Self {
        let log = File::options().create(true).append(true).open(file).unwrap();
        self.command.stderr(log);
        self
    }

    /// Starts it. Its stderr is the test's stderr by default.
    pub(crate) fn start(self) -> RunningProcess {
        RunningProcess::spawn(self.command)
    }

    /// Starts it in a separate terminal without a known width.
    pub(crate) fn terminal(&self) -> PseudoTerminal {
        PseudoTerminal::start(&self.command, 0)
    }

    /// Starts it in a separate terminal with this many columns.
    pub(crate) fn terminal_with_columns(&self, columns: u16) -> PseudoTerminal {
        PseudoTerminal::start(&self.command, columns)
    }

    /// Runs it to its end.
    pub(crate) fn run_to_end(mut self, stdin: &str) -> CommandOutput {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        // It may end without reading everything.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        CommandOutput {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A program that `trackway init` generated, serving on a free port.
#[derive(Debug)]
pub(crate) struct InitializedProject(RunningProcess);

impl InitializedProject {
    pub(crate) fn start(program: &Path, folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.arg("127.0.0.1:0").current_dir(folder);
        Self(RunningProcess::spawn(command))
    }

    /// The address that it prints.
    pub(crate) fn url(&mut self) -> String {
        let line = self.0.read_line();
        line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned()
    }
}

/// A command that ended.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    /// −1 if a signal ended it.
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    /// Stdout as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Stdout as JSON objects, one per line and nothing else.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let parse = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"));
            assert!(value.is_object(), "{self:?}");
            value
        };
        self.stdout.lines().map(parse).collect()
    }

    /// The states of its JSON lines that have one.
    pub(crate) fn states(&self) -> Vec<String> {
        let lines = self.json_lines();
        lines.iter().filter_map(|line| line["state"].as_str()).map(str::to_owned).collect()
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

/// A command under way. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct RunningProcess {
    pub(crate) child: Child,
    lines: BufReader<ChildStdout>,
}

impl RunningProcess {
    /// Any program, controlled over its stdin and stdout.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next line of its stdout, which is JSON.
    pub(crate) fn read_json_line(&mut self) -> Value {
        let line = self.read_line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next line of its stdout; empty at the end.
    pub(crate) fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    /// Its stdout up to the first line that contains this text.
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        loop {
            let line = self.read_line();
            assert!(!line.is_empty(), "it ended without {text:?}");
            if line.contains(text) {
                return line;
            }
        }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Closes its input.
    pub(crate) fn close_stdin(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Sends it a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Kills it like a power cut: no handler runs, nothing is flushed.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits for its end; −1 if a signal ended it.
    pub(crate) fn exit_code(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
