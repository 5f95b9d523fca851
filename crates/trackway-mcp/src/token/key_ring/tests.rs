//! Keys: created once, rotated while other processes use them, and safe against forgery.

use std::{fs, path::Path};

use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};
use trackway_domain::{AckId, ErrorCode, NodeId, RunId};
use trackway_sqlite::FolderKeys;
use uuid::Uuid;

use super::*;

const DAY: i64 = 24 * 60 * 60 * 1000;

fn store(folder: &Path) -> Arc<dyn KeyStore> {
    Arc::new(FolderKeys::in_folder(folder))
}

async fn ring(folder: &Path) -> KeyRing {
    KeyRing::open(store(folder), Timestamp(0)).await.unwrap()
}

fn sample_node(node: u128) -> NodeRef {
    NodeRef { run: RunId::new(Uuid::from_u128(1)), node: NodeId::new(Uuid::from_u128(node)) }
}

fn ack(place: NodeRef) -> AttemptRef {
    AttemptRef { node_ref: place, ack: AckId::new(Uuid::from_u128(9)) }
}

fn codes(ring: &KeyRing, state: &str, ack: &str, at: NodeRef) -> [Option<ErrorCode>; 2] {
    let state = ring.verify_state_token(state).err().map(|error| error.code());
    [state, ring.verify_ack_token(ack, at).err().map(|error| error.code())]
}

/// Proves T2: no change of a single character is taken, wherever it is and whatever it becomes.
#[tokio::test]
async fn every_change_of_one_character_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path()).await;
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
                assert!(
                    matches!(code, ErrorCode::TokenChanged | ErrorCode::TokenMalformed),
                    "{text} at {at}: {code}"
                );
            }
        }
    }
}

/// Proves T2: each fault has its own code, and the same one in either token.
#[tokio::test]
async fn faults_have_codes_of_their_own() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ours, theirs) = (ring(here.path()).await, ring(there.path()).await);
    let tokens = |ring: &KeyRing, at: NodeRef| {
        let key = ring.active_key_name();
        (ring.sign_state_token(at, &key), ring.sign_ack_token(ack(at), &key))
    };
    let (state, acked) = tokens(&ours, sample_node(2));
    assert_eq!(codes(&ours, &state, &acked, sample_node(2)), [None, None]);
    assert_eq!(codes(&ours, &acked, &state, sample_node(2)), [Some(ErrorCode::TokenSwapped); 2]);
    let (foreign_state, foreign_ack) = tokens(&theirs, sample_node(2));
    assert_eq!(
        codes(&ours, &foreign_state, &foreign_ack, sample_node(2)),
        [Some(ErrorCode::TokenForeign); 2]
    );
    assert_eq!(codes(&ours, "st.v1.x", "ack.v1.x", sample_node(2)), [Some(ErrorCode::TokenMalformed); 2]);
    assert_eq!(
        ours.verify_ack_token(&acked, sample_node(3)).unwrap_err().code(),
        ErrorCode::AckOfOtherSnapshot
    );
    let other = NodeRef { run: RunId::new(Uuid::from_u128(8)), node: sample_node(2).node };
    let error = ours.verify_ack_token(&acked, other).unwrap_err();
    assert_eq!(error.code(), ErrorCode::AckOfOtherRun);
    assert!(error.to_string().starts_with("ackToken: "), "{error}");
    assert!(error.recovery_hint().contains("stateToken"));
}

/// Proves T2: a rotation is seen by processes that run, old tokens stay good, and retired ones expire.
#[tokio::test]
async fn running_processes_see_a_rotation() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path()).await;
    let first = ring.active_key_name();
    let (state, acked) =
        (ring.sign_state_token(sample_node(2), &first), ring.sign_ack_token(ack(sample_node(2)), &first));

    let rotated = KeyRing::rotate(store(folder.path()), Timestamp(DAY), None).await.unwrap();
    assert_eq!((rotated.valid, rotated.retired), (vec![first.clone()], vec![]));
    assert_eq!(ring.active_key_name(), first, "looked at once for each call");
    ring.ensure_key(&first).await;
    assert_eq!(ring.active_key_name(), first, "it is known");
    ring.ensure_key(&rotated.active).await;
    assert_eq!(ring.active_key_name(), rotated.active, "a key that is not known");
    ring.reload_if_changed().await;
    assert_eq!(ring.active_key_name(), rotated.active);
    assert_eq!(codes(&ring, &state, &acked, sample_node(2)), [None, None]);
    // The first answer is rendered again with the same bytes.
    assert_eq!(ring.sign_state_token(sample_node(2), &first), state);
    assert_ne!(ring.sign_state_token(sample_node(2), &rotated.active), state);

    let most = Some(Duration::from_secs(60 * 60 * 24));
    let early = KeyRing::rotate(store(folder.path()), Timestamp(DAY + DAY / 2), most).await.unwrap();
    assert!(early.retired.is_empty(), "it signed half a day ago");
    let late = KeyRing::rotate(store(folder.path()), Timestamp(2 * DAY), most).await.unwrap();
    assert_eq!(late.retired, std::slice::from_ref(&first));
    ring.reload_if_changed().await;
    assert_eq!(codes(&ring, &state, &acked, sample_node(2)), [Some(ErrorCode::TokenExpired); 2]);
    // No agent has a valid token of that time, so a replay is signed with the newest key.
    assert_eq!(
        ring.sign_state_token(sample_node(2), &first),
        ring.sign_state_token(sample_node(2), &ring.active_key_name())
    );
}

