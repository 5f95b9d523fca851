//! Sessions moved from one folder to another.

use serde_json::Value;
use trackway_domain::{Caller, ErrorCode};
use trackway_testkit::{GuidedRunBuilder, list_runs_to_drive};

use super::session_store::{SessionStore, ticket_session};
use crate::{
    BundleError, SessionDetail, SessionGraph, SessionsError, SessionsReader, public_key_fingerprint,
};

async fn import_error(store: &SessionStore, file: &[u8]) -> BundleError {
    match store.sessions().import_bundle(file, None).await {
        Err(SessionsError::Bundle(why)) => why,
        other => panic!("{other:?}"),
    }
}

async fn session_snapshot(store: &SessionStore) -> (SessionDetail, SessionGraph, String) {
    let view = store.sessions().load_session(&ticket_session()).await.unwrap();
    let page = store.sessions().render_session_markdown(&ticket_session()).await.unwrap();
    (SessionDetail::from(&view), SessionGraph::from(&view), page)
}

/// Proves T16.
#[tokio::test]
async fn an_import_gives_the_same_lineage_and_documents() {
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let bundle = origin.bundle().await;
    assert_eq!(bundle, origin.bundle().await, "the same session gives the same file");
    let done = other.sessions().import_bundle(bundle.as_bytes(), None).await.unwrap();
    assert_eq!((done.imported.len(), done.skipped.len()), (3, 0));
    assert_eq!(done.signed_by, public_key_fingerprint(&origin.public_key()));
    assert_eq!(session_snapshot(&other).await, session_snapshot(&origin).await);
    let pinned = GuidedRunBuilder::new_guided_run(1, "ticket-7", "review").to_append().pins.remove(0);
    assert_eq!(other.journal.find_pinned_definition(pinned.hash).await.unwrap(), Some(pinned.body));
    // Nothing in the new folder is driven, and a node is found as if it had been made there.
    assert!(list_runs_to_drive(&*other.journal).await.is_empty());
    let trail = &super::session_store::sample_histories()[0];
    let node = other.journal.find_node(trail.run_id(), trail.node_id("c")).await.unwrap().unwrap();
    assert_eq!(node.branch_count, 1);

    let again = other.sessions().import_bundle(bundle.as_bytes(), None).await.unwrap();
    assert_eq!((again.imported.len(), again.skipped.len()), (0, 3), "twice is fine");
    let onwards = other.bundle().await;
    let third = SessionStore::empty().await;
    third.sessions().import_bundle(onwards.as_bytes(), None).await.unwrap();
    assert_eq!(session_snapshot(&third).await, session_snapshot(&origin).await, "and so is a third folder");
}

/// Proves T16: nothing that would allow another folder to continue the run leaves the folder.
#[tokio::test]
async fn a_bundle_holds_no_tokens_and_no_keys() {
    let place = SessionStore::with_session().await;
    let bundle = place.bundle().await;
    let keys = std::fs::read_to_string(place.folder.path().join("token-keys.json")).unwrap();
    let keys: Value = serde_json::from_str(&keys).unwrap();
    let mut secrets = Vec::new();
    collect_long_strings(&keys, &mut secrets);
    assert!(secrets.len() >= 2, "{keys}");
    for secret in secrets {
        assert!(!bundle.contains(&secret), "a key is in the bundle");
    }
    for token in ["st.v1.", "ack.v1."] {
        assert!(!bundle.contains(token));
    }
}

/// Every long text in a value.
fn collect_long_strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= 32 => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect_long_strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect_long_strings(item, found)),
        _ => {}
    }
}

/// Proves T16: if any byte is changed, the bundle is refused and nothing is written.
#[tokio::test]
async fn a_flipped_byte_anywhere_is_refused() {
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let bundle = origin.bundle().await.into_bytes();
    // A stride that divides nothing in the file, and all bytes of its end, where the signature is.
    let places = (0..bundle.len()).step_by(7).chain(bundle.len() - 400..bundle.len());
    for place in places {
        for flip in [0x01, 0x20, 0x80] {
            let mut damaged = bundle.clone();
            damaged[place] ^= flip;
            let outcome = other.sessions().import_bundle(&damaged, None).await;
            assert!(
                matches!(outcome, Err(SessionsError::Bundle(_))),
                "byte {place} ^ {flip:#x}: {outcome:?}"
            );
        }
    }
    for length in (0..bundle.len()).step_by(101) {
        import_error(&other, &bundle[..length]).await;
    }
    assert!(other.sessions().list_sessions(10).await.unwrap().is_empty());
}

