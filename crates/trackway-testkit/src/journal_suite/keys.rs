//! Keys: replaced as a whole, by one writer at a time, and noticed by every process.

use std::sync::Arc;

use futures_util::future::join_all;
use trackway_ports::{KeyDocumentName, KeyRevision, KeyStore, KeyStoreError};

use super::StoreUnderTest;

const NAME: KeyDocumentName = KeyDocumentName::TokenKeys;
const OTHER_NAME: KeyDocumentName = KeyDocumentName::ApiKeys;
const WRITERS: u8 = 16;

async fn load_bytes(keys: &Arc<dyn KeyStore>) -> Vec<u8> {
    keys.load(NAME).await.unwrap().unwrap().bytes
}

/// Proves X3: a document is there for the next process, and documents do not mix.
pub async fn a_key_document_reads_back<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let keys = store.open_keys().await;
    assert_eq!((keys.load(NAME).await.unwrap(), keys.revision(NAME).await.unwrap()), (None, None));
    let revision = keys.replace(NAME, None, b"xyzzy".to_vec()).await.unwrap();
    let next = store.open_keys().await;
    for keys in [keys, next] {
        let document = keys.load(NAME).await.unwrap().unwrap();
        assert_eq!((document.bytes.as_slice(), document.revision), (&b"xyzzy"[..], revision));
        assert_eq!(keys.revision(NAME).await.unwrap(), Some(revision));
        assert_eq!(keys.load(OTHER_NAME).await.unwrap(), None);
        assert!(!format!("{document:?}").contains("xyzzy") && !format!("{keys:?}").contains("xyzzy"));
    }
}

pub async fn a_stale_revision_replaces_nothing<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let keys = store.open_keys().await;
    let absent = keys.replace(NAME, Some(KeyRevision([7; 32])), b"zero".to_vec()).await;
    assert_eq!(absent, Err(KeyStoreError::Conflict));
    assert_eq!(keys.load(NAME).await.unwrap(), None);
    let first = keys.replace(NAME, None, b"one".to_vec()).await.unwrap();
    let second = store.open_keys().await.replace(NAME, Some(first), b"two".to_vec()).await.unwrap();
    assert_ne!(first, second);
    for stale in [None, Some(first)] {
        let refused = keys.replace(NAME, stale, b"three".to_vec()).await;
        assert_eq!(refused, Err(KeyStoreError::Conflict));
    }
    assert_eq!(load_bytes(&keys).await, b"two");
    keys.replace(NAME, Some(second), b"three".to_vec()).await.unwrap();
}

/// Proves T2: of many processes that change the keys at once, one wins each revision.
pub async fn one_replacement_wins_each_revision<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let openings = join_all((0..WRITERS).map(|_| store.open_keys())).await;
    let mut revision = None;
    for round in 0..4 {
        let writers = (0..WRITERS).zip(&openings).map(|(writer, keys)| {
            let keys = keys.clone();
            tokio::spawn(async move { keys.replace(NAME, revision, vec![round, writer]).await })
        });
        let mut winner = None;
        for (writer, ended) in (0..WRITERS).zip(join_all(writers.collect::<Vec<_>>()).await) {
            match ended.unwrap() {
                Ok(revision) => assert_eq!(winner.replace((writer, revision)), None, "two have won"),
                Err(error) => assert_eq!(error, KeyStoreError::Conflict),
            }
        }
        let (writer, won) = winner.unwrap();
        assert_eq!(load_bytes(&openings[0]).await, [round, writer]);
        revision = Some(won);
    }
}

/// Proves X6: a change is noticed at the next look, however soon it follows the one before.
pub async fn every_change_of_keys_has_another_revision<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let (writer, reader) = (store.open_keys().await, store.open_keys().await);
    let mut revision = None;
    for round in 0..50_u8 {
        revision = Some(writer.replace(NAME, revision, vec![round]).await.unwrap());
        assert_eq!(reader.revision(NAME).await.unwrap(), revision);
        assert_eq!(load_bytes(&reader).await, [round]);
    }
}

pub async fn a_reader_sees_no_part_of_a_key_document<S: StoreUnderTest>() {
    const ROUNDS: u8 = 20;
    let store = S::create_empty().await;
    let (writer, reader) = (store.open_keys().await, store.open_keys().await);
    let write = |round: u8| vec![round; 10_000 * usize::from(round % 3 + 1)];
    let mut revision = writer.replace(NAME, None, write(0)).await.unwrap();
    let writing = tokio::spawn(async move {
        for round in 1..=ROUNDS {
            revision = writer.replace(NAME, Some(revision), write(round)).await.unwrap();
        }
    });
    let mut last = 0;
    while last < ROUNDS {
        let bytes = load_bytes(&reader).await;
        assert!(bytes[0] >= last, "an older document is back");
        last = bytes[0];
        assert!(bytes == write(last), "a part of document {last}");
    }
    writing.await.unwrap();
}

/// A caller that stops waiting leaves the old document or the new one, and nothing in the way.
pub async fn an_abandoned_replacement_is_whole_or_absent<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let keys = store.open_keys().await;
    let mut old = keys.replace(NAME, None, vec![0; 1000]).await.unwrap();
    for round in 1..20_u8 {
        let (abandoned, new) = (store.open_keys().await, vec![round; 1000]);
        let replacing = tokio::spawn(async move { abandoned.replace(NAME, Some(old), new).await });
        tokio::task::yield_now().await;
        replacing.abort();
        let _ = replacing.await;
        let found = load_bytes(&keys).await;
        assert!(found == [round - 1; 1000] || found == [round; 1000], "{:?}", &found[..1]);
        // The replacement may still be under way: then it is seen by the next attempt.
        old = loop {
            let found = keys.load(NAME).await.unwrap().unwrap().revision;
            match keys.replace(NAME, Some(found), vec![round; 1000]).await {
                Ok(revision) => break revision,
                Err(error) => assert_eq!(error, KeyStoreError::Conflict),
            }
        };
    }
}

pub async fn a_key_document_has_a_largest_size<S: StoreUnderTest>() {
    let store = S::create_empty().await;
    let keys = store.open_keys().await;
    let refused = keys.replace(NAME, None, vec![0; NAME.bytes_max() + 1]).await;
    assert_eq!(refused, Err(KeyStoreError::TooLarge));
    assert_eq!(keys.load(NAME).await.unwrap(), None);
    keys.replace(NAME, None, vec![0; NAME.bytes_max()]).await.unwrap();
    assert_eq!(load_bytes(&keys).await.len(), NAME.bytes_max());
}
