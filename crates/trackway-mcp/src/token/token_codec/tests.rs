//! Tokens as text: what is removed around them, what is refused, and the texts of the refusals.

use proptest::prelude::*;

use super::*;

const KEY: SigningSecret = [7; 32];
const ID: KeyId = [1, 2];

fn sample_node() -> NodeRef {
    let run = RunId::compact_from_uuid(Uuid::from_u128(0x0193_3c5a_77a1_7abc_8def_0123_4567_89ab));
    NodeRef { run, node: NodeId::node_id_from_event_number(run, 300).unwrap() }
}

fn token(param: TokenParameter) -> String {
    match param {
        TokenParameter::State => encode_state_token(ID, &KEY, sample_node()),
        TokenParameter::Ack => {
            let ack = AckId::compact_from_uuid(Uuid::from_u128(7));
            encode_ack_token(ID, &KEY, AttemptRef { node_ref: sample_node(), ack })
        }
    }
}

fn accepted(param: TokenParameter, text: &str) -> bool {
    decode_token(param, text).is_ok_and(|token| token.key == ID && token.is_signed_by(ID, &KEY))
}

/// Proves T2: only letters, digits and points, so that nothing on the way to the agent alters a token.
#[test]
fn tokens_have_plain_characters_only() {
    for param in [TokenParameter::State, TokenParameter::Ack] {
        let token = token(param);
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'), "{token}");
        assert_eq!(token.len(), param.prefix().len() + param.token_body_lengths()[0]);
        assert!(accepted(param, &token));
    }
}

/// Proves T2: both are at most half as long as their first versions, which had 91 and 118 characters.
#[test]
fn tokens_are_short() {
    assert_eq!([TokenParameter::State, TokenParameter::Ack].map(|param| token(param).len()), [45, 41]);
}

/// Proves T5: an ack is valid only for its snapshot, and a refusal says what is wrong otherwise.
#[test]
fn ack_tokens_are_bound_to_their_node() {
    let ack = decode_token(TokenParameter::Ack, &token(TokenParameter::Ack)).unwrap();
    let NodeRef { run, .. } = sample_node();
    assert_eq!(ack.decode_attempt_ref(sample_node()).map(|ack| ack.node_ref), Ok(sample_node()));
    let other = NodeRef { run, node: NodeId::node_id_from_event_number(run, 301).unwrap() };
    assert_eq!(ack.decode_attempt_ref(other), Err(TokenErrorKind::OtherSnapshot));
    let run = RunId::compact_from_uuid(Uuid::from_u128(1));
    let other = NodeRef { run, node: NodeId::node_id_from_event_number(run, 300).unwrap() };
    assert_eq!(ack.decode_attempt_ref(other), Err(TokenErrorKind::OtherRun));
}

/// Proves T2: characters that a chat puts around a token are not part of it.
#[test]
fn decoration_around_a_token_is_ignored() {
    for param in [TokenParameter::State, TokenParameter::Ack] {
        let token = token(param);
        for around in [
            format!(" {token}\n"),
            format!("\"{token}\""),
            format!("'{token}'"),
            format!("`{token}`"),
            format!("```\n{token}\n```"),
            format!("{token}."),
            format!("({token}),"),
            format!("“{token}”"),
            format!("\u{feff}{token}\r\n"),
            format!("**{token}**"),
            token.to_ascii_uppercase(),
        ] {
            assert!(accepted(param, &around), "{around:?}");
        }
    }
}

