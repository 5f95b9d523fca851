//! `trackway sessions …`: on a free folder, and next to a server that holds it.

mod carrying;
mod looking;
mod removing;

use serde_json::json;
use trackway_domain::{AttemptInputs, DocumentKind};
use trackway_ports::Journal as _;
use trackway_sqlite::SqliteJournal;
use trackway_testkit::{GuidedRunBuilder, document_change, inputs_with_notes};

use crate::support::TestFolder;

/// Writes these runs into the folder, as agents would, and releases it.
fn write(folder: &TestFolder, trails: &[GuidedRunBuilder]) {
    let thread = tokio::runtime::Builder::new_current_thread().build().unwrap();
    thread.block_on(async {
        let journal = SqliteJournal::open(&folder.data_path()).unwrap();
        for trail in trails {
            trail.append_to_journal(&journal).await;
        }
        journal.close_store().await;
    });
}

/// The session `ticket-7`: an unfinished run with a fork, and a note on the session.
fn ticket() -> [GuidedRunBuilder; 2] {
    let rows = vec![document_change(
        "findings",
        DocumentKind::Table,
        Some("/id"),
        json!([{ "id": 1, "finding": "Größe ≠ 0" }]),
    )];
    let output =
        AttemptInputs { output: Some(json!({ "verdict": "good" })), ..inputs_with_notes("# Second\n\nway") };
    [
        GuidedRunBuilder::new_guided_run(1, "ticket-7", "review")
            .open_node("a")
            .answer_node("a", "b", inputs_with_notes("first way"), Vec::new())
            .add_checkpoint(Some("b"), "half way")
            .answer_node("a", "c", output, rows),
        GuidedRunBuilder::new_session_notes(2, "ticket-7").add_checkpoint(None, "ask *Ada* first"),
    ]
}

fn with_ticket() -> TestFolder {
    let folder = TestFolder::new();
    write(&folder, &ticket());
    folder
}
