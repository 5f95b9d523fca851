//! References: what they name, how long, and everything that is not one.

use std::sync::Mutex;

use trackway_domain::Object;
use trackway_ports::{ArtifactContent, ArtifactCursor, BlobHash};
use trackway_testkit::ManualClock;
use uuid::Uuid;

use super::*;

#[derive(Debug)]
struct FixedKeys(Mutex<Vec<ReferenceKey>>);

impl ReferenceKeys for FixedKeys {
    fn load_reference_keys(&self) -> PortFuture<'_, Vec<ReferenceKey>> {
        let keys = self.0.lock().unwrap().clone();
        Box::pin(async move { keys })
    }
}

fn key(name: &str, secret: Option<u8>) -> ReferenceKey {
    ReferenceKey { name: name.to_owned(), secret: secret.map(|byte| [byte; 32]) }
}

struct TestSigner {
    keys: Arc<FixedKeys>,
    clock: Arc<ManualClock>,
    signer: ReferenceSigner,
}

fn test_signer(keys: Vec<ReferenceKey>) -> TestSigner {
    let (keys, clock) = (Arc::new(FixedKeys(Mutex::new(keys))), Arc::new(ManualClock::default()));
    let base = Some("https://node.example/base/".to_owned());
    let signer = ReferenceSigner::new(keys.clone(), clock.clone(), base);
    TestSigner { keys, clock, signer }
}

fn stored(scope: ArtifactScope) -> StoredArtifact {
    StoredArtifact {
        owner: Caller::new("acme", "ann"),
        scope,
        filename: ArtifactFilename::new("über data.csv").unwrap(),
        version: 3,
        media_type: "text/csv".to_owned(),
        size_bytes: 2,
        sha256: None,
        created_at: Timestamp::from_millis(0),
        run: None,
        session: None,
        tags: Vec::new(),
        metadata: Object::new(),
        content: ArtifactContent::Blob(BlobHash([0; 32])),
        cursor: ArtifactCursor(1),
    }
}

/// Proves I10: a reference names exactly the version that it was made from, in every scope.
#[tokio::test]
async fn a_reference_names_one_version_of_its_owner() {
    let case = test_signer(vec![key("aa", Some(1))]);
    for scope in [
        ArtifactScope::Run(RunId::new(Uuid::from_u128(7))),
        ArtifactScope::Session(SessionId::new("s 1").unwrap()),
        ArtifactScope::User,
        ArtifactScope::Tenant,
    ] {
        let artifact = stored(scope);
        let token = case.signer.sign_artifact(&artifact).await.unwrap();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        assert!(token.chars().all(is_plain), "{token}");
        let named = case.signer.verify_reference(&token).await.unwrap();
        let access = Access::own_only(artifact.owner.clone());
        assert_eq!(named.access, access);
        let ArtifactLookup { filename, version, .. } = named.lookup.clone();
        assert_eq!((filename, version), (artifact.filename.clone(), Some(3)));
        assert_eq!(named.lookup.scopes().collect::<Vec<_>>(), std::slice::from_ref(&artifact.scope));
        let url = case.signer.sign_artifact_url(&artifact).await.unwrap();
        assert_eq!(url, format!("https://node.example/base/api/artifacts/signed/{token}"));
    }
    let unreachable = ReferenceSigner::new(case.keys.clone(), case.clock.clone(), None);
    assert_eq!(unreachable.sign_artifact_url(&stored(ArtifactScope::User)).await, None);
}