/// Proves T2: a refusal says that text was added to a token, or is missing from it.
#[test]
fn glued_text_is_malformed_with_a_hint() {
    let token = token(TokenParameter::State);
    for (text, hint) in [
        (String::new(), "it is empty"),
        ("`\"\"`".to_owned(), "it is empty"),
        ("hello".to_owned(), "begins with st.v1."),
        (format!("stateToken: {token}"), "blanks or line breaks"),
        (format!("stateToken={token}"), "glued to it"),
        (format!("{token}x"), "glued to it"),
        (format!("{token}.ack"), "glued to it"),
        (token[..40].to_owned(), "something is missing"),
        (format!("{}\n{}", &token[..40], &token[40..]), "blanks or line breaks"),
        (format!("{}-{}", &token[..40], &token[41..]), "only letters and digits"),
        (token.replace("v1", "v2"), "begins with st.v1."),
    ] {
        match decode_token(TokenParameter::State, &text) {
            Err(TokenErrorKind::Malformed { hint: told }) => {
                assert!(told.contains(hint), "{text:?}: {told}")
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

proptest! {
    /// Proves T2.
    #[test]
    fn tokens_round_trip(run: u128, node: u128, ack: u128, id: KeyId, key: SigningSecret) {
        let id = mask_key_id(id);
        let [run, node, ack] = [run, node, ack].map(Uuid::from_u128);
        let short = RunId::compact_from_uuid(run);
        let seq = u64::from(node.as_fields().0 & 0x00ff_ffff);
        let refs = [
            NodeRef { run: RunId::new(run), node: NodeId::new(node) },
            NodeRef { run: short, node: NodeId::node_id_from_event_number(short, seq).unwrap() },
        ];
        for node_ref in refs {
            for ack in [AckId::new(ack), AckId::compact_from_uuid(ack)] {
                let ack = AttemptRef { node_ref, ack };
                let token = decode_token(TokenParameter::Ack, &encode_ack_token(id, &key, ack)).unwrap();
                prop_assert!(token.key == id && token.is_signed_by(id, &key));
                prop_assert_eq!(token.decode_attempt_ref(node_ref), Ok(ack));
            }
            let token = decode_token(TokenParameter::State, &encode_state_token(id, &key, node_ref)).unwrap();
            prop_assert!(token.key == id && token.is_signed_by(id, &key));
            prop_assert_eq!(token.decode_node_ref(), node_ref);
        }
    }

    /// Proves T2: no text causes a panic, and no token that we did not sign is accepted.
    #[test]
    fn forged_tokens_are_never_accepted(text in "\\PC{0,200}", body in "[0-9a-z.]{30,112}") {
        for param in [TokenParameter::State, TokenParameter::Ack] {
            prop_assert!(!accepted(param, &text));
            let glued = format!("{}{body}", param.prefix());
            prop_assert!(!accepted(param, &glued));
        }
    }
}

/// Proves T2: tokens that agents hold stay valid. Two in the short form, and two with whole ids.
#[test]
fn tokens_of_version_1_are_readable_and_unchanged() {
    const VERSION_1: &str = include_str!("version-1.txt");
    let run = RunId::new(Uuid::from_u128(0x0193_3c5a_77a1_7abc_8def_0123_4567_89ab));
    let long = NodeRef { run, node: NodeId::new(Uuid::from_u128(2)) };
    let short_ack = AckId::compact_from_uuid(Uuid::from_u128(7));
    let long_ack = AckId::new(Uuid::from_u128(0x0193_3c5a_77a1_7abc_8def_0123_4567_89ac));
    let cases = [(sample_node(), short_ack), (long, long_ack)];
    let today: Vec<String> = cases
        .iter()
        .flat_map(|(node_ref, ack)| {
            let ack = AttemptRef { node_ref: *node_ref, ack: *ack };
            [encode_state_token(ID, &KEY, *node_ref), encode_ack_token(ID, &KEY, ack)]
        })
        .collect();
    let stored: Vec<&str> = VERSION_1.lines().collect();
    assert_eq!(today, stored);
    for (tokens, (node_ref, ack)) in stored.chunks(2).zip(cases) {
        let state = decode_token(TokenParameter::State, tokens[0]).unwrap();
        assert!(state.is_signed_by(ID, &KEY));
        assert_eq!(state.decode_node_ref(), node_ref);
        let acked = decode_token(TokenParameter::Ack, tokens[1]).unwrap();
        assert!(acked.is_signed_by(ID, &KEY));
        assert_eq!(acked.decode_attempt_ref(node_ref), Ok(AttemptRef { node_ref, ack }));
    }
}
