//! The API keys in a folder: written as a whole, readable by its owner only, and refused when it is wrong.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use trackway_sqlite::FolderKeys;

use super::*;

fn keys_in(folder: &Path) -> ApiKeys {
    ApiKeys::in_store(Arc::new(FolderKeys::in_folder(folder)))
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("keys.json")
}

fn new(id: &str) -> NewKey {
    let scopes = Scopes::new(["workflow:echo:run"]).unwrap();
    NewKey { id: Some(id.to_owned()), caller: Caller::new("acme", "ann"), scopes }
}

/// Proves X6.
#[tokio::test]
async fn a_key_is_stored_by_its_hash_alone() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let keys = keys_in(&data);
    assert_eq!(keys.load().await.unwrap(), []);
    let (secret, stored) = keys.create(new("first")).await.unwrap();
    assert_eq!(keys.load().await.unwrap(), [stored]);
    let text = fs::read_to_string(key_file(&data)).unwrap();
    assert!(!text.contains(secret.expose_secret()) && !text.contains(&secret.expose_secret()[3..]), "{text}");
    assert_eq!(keys.load().await.unwrap()[0].key.hash, ApiKeyHash::from_api_key(secret.expose_secret()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(key_file(&data)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Proves X6.
#[tokio::test]
async fn a_revoked_key_is_gone_and_the_others_stay() {
    let folder = TempDir::new().unwrap();
    let keys = keys_in(folder.path());
    for id in ["a", "b", "c"] {
        keys.create(new(id)).await.unwrap();
    }
    assert!(matches!(keys.create(new("b")).await, Err(ApiKeysError::Taken { .. })));
    assert_eq!(keys.revoke("b").await.unwrap().key.key_id(), "b");
    let left: Vec<String> =
        keys.load().await.unwrap().iter().map(|stored| stored.key.key_id().to_owned()).collect();
    assert_eq!(left, ["a", "c"]);
    assert!(matches!(keys.revoke("b").await, Err(ApiKeysError::Unknown { .. })));
}

#[tokio::test]
async fn revoking_in_a_folder_that_is_not_there_makes_nothing() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    assert!(keys_in(&data).revoke("a").await.is_err());
    assert!(!data.exists());
}

/// No writer overwrites a new key of another.
#[tokio::test(flavor = "multi_thread")]
async fn keys_made_at_the_same_time_are_all_kept() {
    let folder = TempDir::new().unwrap();
    let writers = (0..4).map(|writer| {
        let keys = keys_in(folder.path());
        tokio::spawn(async move {
            for n in 0..5 {
                keys.create(new(&format!("{writer}-{n}"))).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(keys_in(folder.path()).load().await.unwrap().len(), 20);
}

/// Proves X5.
#[tokio::test]
async fn a_damaged_file_is_an_error_and_not_an_empty_one() {
    let folder = TempDir::new().unwrap();
    let (keys, file) = (keys_in(folder.path()), key_file(folder.path()));
    for text in [
        "",
        "{}",
        r#"{"format": 2, "keys": []}"#,
        r#"{"format": 1, "keys": [], "more": 1}"#,
        r#"{"format": 1, "keys": [{"id": "k", "sha256": "00", "tenant": "t", "user": "u", "scopes": [], "createdAt": ""}]}"#,
    ] {
        fs::write(&file, text).unwrap();
        assert!(matches!(keys.load().await, Err(ApiKeysError::Damaged { .. })), "{text}");
        assert!(keys.create(new("a")).await.is_err(), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is left as it is");
    }
}

/// Proves X6: a document of format 1, which exists on disks, is read and written in the same form again.
#[test]
fn a_document_of_format_1_is_readable_and_unchanged() {
    const FORMAT_1: &str = include_str!("format-1.json");
    let keys = parse_keys(FORMAT_1.as_bytes()).unwrap();
    let callers: Vec<_> = keys.iter().map(|stored| (stored.key.key_id(), &*stored.key.caller.user)).collect();
    assert_eq!(callers, [("first", "ann"), ("second", "ben")]);
    assert!(keys[0].key.scopes.allows_workflow_run("echo") && keys[1].key.scopes.has_no_scopes());
    assert_eq!(keys[0].key.hash, ApiKeyHash::from_api_key("an example, not a key"));
    let rows = StoredKeys { format: FORMAT, keys: keys.iter().map(StoredKeyRow::from).collect() };
    assert_eq!(serde_json::to_string_pretty(&rows).unwrap(), FORMAT_1.trim_end());
}