/// Proves T16: the reason says what is wrong.
#[tokio::test]
async fn a_refusal_says_why() {
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let bundle = origin.bundle().await;
    let not_one = |why: BundleError| assert!(matches!(why, BundleError::NotABundle { .. }), "{why}");
    not_one(import_error(&other, b"").await);
    not_one(import_error(&other, b"{}").await);
    not_one(import_error(&other, b"\xff\xfe").await);
    not_one(import_error(&other, b"[1]").await);
    let newer = bundle.replacen("\"trackway-session\": 1", "\"trackway-session\": 2", 1);
    assert_eq!(import_error(&other, newer.as_bytes()).await, BundleError::Version { found: 2 });
    let compact = serde_json::from_str::<Value>(&bundle).unwrap().to_string();
    assert_eq!(import_error(&other, compact.as_bytes()).await, BundleError::Rewritten);
    let changed = bundle.replacen("second way", "another way", 1);
    assert_eq!(import_error(&other, changed.as_bytes()).await, BundleError::DigestMismatch);
    let (mine, theirs) = (origin.public_key(), other.public_key());
    let hex = |key: [u8; 32]| key.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let claimed = bundle.replacen(&hex(mine), &hex(theirs), 1);
    assert_eq!(import_error(&other, claimed.as_bytes()).await, BundleError::Signature);
    for signer in [hex(theirs), public_key_fingerprint(&theirs)] {
        let signer = signer.parse().unwrap();
        let refused = other.sessions().import_bundle(bundle.as_bytes(), Some(&signer)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BadBundle);
        assert!(refused.to_string().contains(&public_key_fingerprint(&mine)), "{refused}");
    }
    for signer in [hex(mine), public_key_fingerprint(&mine)] {
        let signer = signer.parse().unwrap();
        other.sessions().import_bundle(bundle.as_bytes(), Some(&signer)).await.unwrap();
    }
}

