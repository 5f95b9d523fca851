//! Keys, their hashes, and what is never printed.

use super::*;

/// Proves X6: the hash is the plain SHA-256 of the key, as any other tool computes it.
#[test]
fn a_key_is_recognised_by_its_sha256() {
    let known = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    assert_eq!(known.parse::<KeyHash>().unwrap(), KeyHash::from_key("test"));
    assert_eq!(known.to_uppercase().parse::<KeyHash>().unwrap(), KeyHash::from_key("test"));
    assert_ne!(KeyHash::from_key("test"), KeyHash::from_key("Test"));
    for wrong in ["", "9f86", &known[1..], &format!("{known}0"), &known.replace('9', "g")] {
        assert_eq!(wrong.parse::<KeyHash>().unwrap_err(), ParseKeyError::Hash, "{wrong}");
    }
}

/// Proves X6.
#[test]
fn fresh_keys_are_long_and_differ() {
    let (first, second) = (Secret::generate().unwrap(), Secret::generate().unwrap());
    assert_ne!(first, second);
    assert!(first.expose().starts_with("tw_"));
    assert_eq!(first.expose().len(), 3 + 64);
    assert_ne!(generate_key_id().unwrap(), generate_key_id().unwrap());
}

/// Proves X6.
#[test]
fn debug_output_holds_no_secret() {
    let secret = Secret::new("tw_very-secret");
    let hash = KeyHash::from_key(secret.expose());
    let key = ApiKey::new("k", hash, "t", "u", Scopes::all()).unwrap();
    let shown = format!("{secret:?} {key:?}");
    assert!(!shown.contains("very-secret") && !shown.contains(&key.hash_hex()), "{shown}");
}

#[test]
fn names_of_keys_are_checked() {
    let hash = KeyHash::from_key("x");
    for (id, tenant, user, says) in [
        ("", "t", "u", "the id of a key is empty"),
        ("k", "", "u", "the tenant of a key is empty"),
        ("k", "t", "a\nb", "the user of a key holds control characters"),
        ("k", &"t".repeat(257), "u", "the tenant of a key is longer than 256 bytes"),
    ] {
        let error = ApiKey::new(id, hash, tenant, user, Scopes::all()).unwrap_err();
        assert_eq!(error.to_string(), says);
    }
}
