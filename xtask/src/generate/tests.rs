//! The comparison behind `generate --check`.

use super::first_difference;

#[test]
fn a_stale_page_is_found_at_its_first_line_that_differs() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
    assert_eq!(first_difference("", "a\n"), Some(1));
    assert_eq!(first_difference("a\nb\n", "a\n"), Some(2));
}
