//! Which keys are accepted while the key file changes.

use std::fs;

use tempfile::TempDir;
use trackway_domain::{Caller, Scopes};

use super::{super::key_file::NewKey, *};

fn new(tenant: &str) -> NewKey {
    NewKey { id: None, caller: Caller::new(tenant, "u"), scopes: Scopes::all() }
}

fn configured(id: &str, key: &str) -> ApiKey {
    ApiKey::new(id, KeyHash::from_key(key), "conf", "u", Scopes::all()).unwrap()
}

/// Proves X6: a key works once it is made and no longer than until it is revoked.
#[test]
fn keys_are_taken_and_refused_as_the_file_changes() {
    let folder = TempDir::new().unwrap();
    let file = KeyFile::in_folder(folder.path());
    let ring = ApiKeyRing::open(&[configured("c", "mine")], file.clone()).unwrap();
    let tenant = |key: &str| {
        let found = ring.find_identity(&KeyHash::from_key(key)).unwrap();
        found.map(|identity| identity.caller.tenant.to_string())
    };
    assert_eq!(tenant("mine").as_deref(), Some("conf"));
    assert_eq!(tenant("other"), None);
    let (first, stored) = file.create(new("acme")).unwrap();
    assert_eq!(tenant(first.expose()).as_deref(), Some("acme"));
    let (second, _) = file.create(new("bolt")).unwrap();
    assert_eq!(tenant(second.expose()).as_deref(), Some("bolt"));
    file.revoke(stored.key.id()).unwrap();
    assert_eq!(tenant(first.expose()), None);
    assert_eq!(tenant(second.expose()).as_deref(), Some("bolt"));
    fs::remove_file(file.path()).unwrap();
    assert_eq!(tenant(second.expose()), None);
}

/// Proves X6: while it is unknown which keys were revoked, no key of the file is accepted.
#[test]
fn an_unreadable_file_lets_nobody_in() {
    let folder = TempDir::new().unwrap();
    let file = KeyFile::in_folder(folder.path());
    let (secret, _) = file.create(new("acme")).unwrap();
    let ring = ApiKeyRing::open(&[configured("c", "mine")], file.clone()).unwrap();
    let good = fs::read(file.path()).unwrap();
    fs::write(file.path(), "{").unwrap();
    let hash = KeyHash::from_key(secret.expose());
    assert!(matches!(ring.find_identity(&hash), Err(Unauthenticated::Unavailable { .. })));
    assert!(
        ring.find_identity(&KeyHash::from_key("mine")).unwrap().is_some(),
        "those of the configuration are"
    );
    fs::write(file.path(), good).unwrap();
    assert!(ring.find_identity(&hash).unwrap().is_some());
}

#[test]
fn a_key_is_configured_once() {
    let folder = TempDir::new().unwrap();
    let open = |keys: &[ApiKey]| ApiKeyRing::open(keys, KeyFile::in_folder(folder.path()));
    let same_id = open(&[configured("a", "1"), configured("a", "2")]).unwrap_err();
    assert_eq!(same_id.to_string(), "two keys have the id \"a\"");
    let same_key = open(&[configured("a", "1"), configured("b", "1")]).unwrap_err();
    assert_eq!(same_key.to_string(), "the keys \"a\" and \"b\" are the same key");
}
