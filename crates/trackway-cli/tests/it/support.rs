//! Helpers for every test of the binary: a folder, commands with their output, a server that can be killed
//! and started again.

mod command;
mod external_clients;
mod server;
mod terminal;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

pub(crate) use command::{
    CommandOutput, InitializedProject, RunningProcess, TrackwayCommand, trackway_command,
};
pub(crate) use external_clients::{client_command, prepared_path, python_client, run_client_to_end};
pub(crate) use server::{ServerUnderTest, http_client, http_client_with_key};
pub(crate) use terminal::PseudoTerminal;

/// A data folder that does not exist yet, inside a folder that is removed with the test.
#[derive(Debug)]
pub(crate) struct TestFolder {
    outer: TempDir,
}

impl TestFolder {
    pub(crate) fn new() -> Self {
        Self { outer: TempDir::new().unwrap() }
    }

    /// With these files around it, which make it a workspace.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.write_file(name, text));
        folder
    }

    /// Writes or replaces a file of the workspace.
    pub(crate) fn write_file(&self, name: &str, text: &str) {
        let file = self.outer.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// A server of the workspace with these arguments.
    pub(crate) fn serve(&self, args: &[&str]) -> ServerUnderTest {
        let workspace = self.outer.path().to_str().unwrap();
        ServerUnderTest::start_with_args(&self.data_path(), &[&["--workspace", workspace], args].concat())
    }

    /// The data folder.
    pub(crate) fn data_path(&self) -> PathBuf {
        self.outer.path().join("data")
    }

    /// The folder around it.
    pub(crate) fn path(&self) -> &Path {
        self.outer.path()
    }

    /// A command on this data folder.
    pub(crate) fn run_command(&self, args: &[&str]) -> CommandOutput {
        self.run_command_with_stdin(args, "")
    }

    /// The same with something on its stdin.
    pub(crate) fn run_command_with_stdin(&self, args: &[&str], stdin: &str) -> CommandOutput {
        trackway_command(args).env("TRACKWAY_DATA", self.data_path()).run_to_end(stdin)
    }

    /// A run of `review` that waits for its answer, created without a server.
    pub(crate) fn start_waiting_review(&self) -> String {
        let run = self.run_command(&["run", "review", "--input", r#"{"subject": "x"}"#, "--json"]);
        assert_eq!(run.code, 6, "{run:?}");
        run.json_lines()[0]["runId"].as_str().unwrap().to_owned()
    }
}
