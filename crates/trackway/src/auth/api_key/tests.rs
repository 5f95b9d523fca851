//! Keys, their hashes, and what is never printed.

use super::*;

/// Proves X6: the hash is the plain SHA-256 of the key, as any other tool computes it.
#[test]
fn a_key_is_recognised_by_its_sha256() {
    let known = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    assert_eq!(known.parse::<ApiKeyHash>().unwrap(), ApiKeyHash::from_api_key("test"));
    assert_eq!(known.to_uppercase().parse::<ApiKeyHash>().unwrap(), ApiKeyHash::from_api_key("test"));
    assert_ne!(ApiKeyHash::from_api_key("test"), ApiKeyHash::from_api_key("Test"));
    for wrong in ["", "9f86", &known[1..], &format!("{known}0"), &known.replace('9', "g")] {
        assert_eq!(wrong.parse::<ApiKeyHash>().unwrap_err(), ApiKeyConfigError::Hash, "{wrong}");
    }
}

/// Proves X6.
#[test]
fn fresh_keys_are_long_and_differ() {
    let (first, second) = (Secret::generate_api_key().unwrap(), Secret::generate_api_key().unwrap());
    assert_ne!(first, second);
    assert!(first.expose_secret().starts_with("tw_"));
    assert_eq!(first.expose_secret().len(), 3 + 64);
    assert_ne!(generate_key_id().unwrap(), generate_key_id().unwrap());
}

/// Proves X6.
#[test]
fn debug_output_holds_no_secret() {
    let secret = Secret::new("tw_very-secret");
    let hash = ApiKeyHash::from_api_key(secret.expose_secret());
    let key = ApiKey::new("k", hash, "t", "u", Scopes::all_workflows_and_agents()).unwrap();
    let shown = format!("{secret:?} {key:?}");
    assert!(!shown.contains("very-secret") && !shown.contains(&key.key_hash_hex()), "{shown}");
}

#[test]
fn names_of_keys_are_checked() {
    let hash = ApiKeyHash::from_api_key("x");
    for (id, tenant, user, says) in [
        ("", "t", "u", "the id of a key is empty"),
        ("k", "", "u", "the tenant of a key is empty"),
        ("k", "t", "a\nb", "the user of a key holds control characters"),
        ("k", &"t".repeat(257), "u", "the tenant of a key is longer than 256 bytes"),
    ] {
        let error = ApiKey::new(id, hash, tenant, user, Scopes::all_workflows_and_agents()).unwrap_err();
        assert_eq!(error.to_string(), says);
    }
}