/// Proves I10: no changed reference is taken, wherever the change is.
#[tokio::test]
async fn every_change_of_one_character_is_noticed() {
    let case = test_signer(vec![key("aa", Some(1)), key("bb", Some(2))]);
    let token = case.signer.sign_artifact(&stored(ArtifactScope::User)).await.unwrap();
    for at in 0..token.len() {
        for to in ["a", "b", "A", "0", "_", "-", ".", "", "%", "="] {
            if !to.is_empty() && token[at..].starts_with(to) {
                continue;
            }
            let mut text = token.clone();
            text.replace_range(at..=at, to);
            let refused = case.signer.verify_reference(&text).await.unwrap_err();
            assert!(
                matches!(refused, SignedReferenceError::Changed | SignedReferenceError::Malformed),
                "{text}: {refused}"
            );
        }
    }
}

/// Proves X5, I10: whatever is not a reference of this server is refused with its reason.
#[tokio::test]
async fn other_texts_are_refused_with_their_reason() {
    let case = test_signer(vec![key("aa", Some(1))]);
    let token = case.signer.sign_artifact(&stored(ArtifactScope::User)).await.unwrap();
    for text in
        ["", ".", "art.v1", "art.v1...", "st.v1.abc", "art.v2.a.b.c", &token[1..], &format!("{token}.x")]
    {
        let refused = case.signer.verify_reference(text).await.unwrap_err();
        assert_ne!(refused, SignedReferenceError::Expired, "{text:?}");
    }
    let huge = format!("art.v1.aa.{}.AA", "A".repeat(10 * 1024 * 1024));
    assert_eq!(case.signer.verify_reference(&huge).await, Err(SignedReferenceError::Malformed));

    let other = test_signer(vec![key("cc", Some(3))]);
    assert_eq!(other.signer.verify_reference(&token).await, Err(SignedReferenceError::Foreign));

    // Signed by us, but not what this version writes.
    let sign = |claims: &str| {
        let claims = BASE64_URL_SAFE_NO_PAD.encode(claims);
        let mac = reference_mac(&[1; 32], "aa", &claims).finalize().into_bytes();
        format!("art.v1.aa.{claims}.{}", BASE64_URL_SAFE_NO_PAD.encode(mac))
    };
    for claims in [
        "{}",
        r#"{"tenant":"t","user":"u","scope":"session","filename":"a","version":0,"expires":9999999999999}"#,
        r#"{"tenant":"t","user":"u","scope":"user","filename":"../a","version":0,"expires":9999999999999}"#,
        r#"{"tenant":"t","user":"u","scope":"user","filename":"a","version":0,"expires":9999999999999,"max":1}"#,
    ] {
        let refused = case.signer.verify_reference(&sign(claims)).await;
        assert_eq!(refused, Err(SignedReferenceError::Malformed), "{claims}");
    }
}

/// Proves I10: a reference ends with its time, and with its key.
#[tokio::test]
async fn a_reference_expires() {
    let case = test_signer(vec![key("aa", Some(1))]);
    let token = case.signer.sign_artifact(&stored(ArtifactScope::User)).await.unwrap();
    case.clock.advance(REFERENCE_LIFETIME - Duration::from_millis(1));
    assert!(case.signer.verify_reference(&token).await.is_ok());
    case.clock.advance(Duration::from_millis(1));
    assert_eq!(case.signer.verify_reference(&token).await, Err(SignedReferenceError::Expired));

    let token = case.signer.sign_artifact(&stored(ArtifactScope::User)).await.unwrap();
    *case.keys.0.lock().unwrap() = vec![key("bb", Some(2)), key("aa", Some(1))];
    assert!(case.signer.verify_reference(&token).await.is_ok(), "an older key still counts");
    *case.keys.0.lock().unwrap() = vec![key("bb", Some(2)), key("aa", None)];
    assert_eq!(case.signer.verify_reference(&token).await, Err(SignedReferenceError::Expired));
    *case.keys.0.lock().unwrap() = vec![key("aa", None)];
    assert_eq!(case.signer.sign_artifact(&stored(ArtifactScope::User)).await, None);
}

#[test]
fn secrets_are_not_printed() {
    assert_eq!(format!("{:?}", key("aa", Some(1))), "ReferenceKey { name: \"aa\", .. }");
}