/// Proves T2: whoever comes at the same time ends with the same keys.
#[tokio::test(flavor = "multi_thread")]
async fn a_ring_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("new");
    let openings: Vec<_> = (0..8)
        .map(|_| {
            let data = data.clone();
            tokio::spawn(async move {
                let ring = ring(&data).await;
                (ring.active_key_name(), ring.bundle_signer().bundle_public_key())
            })
        })
        .collect();
    let mut made = Vec::new();
    for opening in openings {
        made.push(opening.await.unwrap());
    }
    assert!(made.iter().all(|ring| *ring == made[0]), "{made:?}");
}

/// Proves X6: only the owner can read the secrets, and nothing prints them.
#[cfg(unix)]
#[tokio::test]
async fn secrets_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path()).await;
    let file = folder.path().join("token-keys.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    KeyRing::rotate(store(folder.path()), Timestamp(1), None).await.unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    let secret = text.split("\"secret\": \"").nth(1).unwrap()[..64].to_owned();
    assert!(!format!("{ring:?}{:?}", ring.bundle_signer()).contains(&secret));
}

/// A file that is damaged while it is used ends nothing; one that is damaged at the start is told.
#[tokio::test]
async fn damaged_key_file_is_reported_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let running = ring(folder.path()).await;
    let token = running.sign_state_token(sample_node(2), &running.active_key_name());
    let file = folder.path().join("token-keys.json");
    for text in [
        "",
        "{",
        "{\"format\":2,\"keys\":[],\"bundleKey\":\"\"}",
        "{\"format\":1,\"keys\":[],\"bundleKey\":\"\"}",
    ] {
        fs::write(&file, text).unwrap();
        running.reload_if_changed().await;
        assert!(running.verify_state_token(&token).is_ok());
        let refused = KeyRing::open(store(folder.path()), Timestamp(0)).await.unwrap_err();
        assert!(matches!(refused, KeyRingError::Damaged { .. }), "{refused}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

/// Proves T2: keys that somebody deletes under a running process are written again, so that its tokens
/// outlive it; a process that has to make new ones knows that it did.
#[tokio::test]
async fn deleted_keys_are_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let running = ring(folder.path()).await;
    assert!(!running.has_replaced_lost_keys(), "there were none");
    let token = running.sign_state_token(sample_node(2), &running.active_key_name());
    let file = folder.path().join("token-keys.json");
    fs::remove_file(&file).unwrap();
    running.reload_if_changed().await;
    assert!(running.verify_state_token(&token).is_ok());
    let later = ring(folder.path()).await;
    assert!(later.verify_state_token(&token).is_ok(), "the file is there again");
    assert!(!later.has_replaced_lost_keys());
    // Another process was faster: its keys count, and the earlier tokens are foreign.
    fs::remove_file(&file).unwrap();
    let other = ring(folder.path()).await;
    assert!(other.has_replaced_lost_keys());
    running.reload_if_changed().await;
    assert_eq!(running.active_key_name(), other.active_key_name());
    assert_eq!(running.verify_state_token(&token).unwrap_err().code(), ErrorCode::TokenForeign);
}

/// Proves T12: a token is recognised by its hash, whichever key signed it.
#[tokio::test]
async fn tokens_are_recognised_by_their_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path()).await;
    let first = ring.active_key_name();
    let (state, acked) =
        (ring.sign_state_token(sample_node(2), &first), ring.sign_ack_token(ack(sample_node(2)), &first));
    KeyRing::rotate(store(folder.path()), Timestamp(1), None).await.unwrap();
    ring.reload_if_changed().await;
    let (states, acks) =
        (ring.state_token_hashes(sample_node(2)), ring.ack_token_hashes(ack(sample_node(2))));
    assert_eq!((states.len(), acks.len()), (2, 2));
    assert_eq!((&states[1], &acks[1]), (&token_hash(&state), &token_hash(&acked)));
    assert!(!ring.state_token_hashes(sample_node(3)).contains(&states[1]));
}

/// A bundle's signature can be checked by anybody who has the public key.
#[tokio::test]
async fn bundles_are_signed() {
    let folder = tempfile::tempdir().unwrap();
    let signer = ring(folder.path()).await.bundle_signer();
    let public = VerifyingKey::from_bytes(&signer.bundle_public_key()).unwrap();
    let signature = Signature::from_bytes(&signer.sign_bundle_bytes(b"a bundle"));
    assert!(public.verify(b"a bundle", &signature).is_ok());
    assert!(public.verify(b"another", &signature).is_err());
    assert_eq!(ring(folder.path()).await.bundle_signer().bundle_public_key(), signer.bundle_public_key());
}

/// Keys for another purpose follow the keys for tokens: a new one signs, an old one stays until it is retired.
#[tokio::test]
async fn keys_for_a_purpose_are_rotated_with_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let ring = ring(folder.path()).await;
    let before = ring.derive_rotated_keys(b"one");
    assert_eq!((before.len(), &before[0].name), (1, &ring.active_key_name()));
    assert_ne!(before[0].secret, ring.derive_rotated_keys(b"two")[0].secret);
    let retire_all = Some(Duration::ZERO);
    KeyRing::rotate(store(folder.path()), Timestamp(1), None).await.unwrap();
    ring.reload_if_changed().await;
    let after = ring.derive_rotated_keys(b"one");
    assert_eq!((&after[0].name, &after[1]), (&ring.active_key_name(), &before[0]));
    KeyRing::rotate(store(folder.path()), Timestamp(2), retire_all).await.unwrap();
    ring.reload_if_changed().await;
    let usable: Vec<bool> = ring.derive_rotated_keys(b"one").iter().map(|key| key.secret.is_some()).collect();
    assert_eq!(usable, [true, false, false]);
    assert!(!format!("{after:?}").contains("secret"));
}
