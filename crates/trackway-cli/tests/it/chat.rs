//! `trackway chat`, from a pipe and at a terminal.

mod offline;
mod questions;
mod scripted;
mod sessions;
mod terminal;

use crate::support::{CommandOutput, TestFolder, TrackwayCommand, trackway_command};

/// A conversation on a data folder that may be new, in an empty workspace.
fn chat_command(folder: &TestFolder, args: &[&str]) -> TrackwayCommand {
    let args = [&["chat"], args].concat();
    trackway_command(&args).env("TRACKWAY_DATA", folder.data_path()).env("TRACKWAY_WORKSPACE", folder.path())
}

/// Sends these lines and waits for the end.
fn run_chat(folder: &TestFolder, args: &[&str], lines: &str) -> CommandOutput {
    chat_command(folder, args).run_to_end(lines)
}

/// The runs of a folder, newest first.
fn list_runs(folder: &TestFolder) -> Vec<serde_json::Value> {
    let list = folder.run_command(&["runs", "list", "--json"]).expect(0).json();
    list["runs"].as_array().unwrap().clone()
}
