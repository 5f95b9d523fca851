//! The key file: written as a whole, readable by its owner only, and refused when it is wrong.

use std::fs;

use tempfile::TempDir;

use super::*;

fn new(id: &str) -> NewKey {
    let scopes = Scopes::new(["workflow:echo:run"]).unwrap();
    NewKey { id: Some(id.to_owned()), caller: Caller::new("acme", "ann"), scopes }
}

/// Proves X6.
#[test]
fn a_key_is_stored_by_its_hash_alone() {
    let folder = TempDir::new().unwrap();
    let file = KeyFile::in_folder(&folder.path().join("data"));
    assert_eq!(file.load_keys().unwrap(), []);
    let (secret, stored) = file.create(new("first")).unwrap();
    assert_eq!(file.load_keys().unwrap(), [stored]);
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(!text.contains(secret.expose()) && !text.contains(&secret.expose()[3..]), "{text}");
    assert_eq!(file.load_keys().unwrap()[0].key.hash, KeyHash::from_key(secret.expose()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(file.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Proves X6.
#[test]
fn a_revoked_key_is_gone_and_the_others_stay() {
    let folder = TempDir::new().unwrap();
    let file = KeyFile::in_folder(folder.path());
    for id in ["a", "b", "c"] {
        file.create(new(id)).unwrap();
    }
    assert!(matches!(file.create(new("b")), Err(KeyFileError::Taken { .. })));
    assert_eq!(file.revoke("b").unwrap().key.id(), "b");
    let left: Vec<String> =
        file.load_keys().unwrap().iter().map(|stored| stored.key.id().to_owned()).collect();
    assert_eq!(left, ["a", "c"]);
    assert!(matches!(file.revoke("b"), Err(KeyFileError::Unknown { .. })));
}

#[test]
fn revoking_in_a_folder_that_is_not_there_makes_nothing() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    assert!(KeyFile::in_folder(&data).revoke("a").is_err());
    assert!(!data.exists());
}

/// Writers wait for each other, so no writer overwrites a new key of another.
#[test]
fn keys_made_at_the_same_time_are_all_kept() {
    let folder = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let file = KeyFile::in_folder(folder.path());
            scope.spawn(move || {
                for n in 0..5 {
                    file.create(new(&format!("{writer}-{n}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(KeyFile::in_folder(folder.path()).load_keys().unwrap().len(), 20);
}

/// Proves X5.
#[test]
fn a_damaged_file_is_an_error_and_not_an_empty_one() {
    let folder = TempDir::new().unwrap();
    let file = KeyFile::in_folder(folder.path());
    for text in [
        "",
        "{}",
        r#"{"format": 2, "keys": []}"#,
        r#"{"format": 1, "keys": [], "more": 1}"#,
        r#"{"format": 1, "keys": [{"id": "k", "sha256": "00", "tenant": "t", "user": "u", "scopes": [], "createdAt": ""}]}"#,
    ] {
        fs::write(file.path(), text).unwrap();
        assert!(matches!(file.load_keys(), Err(KeyFileError::Damaged { .. })), "{text}");
        assert!(file.create(new("a")).is_err(), "{text}");
        assert_eq!(fs::read_to_string(file.path()).unwrap(), text, "it is left as it is");
    }
}
