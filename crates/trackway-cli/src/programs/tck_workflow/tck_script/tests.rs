//! Which message selects which action.

use trackway::{MessageId, MessageRole};

use super::*;

fn message(id: &str, text: &str) -> Message {
    Message::new(MessageId::new(id).unwrap(), MessageRole::User, vec![Part::text(text)])
}

/// Ids carry a suffix of the suite's session; one prefix may be the prefix of another.
#[test]
fn the_longest_beginning_of_an_id_wins() {
    for (id, act) in [
        ("tck-artifact-file-1a2b3c4d", TckAction::Make(TckArtifactKind::File)),
        ("tck-artifact-file-url-1a2b3c4d", TckAction::Make(TckArtifactKind::FileUrl)),
        ("tck-stream-artifact-file-1a2b3c4d", TckAction::Make(TckArtifactKind::File)),
        ("tck-input-required-1a2b3c4d-grpc", TckAction::Ask),
        ("test-resubscribe-message-id-0198", TckAction::Linger),
    ] {
        assert_eq!(action_for_first_message(&message(id, "tck-reject-task")), act, "for {id}");
    }
}

#[test]
fn the_first_text_speaks_where_the_id_says_nothing() {
    let plain = "0198b9f2-7c1e";
    for (text, act) in [
        ("tck-artifact-file-url document", TckAction::Make(TckArtifactKind::FileUrl)),
        ("tck-long-running start", TckAction::Work),
        ("tck-multi-turn start", TckAction::Converse),
        ("tck-cancel start work", TckAction::Hold),
        ("tck-task-failure trigger error", TckAction::Fail),
        ("hello", TckAction::Stay),
    ] {
        assert_eq!(action_for_first_message(&message(plain, text)), act, "for {text}");
    }
}

#[test]
fn unknown_action_completes_immediately_or_stays_in_old_suite() {
    assert_eq!(action_for_first_message(&message("tck-transport-test-001", "hello")), TckAction::Complete);
    assert_eq!(action_for_first_message(&message("test-message-id-7", "hello")), TckAction::Stay);
    assert_eq!(
        action_for_answer_message(&message("test-followup-message-id-7", "hello")),
        TckAction::Complete
    );
    assert_eq!(action_for_answer_message(&message("tck-input-required-1a2b", "hello")), TckAction::Ask);
}
