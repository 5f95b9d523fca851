//! Names in, subjects out.

use super::*;

#[test]
fn any_name_becomes_one_token_and_back() {
    let nothing_to_encode = ("onboarding-2", "onboarding-2");
    for (name, token) in [
        nothing_to_encode,
        ("a.b", "a_2eb"),
        ("a_b", "a_5fb"),
        ("*", "_2a"),
        (">", "_3e"),
        ("a b\n", "a_20b_0a"),
        ("é", "_c3_a9"),
        ("", "_"),
        ("_", "_5f"),
    ] {
        assert_eq!(encode_token(name), token);
        assert_eq!(decode_token(token).as_deref(), Some(name));
    }
}

#[test]
fn different_names_never_share_a_token() {
    let names = ["a.b", "a_b", "a_2eb", "a-b", "ab", "A.b", "_", "", "__", "_5f"];
    for (at, one) in names.iter().enumerate() {
        for other in &names[at + 1..] {
            assert_ne!(encode_token(one), encode_token(other), "{one:?} and {other:?}");
        }
    }
}

#[test]
fn tokens_that_no_name_has_are_not_read() {
    for token in ["_2", "_zz", "a_2Eb", "_ff", "a.b", "_61"] {
        assert_eq!(decode_token(token), None, "{token}");
    }
}

#[test]
fn subjects_stay_inside_their_namespace() {
    let subjects = MeshSubjects::new("team.red").unwrap();
    assert_eq!(subjects.work_for_agent("a.>"), "trackway.team_2ered.work.agent.a_2e_3e");
    assert_eq!(subjects.agent_of_subject(&subjects.work_for_node("n-1", "a.>")).as_deref(), Some("a.>"));
    assert_eq!(subjects.work_stream(), "trackway-team_2ered-work");
    assert_eq!(subjects.agent_url("a.b"), "nats://team_2ered/a_2eb");
    let key = MeshSubjects::card_key("a.b", "n-1");
    assert_eq!(MeshSubjects::parse_card_key(&key), Some(("a.b".to_owned(), "n-1".to_owned())));
    assert_eq!(MeshSubjects::parse_card_key("a"), None);
}

#[test]
fn a_namespace_has_a_length() {
    assert!(MeshSubjects::new(&"x".repeat(64)).is_ok());
    for namespace in [String::new(), "x".repeat(65), "x".repeat(10_000_000)] {
        let error = MeshSubjects::new(&namespace).unwrap_err();
        assert!(matches!(error, NatsError::InvalidNamespace { bytes_max: 64, .. }));
        assert!(error.to_string().len() < 400, "long text is cut");
    }
}
