//! Only the owner can read the files of a store.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use trackway_ports::Journal as _;
use trackway_sqlite::SqliteJournal;

use crate::helpers::*;

fn everything_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(everything_in(&path)),
            false => found.push(path),
        }
    }
    found
}

fn open_to_others(folder: &Path) -> Vec<PathBuf> {
    let mut found = everything_in(folder);
    found.retain(|path| fs::metadata(path).unwrap().permissions().mode() & 0o077 != 0);
    found
}

async fn write_something(folder: &Path) -> SqliteJournal {
    let journal = SqliteJournal::open(folder).unwrap();
    let large = event(&"x".repeat(100_000));
    let seq = count(&journal, run_id(1)).await as u64;
    append(&journal, appending(run_id(1), seq, [large, event("small")])).await.unwrap();
    journal
}

/// Proves X6.
#[tokio::test]
async fn a_new_store_is_its_owners_alone() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("deep").join("data");
    let journal = write_something(&folder).await;
    assert!(everything_in(&folder).len() > 4, "database, log, index and blob");
    assert_eq!(open_to_others(&folder), [] as [PathBuf; 0]);
    journal.close_store().await;
}

/// Proves X6: this includes a store that an earlier version left open to others.
#[tokio::test]
async fn an_old_store_is_taken_from_others_when_it_is_opened() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    write_something(&folder).await.close_store().await;
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let database = folder.join("trackway.db");
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let journal = write_something(&folder).await;
    assert_eq!(open_to_others(&folder), [] as [PathBuf; 0]);
    journal.close_store().await;
}
