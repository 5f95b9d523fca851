//! `trackway chat`, from a pipe and at a terminal.

mod offline;
mod questions;
mod scripted;
mod sessions;
mod terminal;

use crate::support::{Finished, Folder, Trackway, trackway};

/// A conversation on a data folder that may be new, in a workspace that has nothing in it.
fn chat(folder: &Folder, args: &[&str]) -> Trackway {
    let args = [&["chat"], args].concat();
    trackway(&args).env("TRACKWAY_DATA", folder.data()).env("TRACKWAY_WORKSPACE", folder.path())
}

/// These lines to their end.
fn said(folder: &Folder, args: &[&str], lines: &str) -> Finished {
    chat(folder, args).finish(lines)
}

/// The runs of a folder, newest first.
fn runs(folder: &Folder) -> Vec<serde_json::Value> {
    let list = folder.trackway(&["runs", "list", "--json"]).expect(0).json();
    list["runs"].as_array().unwrap().clone()
}
