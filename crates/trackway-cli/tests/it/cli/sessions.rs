//! `trackway sessions …`: on a folder that nobody holds, and beside a server that does.

mod carrying;
mod looking;
mod removing;

use serde_json::json;
use trackway_domain::{DocumentKind, Inputs};
use trackway_ports::Journal as _;
use trackway_sqlite::SqliteJournal;
use trackway_testkit::{Trail, document, noted};

use crate::support::Folder;

/// Writes these runs into the folder, as agents would have, and lets go of it.
fn write(folder: &Folder, trails: &[Trail]) {
    let thread = tokio::runtime::Builder::new_current_thread().build().unwrap();
    thread.block_on(async {
        let journal = SqliteJournal::open(&folder.data()).unwrap();
        for trail in trails {
            trail.write(&journal).await;
        }
        journal.close().await;
    });
}

/// The session `ticket-7`: a forked run that is under way, and a note on the session.
fn ticket() -> [Trail; 2] {
    let rows = vec![document(
        "findings",
        DocumentKind::Table,
        Some("/id"),
        json!([{ "id": 1, "finding": "Größe ≠ 0" }]),
    )];
    let output = Inputs { output: Some(json!({ "verdict": "good" })), ..noted("# Second\n\nway") };
    [
        Trail::guided(1, "ticket-7", "review")
            .open("a")
            .answer("a", "b", noted("first way"), Vec::new())
            .checkpoint(Some("b"), "half way")
            .answer("a", "c", output, rows),
        Trail::session_notes(2, "ticket-7").checkpoint(None, "ask *Ada* first"),
    ]
}

fn with_ticket() -> Folder {
    let folder = Folder::new();
    write(&folder, &ticket());
    folder
}
