//! Tokens as text: what is taken off, what is refused, and how that is told.

use proptest::prelude::*;

use super::*;

const KEY: Key = [7; 32];
const ID: KeyId = [1, 2, 3, 4, 5];

fn token(param: Param) -> String {
    let ids: Vec<Uuid> = (1..=param.ids() as u128).map(Uuid::from_u128).collect();
    write(param, ID, &KEY, &ids)
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
        assert_eq!(token.len(), param.prefix().len() + param.body_chars());
        assert!(accepted(param, &token));
    }
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
        let ids = [run, node, ack].map(Uuid::from_u128);
        let token = read(Param::Ack, &write(Param::Ack, id, &key, &ids)).unwrap();
        prop_assert!(token.is_signed_by(id, &key));
        let Ack { place, ack } = token.ack();
        prop_assert_eq!([place.run.uuid(), place.node.uuid(), ack.uuid()], ids);
        let token = read(Param::State, &write(Param::State, id, &key, &ids[..2])).unwrap();
        prop_assert!(token.is_signed_by(id, &key));
        prop_assert_eq!(token.place(), place);
    }

    /// Proves T2: no text makes it stumble, and none that we did not write is believed.
    #[test]
    fn garbage_is_never_believed(text in "\\PC{0,200}", body in "[0-9a-z.]{80,112}") {
        for param in [Param::State, Param::Ack] {
            prop_assert!(!accepted(param, &text));
            let glued = format!("{}{body}", param.prefix());
            prop_assert!(!accepted(param, &glued));
        }
    }
}
