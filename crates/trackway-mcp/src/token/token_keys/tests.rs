//! The document of signing keys as it is stored. The golden file exists on disks and must stay readable: see
//! `docs/formats.md`.

use super::*;

const FORMAT_1: &str = include_str!("format-1.json");

/// Proves T2: keys of format 1, a retired one included, are read and written in the same form again.
#[test]
fn a_document_of_format_1_is_readable_and_unchanged() {
    let contents = parse_token_keys(FORMAT_1.as_bytes()).unwrap();
    let secrets: Vec<_> = contents.keys.iter().map(|key| (key.id, key.secret)).collect();
    assert_eq!(secrets, [([1, 1], None), ([1, 2], Some([7; 32]))]);
    assert_eq!(contents.bundle, [8; 32]);
    let text = serde_json::to_string_pretty(&StoredTokenKeys::from(&contents)).unwrap();
    assert_eq!(text, FORMAT_1.trim_end());
}
