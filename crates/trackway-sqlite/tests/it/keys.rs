//! Keys in a folder: a kill leaves a whole file, and nobody but its owner can read it.

use std::{fs, sync::Arc};

use trackway_ports::{FaultInjector, KeyDocumentName, KeyStore as _, KeyStoreError};
use trackway_sqlite::FolderKeys;

const NAME: KeyDocumentName = KeyDocumentName::TokenKeys;

/// Ends the work at this point, as a kill would.
#[derive(Debug)]
struct KilledAt(&'static str);

impl FaultInjector for KilledAt {
    fn reach_fault_point(&self, point: &'static str) {
        assert!(point != self.0, "killed at {point}");
    }
}

/// Proves X5: a kill leaves the old file or the new one, and the next replacement succeeds.
#[tokio::test]
async fn a_kill_leaves_the_old_or_the_new_keys() {
    for (point, left) in [("keys.written", "old"), ("keys.replaced", "new")] {
        let folder = tempfile::tempdir().unwrap();
        let keys = FolderKeys::in_folder(folder.path());
        let old = keys.replace(NAME, None, b"old".to_vec()).await.unwrap();
        let killed = FolderKeys::with_faults(folder.path(), Arc::new(KilledAt(point)));
        let ended = killed.replace(NAME, Some(old), b"new".to_vec()).await;
        assert!(matches!(ended, Err(KeyStoreError::Unknown { .. })), "{ended:?}");
        let found = keys.load(NAME).await.unwrap().unwrap();
        assert_eq!(found.bytes, left.as_bytes(), "{point}");
        keys.replace(NAME, Some(found.revision), b"next".to_vec()).await.unwrap();
        assert_eq!(keys.load(NAME).await.unwrap().unwrap().bytes, b"next");
    }
}

/// Proves T5, X6: keys that others can get at are noticed, and a replacement ends that.
#[cfg(unix)]
#[tokio::test]
async fn exposed_keys_are_noticed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let keys = FolderKeys::in_folder(&folder.path().join("data"));
    let revision = keys.replace(NAME, None, b"keys".to_vec()).await.unwrap();
    let path = keys.path(NAME);
    let exposed = async || keys.inspect(NAME).await.unwrap().exposed_permissions;
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(exposed().await, None);
    for (mode, expected) in [(0o640, Some("640")), (0o604, Some("604")), (0o602, Some("602")), (0o400, None)]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(exposed().await.as_deref(), expected, "{mode:03o}");
        // They are used all the same.
        assert_eq!(keys.load(NAME).await.unwrap().unwrap().bytes, b"keys");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    keys.replace(NAME, Some(revision), b"next".to_vec()).await.unwrap();
    assert_eq!(exposed().await, None, "a replacement writes a file of its own");
}

/// Proves T2: removed keys are told from keys that never were.
#[tokio::test]
async fn removed_keys_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let keys = FolderKeys::in_folder(folder.path());
    assert!(!keys.inspect(NAME).await.unwrap().was_removed);
    keys.replace(NAME, None, b"keys".to_vec()).await.unwrap();
    assert!(!keys.inspect(NAME).await.unwrap().was_removed);
    fs::remove_file(keys.path(NAME)).unwrap();
    assert!(keys.inspect(NAME).await.unwrap().was_removed);
    assert_eq!(keys.revision(NAME).await.unwrap(), None);
}

/// A file that cannot be read is an error that trying again does not end; one that is too large says so.
#[tokio::test]
async fn unusable_key_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let keys = FolderKeys::in_folder(folder.path());
    fs::write(keys.path(NAME), vec![b' '; NAME.bytes_max() + 1]).unwrap();
    assert_eq!(keys.load(NAME).await, Err(KeyStoreError::TooLarge));
    fs::remove_file(keys.path(NAME)).unwrap();
    fs::create_dir(keys.path(NAME)).unwrap();
    assert!(matches!(keys.load(NAME).await, Err(KeyStoreError::Broken { .. })));
    assert!(matches!(keys.replace(NAME, None, Vec::new()).await, Err(KeyStoreError::Broken { .. })));
}
