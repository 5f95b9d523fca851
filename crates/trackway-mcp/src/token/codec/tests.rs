//! Tokens as text: what is taken off, what is refused, and how that is told.

use proptest::prelude::*;

use super::*;

const KEY: Key = [7; 32];
const ID: KeyId = [1, 2];

fn place() -> Place {
    let run = RunId::compact(Uuid::from_u128(0x0193_3c5a_77a1_7abc_8def_0123_4567_89ab));
    Place { run, node: NodeId::at(run, 300).unwrap() }
}

fn token(param: Param) -> String {
    match param {
        Param::State => write_state(ID, &KEY, place()),
        Param::Ack => {
            let ack = AckId::compact(Uuid::from_u128(7));
            write_ack(ID, &KEY, Ack { place: place(), ack })
        }
    }
}

fn accepted(param: Param, text: &str) -> bool {
    read(param, text).is_ok_and(|token| token.key == ID && token.is_signed_by(ID, &KEY))
}

/// Proves T2: only letters, digits and points, so that nothing between here and the agent alters it.
#[test]
fn tokens_have_plain_characters_only() {
    for param in [Param::State, Param::Ack] {
        let token = token(param);
        assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'), "{token}");
        assert_eq!(token.len(), param.prefix().len() + param.body_chars()[0]);
        assert!(accepted(param, &token));
    }
}

/// Proves T2: both are at most half as long as the 91 and 118 characters that they had at first.
#[test]
fn tokens_are_short() {
    assert_eq!([Param::State, Param::Ack].map(|param| token(param).len()), [45, 41]);
}

/// Proves T5: an ack is good for its snapshot alone, and says what is wrong otherwise.
#[test]
fn an_ack_belongs_to_its_place() {
    let ack = read(Param::Ack, &token(Param::Ack)).unwrap();
    let Place { run, .. } = place();
    assert_eq!(ack.ack(place()).map(|ack| ack.place), Ok(place()));
    let other = Place { run, node: NodeId::at(run, 301).unwrap() };
    assert_eq!(ack.ack(other), Err(Fault::OtherSnapshot));
    let run = RunId::compact(Uuid::from_u128(1));
    let other = Place { run, node: NodeId::at(run, 300).unwrap() };
    assert_eq!(ack.ack(other), Err(Fault::OtherRun));
}

/// Proves T2: what a chat puts around a token is no part of it.
#[test]
fn what_stands_around_a_token_is_taken_off() {
    for param in [Param::State, Param::Ack] {
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

/// Proves T2: text glued to a token, or missing from it, is told as that.
#[test]
fn glued_text_is_malformed_with_a_hint() {
    let token = token(Param::State);
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
        match read(Param::State, &text) {
            Err(Fault::Malformed { hint: told }) => {
                assert!(told.contains(hint), "{text:?}: {told}")
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }
}

proptest! {
    /// Proves T2.
    #[test]
    fn what_was_written_is_read(run: u128, node: u128, ack: u128, id: KeyId, key: Key) {
        let id = key_id(id);
        let [run, node, ack] = [run, node, ack].map(Uuid::from_u128);
        let short = RunId::compact(run);
        let seq = u64::from(node.as_fields().0 & 0x00ff_ffff);
        let places = [
            Place { run: RunId::new(run), node: NodeId::new(node) },
            Place { run: short, node: NodeId::at(short, seq).unwrap() },
        ];
        for place in places {
            for ack in [AckId::new(ack), AckId::compact(ack)] {
                let ack = Ack { place, ack };
                let token = read(Param::Ack, &write_ack(id, &key, ack)).unwrap();
                prop_assert!(token.key == id && token.is_signed_by(id, &key));
                prop_assert_eq!(token.ack(place), Ok(ack));
            }
            let token = read(Param::State, &write_state(id, &key, place)).unwrap();
            prop_assert!(token.key == id && token.is_signed_by(id, &key));
            prop_assert_eq!(token.place(), place);
        }
    }

    /// Proves T2: no text makes it stumble, and none that we did not write is believed.
    #[test]
    fn garbage_is_never_believed(text in "\\PC{0,200}", body in "[0-9a-z.]{30,112}") {
        for param in [Param::State, Param::Ack] {
            prop_assert!(!accepted(param, &text));
            let glued = format!("{}{body}", param.prefix());
            prop_assert!(!accepted(param, &glued));
        }
    }
}
