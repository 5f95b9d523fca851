//! Keys: created once, rotated while other processes use them, and safe against forgery.

use std::{
    fs,
    sync::{Arc, Barrier},
    thread,
};

use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};
use trackway_domain::{AckId, Code, NodeId, RunId};
use uuid::Uuid;

use super::*;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn ring(folder: &Path) -> KeyRing {
    KeyRing::open(folder, Timestamp(0)).unwrap()
}

fn sample_node(node: u128) -> NodeRef {
    NodeRef { run: RunId::new(Uuid::from_u128(1)), node: NodeId::new(Uuid::from_u128(node)) }
}

fn ack(place: NodeRef) -> AttemptRef {
    AttemptRef { node_ref: place, ack: AckId::new(Uuid::from_u128(9)) }
}

fn codes(ring: &KeyRing, state: &str, ack: &str, at: NodeRef) -> [Option<Code>; 2] {
    let state = ring.verify_state_token(state).err().map(|error| error.code());
    [state, ring.verify_ack_token(ack, at).err().map(|error| error.code())]
}

/// Proves T2: a token with one changed character is refused, whatever the position and the new character.
#[test]
fn every_change_of_one_character_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path());
    let key = ring.active_key_name();
    let (state, acked) =
        (ring.sign_state_token(sample_node(2), &key), ring.sign_ack_token(ack(sample_node(2)), &key));
    for (param, token) in [(TokenParameter::State, state), (TokenParameter::Ack, acked)] {
        for at in 0..token.len() {
            for to in "0123456789abcdefghijklmnopqrstuvwxyzABCXYZ.-_ `".chars() {
                if token[at..].starts_with(to) {
                    continue;
                }
                let mut text = token.clone();
                text.replace_range(at..=at, to.encode_utf8(&mut [0; 4]));
                let error = match param {
                    TokenParameter::State => ring.verify_state_token(&text).map(drop),
                    TokenParameter::Ack => ring.verify_ack_token(&text, sample_node(2)).map(drop),
                };
                let error = error.unwrap_err();
                assert_eq!(error.param, param);
                let code = error.code();
                assert!(matches!(code, Code::TokenChanged | Code::TokenMalformed), "{text} at {at}: {code}");
            }
        }
    }
}

/// Proves T2: each problem has its own code, the same in either token.
#[test]
fn faults_have_codes_of_their_own() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ours, theirs) = (ring(here.path()), ring(there.path()));
    let tokens = |ring: &KeyRing, at: NodeRef| {
        let key = ring.active_key_name();
        (ring.sign_state_token(at, &key), ring.sign_ack_token(ack(at), &key))
    };
    let (state, acked) = tokens(&ours, sample_node(2));
    assert_eq!(codes(&ours, &state, &acked, sample_node(2)), [None, None]);
    assert_eq!(codes(&ours, &acked, &state, sample_node(2)), [Some(Code::TokenSwapped); 2]);
    let (foreign_state, foreign_ack) = tokens(&theirs, sample_node(2));
    assert_eq!(codes(&ours, &foreign_state, &foreign_ack, sample_node(2)), [Some(Code::TokenForeign); 2]);
    assert_eq!(codes(&ours, "st.v1.x", "ack.v1.x", sample_node(2)), [Some(Code::TokenMalformed); 2]);
    assert_eq!(ours.verify_ack_token(&acked, sample_node(3)).unwrap_err().code(), Code::AckOfOtherSnapshot);
    let other = NodeRef { run: RunId::new(Uuid::from_u128(8)), node: sample_node(2).node };
    let error = ours.verify_ack_token(&acked, other).unwrap_err();
    assert_eq!(error.code(), Code::AckOfOtherRun);
    assert!(error.to_string().starts_with("ackToken: "), "{error}");
    assert!(error.next_step().contains("stateToken"));
}

/// Proves T2: running processes see a rotation, old tokens stay valid, and retired ones expire.
#[test]
fn running_processes_see_a_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path());
    let first = ring.active_key_name();
    let (state, acked) =
        (ring.sign_state_token(sample_node(2), &first), ring.sign_ack_token(ack(sample_node(2)), &first));

    let rotated = KeyRing::rotate(folder.path(), Timestamp(DAY), None).unwrap();
    assert_eq!((rotated.valid, rotated.retired), (vec![first.clone()], vec![]));
    assert_eq!(ring.active_key_name(), first, "looked at once for each call");
    assert_ne!(ring.sign_state_token(sample_node(2), &rotated.active), state, "a key that is not known");
    ring.reload_if_changed();
    assert_eq!(ring.active_key_name(), rotated.active);
    assert_eq!(codes(&ring, &state, &acked, sample_node(2)), [None, None]);
    // The first answer is rendered again with the same bytes.
    assert_eq!(ring.sign_state_token(sample_node(2), &first), state);
    assert_ne!(ring.sign_state_token(sample_node(2), &rotated.active), state);

    let most = Some(Duration::from_secs(60 * 60 * 24));
    let early = KeyRing::rotate(folder.path(), Timestamp(DAY + DAY / 2), most).unwrap();
    assert!(early.retired.is_empty(), "it signed half a day ago");
    let late = KeyRing::rotate(folder.path(), Timestamp(2 * DAY), most).unwrap();
    assert_eq!(late.retired, std::slice::from_ref(&first));
    ring.reload_if_changed();
    assert_eq!(codes(&ring, &state, &acked, sample_node(2)), [Some(Code::TokenExpired); 2]);
    // No agent has a valid token of that time, so a replay is signed with the newest key.
    assert_eq!(
        ring.sign_state_token(sample_node(2), &first),
        ring.sign_state_token(sample_node(2), &ring.active_key_name())
    );
}

