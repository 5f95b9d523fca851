//! The note as it is stored.

use serde_json::json;

use super::*;

/// The golden file exists in logs on disks and must stay readable: see `docs/formats.md`.
const NOTES: &str = include_str!("tests/peer-call-notes-format-1.jsonl");

/// Proves X2: the notes of calls that were recorded in format 1 are understood, and recorded in the same form.
#[test]
fn notes_of_format_1_are_readable_and_unchanged() {
    for line in NOTES.lines() {
        let stored: Value = serde_json::from_str(line).unwrap();
        assert_eq!(PeerCallNote::from_value(stored.clone()).unwrap().to_value(), stored);
    }
    assert_eq!(PeerCallNote::from_value(json!({ "other": 1 })), None, "a note of another tool");
}
