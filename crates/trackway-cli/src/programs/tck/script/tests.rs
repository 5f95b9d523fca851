//! Which message selects which action.

use trackway::{MessageId, Role};

use super::*;

fn message(id: &str, text: &str) -> Message {
    Message::new(MessageId::new(id).unwrap(), Role::User, vec![Part::text(text)])
}

/// Ids carry a suffix of the suite's session; one prefix may be the prefix of another.
#[test]
fn the_longest_beginning_of_an_id_wins() {
    for (id, act) in [
        ("tck-artifact-file-1a2b3c4d", Act::Make(Product::File)),
        ("tck-artifact-file-url-1a2b3c4d", Act::Make(Product::FileUrl)),
        ("tck-stream-artifact-file-1a2b3c4d", Act::Make(Product::File)),
        ("tck-input-required-1a2b3c4d-grpc", Act::Ask),
        ("test-resubscribe-message-id-0198", Act::Linger),
    ] {
        assert_eq!(opening(&message(id, "tck-reject-task")), act, "for {id}");
    }
}

#[test]
fn the_first_text_speaks_where_the_id_says_nothing() {
    let plain = "0198b9f2-7c1e";
    for (text, act) in [
        ("tck-artifact-file-url document", Act::Make(Product::FileUrl)),
        ("tck-long-running start", Act::Work),
        ("tck-multi-turn start", Act::Converse),
        ("tck-cancel start work", Act::Hold),
        ("tck-task-failure trigger error", Act::Fail),
        ("hello", Act::Stay),
    ] {
        assert_eq!(opening(&message(plain, text)), act, "for {text}");
    }
}

#[test]
fn what_names_no_act_completes_at_once_in_the_newer_suite_and_lingers_in_the_older() {
    assert_eq!(opening(&message("tck-transport-test-001", "hello")), Act::Complete);
    assert_eq!(opening(&message("test-message-id-7", "hello")), Act::Stay);
    assert_eq!(next(&message("test-followup-message-id-7", "hello")), Act::Complete);
    assert_eq!(next(&message("tck-input-required-1a2b", "hello")), Act::Ask);
}