/// Proves T16: a signed file that is not a valid session is refused too, without a panic.
#[tokio::test]
async fn a_signed_bundle_with_a_wrong_log_is_refused() {
    use crate::bundle::{BundledDefinition, BundledEvent, SessionBundle};
    type Change = fn(&mut SessionBundle);
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let good = SessionBundle::parse_and_verify_bundle(origin.bundle().await.as_bytes(), None).unwrap();
    let changes: Vec<(&str, Change)> = vec![
        ("no runs", |bundle| bundle.runs.clear()),
        ("no events", |bundle| bundle.runs[0].events.clear()),
        ("a gap", |bundle| drop(bundle.runs[0].events.remove(2))),
        ("an end that is not one", |bundle| {
            let last = bundle.runs[1].events.last().cloned().unwrap();
            bundle.runs[1].events.push(BundledEvent { seq: last.seq + 1, ..last });
        }),
        ("no submission", |bundle| bundle.runs[0].events[0].body = "\"started\"".to_owned()),
        ("another run's", |bundle| {
            bundle.runs[0].events[0].body = bundle.runs[1].events[0].body.clone();
        }),
        ("no event", |bundle| bundle.runs[0].events[1].body = "{}".to_owned()),
        ("a newer format", |bundle| bundle.runs[0].events[1].format = 99),
        ("a deep record", |bundle| {
            bundle.runs[0].events[1].body = "[".repeat(1_000_000);
        }),
        ("a run twice", |bundle| {
            let first = bundle.runs[0].clone();
            bundle.runs.push(first);
        }),
        ("a stranger's child", |bundle| {
            let first = &mut bundle.runs[0].events[0].body;
            let parent = r#"{"parent":"run_000000000000000000000000000000ff","#;
            *first = first.replacen(r#"{"run":"#, &format!(r#"{parent}"run":"#), 1);
        }),
        ("another definition", |bundle| bundle.definitions[0].body.push(' ')),
        ("no definition", |bundle| bundle.definitions.clear()),
        ("a definition too many", |bundle| {
            let body = "{}".to_owned();
            let hash = crate::bundle::sha256_hash_name(body.as_bytes());
            bundle.definitions.push(BundledDefinition { hash, body });
        }),
    ];
    for (case, change) in changes {
        let mut bad = good.clone();
        change(&mut bad);
        let SessionBundle { session_id, runs, definitions, .. } = bad;
        let text =
            SessionBundle::new_signed_bundle(session_id, runs, definitions, origin.public_key(), |bytes| {
                origin.sign(bytes)
            })
            .to_bundle_text();
        let outcome = other.sessions().import_bundle(text.as_bytes(), None).await;
        assert!(matches!(outcome, Err(SessionsError::Bundle(_))), "{case}: {outcome:?}");
    }
    assert!(other.sessions().list_sessions(10).await.unwrap().is_empty());
}

/// Proves T16: a run with the same id and other content is not overwritten, nor is another caller's run.
#[tokio::test]
async fn a_run_that_is_here_with_another_content_is_refused() {
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let bundle = origin.bundle().await;
    let own = GuidedRunBuilder::new_guided_run(2, "ticket-7", "deploy").open_node("a").advance_node("a", "b");
    own.append_to_journal(&*other.journal).await;
    let why = import_error(&other, bundle.as_bytes()).await;
    assert_eq!(
        why.to_string(),
        format!("{} cannot be taken: it is here already with another content", own.run_id())
    );
    let view = other.sessions().load_session(&ticket_session()).await.unwrap();
    assert_eq!(view.runs.len(), 1, "nothing of it was taken");

    let taken = SessionStore::with_session().await;
    let ada = taken.reader_for(Caller::new("acme", "ada"));
    let refused = ada.import_bundle(bundle.as_bytes(), None).await.unwrap_err();
    assert!(refused.to_string().contains("another caller"), "{refused}");
}

/// Proves T16: an imported session belongs to the caller that imports it.
#[tokio::test]
async fn an_import_belongs_to_its_caller() {
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let ada = other.reader_for(Caller::new("acme", "ada"));
    let bundle = origin.bundle().await;
    ada.import_bundle(bundle.as_bytes(), None).await.unwrap();
    assert_eq!(ada.load_session(&ticket_session()).await.unwrap().runs.len(), 2);
    assert!(other.sessions().load_session(&ticket_session()).await.is_err());
    assert_eq!(ada.import_bundle(bundle.as_bytes(), None).await.unwrap().skipped.len(), 3);
}

/// Ends the store's writer at one point.
#[derive(Debug)]
struct PanicAt(&'static str);

impl trackway_ports::FaultInjector for PanicAt {
    fn reach_fault_point(&self, point: &'static str) {
        assert!(point != self.0, "the injected fault");
    }
}

/// Proves T16: a crash during an import leaves all of the session or nothing, and a second import gives the
/// whole.
#[tokio::test]
async fn a_session_is_imported_whole_or_not_at_all() {
    let place = SessionStore::with_session().await;
    let bundle = place.bundle().await;
    let page = place.sessions().render_session_markdown(&ticket_session()).await.unwrap();
    for (point, skipped) in [("store:before-commit", 0), ("store:after-commit", 3)] {
        let folder = tempfile::tempdir().unwrap();
        let options = trackway_sqlite::SqliteOptions {
            faults: std::sync::Arc::new(PanicAt(point)),
            ..Default::default()
        };
        let dying = trackway_sqlite::SqliteJournal::open_with_options(folder.path(), options).unwrap();
        let reader = SessionsReader::for_local_caller(std::sync::Arc::new(dying));
        reader.import_bundle(bundle.as_bytes(), None).await.unwrap_err();
        reader.journal.close_store().await;

        let next = trackway_sqlite::SqliteJournal::open(folder.path()).unwrap();
        let reader = SessionsReader::for_local_caller(std::sync::Arc::new(next));
        assert_eq!(reader.load_session(&ticket_session()).await.is_ok(), skipped > 0, "{point}");
        let done = reader.import_bundle(bundle.as_bytes(), None).await.unwrap();
        assert_eq!((done.imported.len(), done.skipped.len()), (3 - skipped, skipped), "{point}");
        assert_eq!(reader.render_session_markdown(&ticket_session()).await.unwrap(), page);
    }
}

/// Proves T16: a bundle of version 1, which somebody keeps, is imported, and today's export has its form.
#[tokio::test]
async fn a_bundle_of_version_1_is_readable_and_unchanged() {
    const VERSION_1: &str = include_str!("bundle-version-1.json");
    let (origin, other) = (SessionStore::with_session().await, SessionStore::empty().await);
    let done = other.sessions().import_bundle(VERSION_1.as_bytes(), None).await.unwrap();
    assert_eq!((done.imported.len(), done.skipped.len()), (3, 0));
    assert_eq!(session_snapshot(&other).await, session_snapshot(&origin).await);
    // The folder that exported it had another key.
    let without_signature = |text: &str| {
        let mut bundle: Value = serde_json::from_str(text).unwrap();
        let signature = bundle.as_object_mut().unwrap().remove("signature").unwrap();
        assert_eq!(signature["algorithm"], "ed25519");
        bundle
    };
    let today = origin.bundle().await;
    assert_eq!(without_signature(&today), without_signature(VERSION_1));
}
