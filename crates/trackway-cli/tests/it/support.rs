//! What every test of the binary needs: a folder, commands with their output, a server that can be
//! killed and started again.

mod command;
mod prepared;
mod server;
mod terminal;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

pub(crate) use command::{Finished, Project, Started, Trackway, trackway};
pub(crate) use prepared::{interpret, output_of, prepared, python};
pub(crate) use server::{Served, client, client_for};
pub(crate) use terminal::Terminal;

/// A data folder that does not exist yet, inside of one that is removed with the test.
#[derive(Debug)]
pub(crate) struct Folder {
    outer: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { outer: TempDir::new().unwrap() }
    }

    /// With these files around it, which make it a workspace.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        files.iter().for_each(|(name, text)| folder.write(name, text));
        folder
    }

    /// Writes a file of the workspace, or writes it anew.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.outer.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// A server of the workspace with these arguments.
    pub(crate) fn serve(&self, args: &[&str]) -> Served {
        let workspace = self.outer.path().to_str().unwrap();
        Served::start_as(&self.data(), &[&["--workspace", workspace], args].concat())
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.outer.path().join("data")
    }

    /// The folder around it.
    pub(crate) fn path(&self) -> &Path {
        self.outer.path()
    }

    /// A command on this data folder.
    pub(crate) fn trackway(&self, args: &[&str]) -> Finished {
        self.trackway_with(args, "")
    }

    /// The same with something on its stdin.
    pub(crate) fn trackway_with(&self, args: &[&str], stdin: &str) -> Finished {
        trackway(args).env("TRACKWAY_DATA", self.data()).finish(stdin)
    }

    /// A run of `review` that waits for its answer, made without a server.
    pub(crate) fn waiting_review(&self) -> String {
        let run = self.trackway(&["run", "review", "--input", r#"{"subject": "x"}"#, "--json"]);
        assert_eq!(run.code, 6, "{run:?}");
        run.json_lines()[0]["runId"].as_str().unwrap().to_owned()
    }
}
