//! The stored document: its format, and what is refused.

use trackway_sqlite::FolderKeys;

use super::*;

/// The document of format 1. Change it only together with docs/formats.md.
const GOLDEN: &str = include_str!("tests/peers-format-1.json");

fn peer() -> AddedPeer {
    AddedPeer {
        name: PeerName::new("orders").unwrap(),
        url: "https://orders.example".to_owned(),
        tenant: "acme".to_owned(),
        added_by: "ann".to_owned(),
        added_at: Timestamp::from_millis(1_700_000_000_000),
        credentials: PeerCredentials {
            key: Some("a key".to_owned()),
            headers: BTreeMap::from([("X-Team".to_owned(), "a".to_owned())]),
        },
    }
}

async fn put(peers: &AddedPeers, peer: AddedPeer) -> Result<(), PeerError> {
    let change = |rows: &mut Vec<AddedPeer>| {
        rows.push(peer.clone());
        Ok(((), DocumentChange::Changed))
    };
    peers.update(change).await
}

/// Proves I1 and X2: what was added is read back, and an older file stays readable.
#[tokio::test]
async fn document_has_the_golden_form() {
    let folder = tempfile::tempdir().unwrap();
    let peers = AddedPeers::in_store(Arc::new(FolderKeys::in_folder(folder.path())));
    assert_eq!(peers.load().await.unwrap(), []);
    let plain =
        AddedPeer { credentials: PeerCredentials::default(), tenant: "umbrella".to_owned(), ..peer() };
    put(&peers, peer()).await.unwrap();
    put(&peers, plain.clone()).await.unwrap();
    assert_eq!(peers.load().await.unwrap(), [peer(), plain]);
    let written = std::fs::read_to_string(folder.path().join("peers.json")).unwrap();
    assert_eq!(written.trim_end(), GOLDEN.trim_end());
}

/// Proves X5: a document that cannot be read is neither guessed nor overwritten.
#[tokio::test]
async fn damaged_document_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let peers = AddedPeers::in_store(Arc::new(FolderKeys::in_folder(folder.path())));
    for damaged in ["", "[]", "{\"format\":2,\"peers\":[]}", "{\"format\":1,\"peers\":[{\"name\":1}]}"] {
        let file = folder.path().join("peers.json");
        std::fs::write(&file, damaged).unwrap();
        let error = peers.load().await.unwrap_err();
        assert!(matches!(error, AddedPeersError::Damaged { .. }), "{damaged}: {error}");
        assert_eq!(error.code(), ErrorCode::StoreFailed);
        put(&peers, peer()).await.unwrap_err();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), damaged);
    }
}

/// Proves X2: of many writers at once none is lost.
#[tokio::test]
async fn parallel_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let peers = AddedPeers::in_store(Arc::new(FolderKeys::in_folder(folder.path())));
    let writers = (0..16).map(|number| {
        let (peers, url) = (peers.clone(), format!("http://peer-{number}"));
        async move { put(&peers, AddedPeer { url, ..peer() }).await }
    });
    futures_util::future::try_join_all(writers).await.unwrap();
    assert_eq!(peers.load().await.unwrap().len(), 16);
}