/// Proves T2: processes that start at the same time end with the same keys.
#[test]
fn a_ring_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new");
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (data, barrier) = (data.clone(), barrier.clone());
            thread::spawn(move || {
                barrier.wait();
                let ring = ring(&data);
                (ring.active_key_name(), ring.bundle_signer().public_key())
            })
        })
        .collect();
    let made: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(made.iter().all(|ring| *ring == made[0]), "{made:?}");
}

/// Proves X6: only the owner can read the secrets, and nothing prints them.
#[cfg(unix)]
#[test]
fn secrets_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path());
    let file = folder.path().join("token-keys.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    KeyRing::rotate(folder.path(), Timestamp(1), None).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    let secret = text.split("\"secret\": \"").nth(1).unwrap()[..64].to_owned();
    assert!(!format!("{ring:?}{:?}", ring.bundle_signer()).contains(&secret));
}

/// Proves T5, X6: keys that other users can access are reported.
#[cfg(unix)]
#[test]
fn exposed_keys_are_noticed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    ring(folder.path());
    let file = TokenKeyFile::in_folder(folder.path());
    assert_eq!(file.find_exposed_mode(), None);
    let path = folder.path().join("token-keys.json");
    for (mode, is_exposed) in [(0o640, true), (0o604, true), (0o602, true), (0o400, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let expected = is_exposed.then(|| ExposedKeyFile { path: path.clone(), mode });
        assert_eq!(file.find_exposed_mode(), expected, "{mode:03o}");
        // They are still used.
        ring(folder.path());
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    KeyRing::rotate(folder.path(), Timestamp(1), None).unwrap();
    assert_eq!(file.find_exposed_mode(), None, "a rotation writes a file of its own");
}

/// A file that is damaged while in use ends nothing; one that is damaged at the start is reported.
#[test]
fn damaged_key_file_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let running = ring(folder.path());
    let token = running.sign_state_token(sample_node(2), &running.active_key_name());
    let file = folder.path().join("token-keys.json");
    for text in [
        "",
        "{",
        "{\"format\":2,\"keys\":[],\"bundleKey\":\"\"}",
        "{\"format\":1,\"keys\":[],\"bundleKey\":\"\"}",
    ] {
        fs::write(&file, text).unwrap();
        running.reload_if_changed();
        assert!(running.verify_state_token(&token).is_ok());
        let refused = KeyRing::open(folder.path(), Timestamp(0)).unwrap_err();
        assert!(matches!(refused, KeyRingError::Damaged { .. }), "{refused}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

/// Proves T2: keys that are deleted under a running process are written again, so that its tokens outlive
/// it. A process that has to create new keys knows that it did.
#[test]
fn deleted_keys_are_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let running = ring(folder.path());
    assert!(!running.replaces_lost_keys(), "there were none");
    let token = running.sign_state_token(sample_node(2), &running.active_key_name());
    let file = folder.path().join("token-keys.json");
    fs::remove_file(&file).unwrap();
    running.reload_if_changed();
    assert!(running.verify_state_token(&token).is_ok());
    let later = ring(folder.path());
    assert!(later.verify_state_token(&token).is_ok(), "the file is there again");
    assert!(!later.replaces_lost_keys());
    // Another process was faster: its keys count, and the earlier tokens are foreign.
    fs::remove_file(&file).unwrap();
    let other = ring(folder.path());
    assert!(other.replaces_lost_keys());
    running.reload_if_changed();
    assert_eq!(running.active_key_name(), other.active_key_name());
    assert_eq!(running.verify_state_token(&token).unwrap_err().code(), Code::TokenForeign);
}

/// Proves T12: a token is recognised by its hash, whatever key signed it.
#[test]
fn tokens_are_recognised_by_their_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path());
    let first = ring.active_key_name();
    let (state, acked) =
        (ring.sign_state_token(sample_node(2), &first), ring.sign_ack_token(ack(sample_node(2)), &first));
    KeyRing::rotate(folder.path(), Timestamp(1), None).unwrap();
    ring.reload_if_changed();
    let (states, acks) =
        (ring.state_token_hashes(sample_node(2)), ring.ack_token_hashes(ack(sample_node(2))));
    assert_eq!((states.len(), acks.len()), (2, 2));
    assert_eq!((&states[1], &acks[1]), (&token_hash(&state), &token_hash(&acked)));
    assert!(!ring.state_token_hashes(sample_node(3)).contains(&states[1]));
}

/// Anyone with the public key can check the signature of a bundle.
#[test]
fn bundles_are_signed() {
    let folder = tempfile::tempdir().unwrap();
    let signer = ring(folder.path()).bundle_signer();
    let public = VerifyingKey::from_bytes(&signer.public_key()).unwrap();
    let signature = Signature::from_bytes(&signer.sign(b"a bundle"));
    assert!(public.verify(b"a bundle", &signature).is_ok());
    assert!(public.verify(b"another", &signature).is_err());
    assert_eq!(ring(folder.path()).bundle_signer().public_key(), signer.public_key());
}
