//! Which keys are accepted while the stored keys change.

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;
use trackway_domain::{Caller, Scopes};
use trackway_sqlite::FolderKeys;

use super::{super::api_keys::NewKey, *};

fn keys_in(folder: &Path) -> ApiKeys {
    ApiKeys::in_store(Arc::new(FolderKeys::in_folder(folder)))
}

fn new(tenant: &str) -> NewKey {
    NewKey { id: None, caller: Caller::new(tenant, "u"), scopes: Scopes::all_workflows_and_agents() }
}

fn configured(id: &str, key: &str) -> ApiKey {
    ApiKey::new(id, ApiKeyHash::from_api_key(key), "conf", "u", Scopes::all_workflows_and_agents()).unwrap()
}

/// Proves X6: a key works once it is made and no longer than until it is revoked.
#[tokio::test]
async fn keys_are_taken_and_refused_as_the_file_changes() {
    let folder = TempDir::new().unwrap();
    let (keys, file) = (keys_in(folder.path()), folder.path().join("keys.json"));
    let ring = ApiKeyRing::open(&[configured("c", "mine")], keys.clone()).await.unwrap();
    let tenant = async |key: &str| {
        let found = ring.find_identity(&ApiKeyHash::from_api_key(key)).await.unwrap();
        found.map(|identity| identity.caller.tenant.to_string())
    };
    assert_eq!(tenant("mine").await.as_deref(), Some("conf"));
    assert_eq!(tenant("other").await, None);
    let (first, stored) = keys.create(new("acme")).await.unwrap();
    assert_eq!(tenant(first.expose_secret()).await.as_deref(), Some("acme"));
    let (second, _) = keys.create(new("bolt")).await.unwrap();
    assert_eq!(tenant(second.expose_secret()).await.as_deref(), Some("bolt"));
    keys.revoke(stored.key.key_id()).await.unwrap();
    assert_eq!(tenant(first.expose_secret()).await, None);
    assert_eq!(tenant(second.expose_secret()).await.as_deref(), Some("bolt"));
    fs::remove_file(&file).unwrap();
    assert_eq!(tenant(second.expose_secret()).await, None);
}

/// Proves X6: while nobody can tell which keys were revoked, none of the file is taken.
#[tokio::test]
async fn an_unreadable_file_lets_nobody_in() {
    let folder = TempDir::new().unwrap();
    let (keys, file) = (keys_in(folder.path()), folder.path().join("keys.json"));
    let (secret, _) = keys.create(new("acme")).await.unwrap();
    let ring = ApiKeyRing::open(&[configured("c", "mine")], keys.clone()).await.unwrap();
    let good = fs::read(&file).unwrap();
    fs::write(&file, "{").unwrap();
    let hash = ApiKeyHash::from_api_key(secret.expose_secret());
    assert!(matches!(ring.find_identity(&hash).await, Err(Unauthenticated::Unavailable { .. })));
    assert!(
        ring.find_identity(&ApiKeyHash::from_api_key("mine")).await.unwrap().is_some(),
        "those of the configuration are"
    );
    fs::write(&file, good).unwrap();
    assert!(ring.find_identity(&hash).await.unwrap().is_some());
    // A store that does not answer at all is no other case, and what it has afterwards counts.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(matches!(ring.find_identity(&hash).await, Err(Unauthenticated::Unavailable { .. })));
    fs::remove_dir(&file).unwrap();
    assert!(ring.find_identity(&hash).await.unwrap().is_none());
}

#[tokio::test]
async fn a_key_is_configured_once() {
    let folder = TempDir::new().unwrap();
    let open = async |keys: &[ApiKey]| ApiKeyRing::open(keys, keys_in(folder.path())).await;
    let same_id = open(&[configured("a", "1"), configured("a", "2")]).await.unwrap_err();
    assert_eq!(same_id.to_string(), "two keys have the id \"a\"");
    let same_key = open(&[configured("a", "1"), configured("b", "1")]).await.unwrap_err();
    assert_eq!(same_key.to_string(), "the keys \"a\" and \"b\" are the same key");
}
