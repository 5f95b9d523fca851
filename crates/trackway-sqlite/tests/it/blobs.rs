//! Blobs in the folder.

use std::fs;

use trackway_ports::{Blobs as _, Journal as _, ReadError};
use trackway_sqlite::FolderBlobStore;

use crate::helpers::*;

/// Proves X2.
#[tokio::test]
async fn a_blob_reads_back_and_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FolderBlobStore::open_or_create_blob_folder(folder.path()).unwrap();
    let hash = blobs.store_blob(b"abc".to_vec()).await.unwrap();
    assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(blobs.store_blob(b"abc".to_vec()).await.unwrap(), hash);
    assert_eq!(blobs.load_blob(hash).await.unwrap(), b"abc");
    assert_eq!(fs::read_dir(folder.path().join("blobs")).unwrap().count(), 1);
    let empty = blobs.store_blob(Vec::new()).await.unwrap();
    assert_eq!(blobs.load_blob(empty).await.unwrap(), b"");
}

/// Proves X2: damaged bytes are never returned, and a writer that still has the content repairs
/// them.
#[tokio::test]
async fn a_damaged_blob_is_reported_and_mended() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = FolderBlobStore::open_or_create_blob_folder(folder.path()).unwrap();
    let hash = blobs.store_blob(b"content".to_vec()).await.unwrap();
    let path = folder.path().join("blobs").join(hash.to_string());
    fs::write(&path, b"cont3nt").unwrap();
    let error = blobs.load_blob(hash).await.unwrap_err();
    assert!(matches!(error, ReadError::DamagedBlob { .. }), "{error}");

    blobs.store_blob(b"content".to_vec()).await.unwrap();
    assert_eq!(blobs.load_blob(hash).await.unwrap(), b"content");
    fs::remove_file(&path).unwrap();
    let error = blobs.load_blob(hash).await.unwrap_err();
    assert!(matches!(error, ReadError::DamagedBlob { .. }), "{error}");
}

/// Proves X2: only a body that is too large for a row becomes a file, and the file is complete.
#[tokio::test]
async fn large_events_lie_in_files_by_their_hash() {
    let (folder, journal) = fresh_store();
    let large = "x".repeat(100_000);
    let events = [event("small"), event(&large), event(&large)];
    append(&journal, appending(run_id(1), 0, events)).await.unwrap();
    let rows: Vec<(bool, Option<String>)> = database(folder.path())
        .prepare("SELECT body IS NULL, blob FROM events ORDER BY pos")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(rows[0], (false, None));
    let (is_null, Some(name)) = &rows[1] else {
        panic!("a blob was expected: {rows:?}");
    };
    assert!(is_null);
    assert_eq!(rows[1], rows[2]);
    let files = fs::read_dir(folder.path().join("blobs")).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, [name.as_str()]);

    // A lost file damages only the events that are stored in it.
    fs::remove_file(folder.path().join("blobs").join(name)).unwrap();
    assert_eq!(count(&journal, run_id(1)).await, 1);
    let error = journal.list_events(run_id(1), 1, 10).await.unwrap_err();
    assert!(matches!(error, ReadError::Damaged { seq: 2, .. }), "{error}");
}
