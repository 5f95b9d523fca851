//! Which keys of a set are used, and for what.

use serde_json::json;

use super::{super::fake_issuer::FakeIssuerKeyPair, *};

fn set(keys: &[Value]) -> Result<JwksKeySet, String> {
    JwksKeySet::parse_jwks(json!({ "keys": keys }).to_string().as_bytes())
}

/// Proves X6: a public key never serves as a shared secret, nor for another algorithm than its own.
#[test]
fn a_key_is_used_with_the_algorithms_of_its_type() {
    let set = set(&[
        FakeIssuerKeyPair::generate_ed25519("ed").public_jwk(),
        FakeIssuerKeyPair::generate_p256("ec").public_jwk(),
    ])
    .unwrap();
    assert!(matches!(set.find_token_key(Some("ed"), Algorithm::EdDSA), JwksKeyLookup::Key(_)));
    assert!(matches!(set.find_token_key(Some("ec"), Algorithm::ES256), JwksKeyLookup::Key(_)));
    for (kid, algorithm) in [
        ("ed", Algorithm::ES256),
        ("ed", Algorithm::HS256),
        ("ec", Algorithm::HS256),
        ("ec", Algorithm::ES384),
        ("ec", Algorithm::RS256),
    ] {
        assert!(matches!(set.find_token_key(Some(kid), algorithm), JwksKeyLookup::OtherAlgorithm), "{kid}");
    }
    assert!(matches!(set.find_token_key(Some("x"), Algorithm::ES256), JwksKeyLookup::Unknown));
    // Without a name, the only key that fits is used.
    assert!(matches!(set.find_token_key(None, Algorithm::ES256), JwksKeyLookup::Key(_)));
    assert!(matches!(set.find_token_key(None, Algorithm::RS256), JwksKeyLookup::Unknown));
}

#[test]
fn a_token_without_a_key_id_must_not_be_ambiguous() {
    let set = set(&[
        FakeIssuerKeyPair::generate_p256("a").public_jwk(),
        FakeIssuerKeyPair::generate_p256("b").public_jwk(),
    ])
    .unwrap();
    assert!(matches!(set.find_token_key(None, Algorithm::ES256), JwksKeyLookup::Ambiguous));
}

/// Proves X6.
#[test]
fn keys_that_must_not_check_signatures_are_left_out() {
    let with = |member: &str, value: Value| {
        let mut key = FakeIssuerKeyPair::generate_p256("k").public_jwk();
        key[member] = value;
        key
    };
    for key in [
        json!({ "kty": "oct", "kid": "k", "k": "c2VjcmV0" }),
        json!({ "kty": "oct", "kid": "k", "k": "c2VjcmV0", "alg": "HS256" }),
        json!({ "kty": "RSA", "kid": "k", "n": "AQAB".repeat(40), "e": "AQAB" }),
        json!({ "kty": "something", "kid": "k" }),
        json!("k"),
        with("use", json!("enc")),
        with("key_ops", json!(["sign"])),
        with("alg", json!("RS256")),
        with("alg", json!("HS256")),
        with("alg", json!("none")),
    ] {
        assert!(set(std::slice::from_ref(&key)).is_err(), "{key}");
        // Next to a good key it is only left out.
        let set = set(&[key.clone(), FakeIssuerKeyPair::generate_p256("good").public_jwk()]).unwrap();
        assert!(matches!(set.find_token_key(Some("k"), Algorithm::ES256), JwksKeyLookup::Unknown), "{key}");
    }
    assert!(set(&[with("alg", json!("ES256")), with("use", json!("sig"))]).is_ok());
}

/// Proves X5.
#[test]
fn what_is_no_set_is_an_error() {
    for text in ["", "[]", "{}", r#"{"keys": 1}"#, r#"{"keys": []}"#, "\u{0}"] {
        assert!(JwksKeySet::parse_jwks(text.as_bytes()).is_err(), "{text}");
    }
    assert!(set(&vec![FakeIssuerKeyPair::generate_p256("k").public_jwk(); KEYS_MAX + 1]).is_err());
}
