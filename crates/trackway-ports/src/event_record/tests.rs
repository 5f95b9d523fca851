//! Records as they are stored. The records in this file exist on disks and must stay readable.

use crate::{decode_event, encode_event};

/// What a guided run records, one line for each kind, in format 1.
const GUIDED: &str = include_str!("format-1-guided.jsonl");

/// Proves T12: the log of a guided run reads back, and is written in the same form again.
#[test]
fn guided_records_keep_their_form() {
    let mut names = Vec::new();
    for line in GUIDED.lines() {
        let event = decode_event(1, line).unwrap();
        assert_eq!(encode_event(&event), line);
        names.push(event.name());
    }
    assert_eq!(names, ["opened", "attempted", "attempted", "checkpointed", "repinned"]);
}
