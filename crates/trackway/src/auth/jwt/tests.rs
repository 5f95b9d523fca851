//! Checks whole tokens against a key file.

use serde_json::{Value, json};
use tempfile::TempDir;
use trackway_domain::{Caller, Scopes};
use trackway_testkit::ManualClock;

use super::{
    super::fake_issuer::{FakeIssuerKeyPair, sample_jwt_options, valid_claims},
    *,
};

/// A modulus whose private key was discarded, and a token that was signed with it.
const RSA_MODULUS: &str = "tuevaAPrWn3taT9XFjFKmshlaJ6ECxrE7Ws4ADjcNK0TMGmDpb3Gv6nKYpB3d-s9cs90vvX1PLu-btyIL7YB9QM8aLq4gd5pan1abIXnP-TayTshY3fp-doUc7O1hpJGYKcb5qWpOSGA9QQ4E8SvwjYe3wycrVMqSezlSCmEhjKIngh-Vijx0DBatMQW3PqX1g74iZMIv0zLf57ZKeqI6lI9jBsxn92iqLF67DZT3iXzw3YxhcWAHrToPs_BEbcPDPku9KBpN2gLPIjREKby81jaVVMZGAfTwPTkpfwN-leprUTkDHCBT-vVvtSdiOxY7c55bTomwVnQ3dbENiI4Kw";
const RSA_TOKENS: [&str; 2] = [
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InIxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoidHJhY2t3YXkiLCJzdWIiOiJyb3NhIiwidGVuYW50IjoiYWNtZSIsInNjb3BlIjoiKiIsImV4cCI6MTcwMDAwMzYwMH0.W5Onk_jSrTaLXLBzlNtVw_fE7Lk4hvwVBy7HDAz4LqvxC9RuDy6tcfE9-2CkUV3EF8eHxyKvTdRCTbvvXIIbcLMb_rbUZRMoqAQsFZ9aliedRClyn1cLoQRWTweycbJYGEnMQChP1LKZy572Db-ISsk3x24A9IayF_iwCLkV2Uvf3TvRhM1czWeE5P3e9BPlIfoV9-h2QXRonhCMxU3WbmF3HlOngX2fzo2yDwtqvta8EcnY9Qrro0cnqdkgYy-i8CL4rXttMYfN6GHMmdyO5RDZFFJ3Iogk24uVYMJDrV1mxxxaKnsCV8n6Gdse3vYCY2QgAW6e6IYH2Qpl0oSqmg",
    "eyJhbGciOiJQUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InIxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoidHJhY2t3YXkiLCJzdWIiOiJyb3NhIiwidGVuYW50IjoiYWNtZSIsInNjb3BlIjoiKiIsImV4cCI6MTcwMDAwMzYwMH0.G4XYKcxc7190EDzr4Mf-aAowCicqNH_4UBwlApXuFvwGdapW1V8UqyRsgCXH_wgBf3gaUZqIaQiF1IqAZ6w5Icj-RmrUJskCnJ6plNw14O0PiT4SW4YdHNU8kih6-Bllo7VJmQC6x30E4Ihfrb5P-__FwXMl4ED07RiJhFv0BR2IeI7qupVvhRUArb8yxv91hccWegIkrO6fqsTq340_eZ6kivO8MEsUjL2L4mKUUmKKWjyXxPwLJOJLR4Gma-TXiqm94nIa_KOjGtED4ieqXEJuZcYxygsjmiINiUdMVC8_v0mCK_ytwseB2LPcMRk6faAgezIO7rZwBJqlnzU4GQ",
];

/// Recognises the tokens of these keys.
fn tokens(folder: &TempDir, keys: &[Value]) -> JwtAuthenticator {
    let file = folder.path().join("jwks.json");
    std::fs::write(&file, json!({ "keys": keys }).to_string()).unwrap();
    JwtAuthenticator::open(sample_jwt_options(JwksSource::jwks_file(file)), Arc::new(ManualClock::new()))
        .unwrap()
}

/// Proves X6.
#[tokio::test]
async fn tokens_of_each_kind_of_key_are_taken() {
    let folder = TempDir::new().unwrap();
    let (ed, ec) = (FakeIssuerKeyPair::generate_ed25519("ed"), FakeIssuerKeyPair::generate_p256("ec"));
    let rsa = json!({ "kty": "RSA", "kid": "r1", "use": "sig", "n": RSA_MODULUS, "e": "AQAB" });
    let tokens = tokens(&folder, &[ed.public_jwk(), ec.public_jwk(), rsa]);
    for pair in [&ed, &ec] {
        let identity = tokens.authenticate_jwt(&pair.sign_token(&valid_claims())).await.unwrap();
        assert_eq!(identity.caller, Caller::new("acme", "ann"));
        assert!(identity.scopes.allows_permission("workflow:echo:run"));
        assert!(!identity.scopes.allows_permission("workflow:review:run"));
    }
    for token in RSA_TOKENS {
        let identity = tokens.authenticate_jwt(token).await.unwrap();
        assert_eq!(
            (identity.caller, identity.scopes),
            (Caller::new("acme", "rosa"), Scopes::all_workflows_and_agents())
        );
    }
}

/// Proves X6.
#[tokio::test]
async fn forged_tokens_are_refused() {
    let folder = TempDir::new().unwrap();
    let (ec, other) = (FakeIssuerKeyPair::generate_p256("ec"), FakeIssuerKeyPair::generate_p256("ec"));
    let tokens = tokens(&folder, &[ec.public_jwk()]);
    let good = ec.sign_token(&valid_claims());
    let [header, claims, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!() };
    // {"alg":"none"} and {"alg":"HS256","kid":"ec"}
    let (none, shared) = ("eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiIsImtpZCI6ImVjIn0");
    let critical = ec.sign_token_with_header(
        |header| header.crit = Some(vec!["exp".to_owned()]),
        &super::super::fake_issuer::valid_claims(),
    );
    let unknown =
        FakeIssuerKeyPair::generate_p256("unknown").sign_token(&super::super::fake_issuer::valid_claims());
    let mut changed = claims.to_owned();
    changed.replace_range(0..4, "eyAi");
    for token in [
        String::new(),
        "..".to_owned(),
        "a.b.c".to_owned(),
        format!("{header}.{claims}."),
        format!("{header}.{changed}.{signature}"),
        format!("{none}.{claims}."),
        format!("{none}.{claims}.{signature}"),
        format!("{shared}.{claims}.{signature}"),
        other.sign_token(&super::super::fake_issuer::valid_claims()),
        unknown,
        critical,
        format!("{header}.{claims}.{signature}{}", "A".repeat(TOKEN_BYTES_MAX)),
    ] {
        let error = tokens.authenticate_jwt(&token).await.unwrap_err();
        assert!(matches!(&error, Unauthenticated::Wrong { .. }), "{token} {error}");
        let shown = error.to_string();
        assert!(!shown.contains(signature) && !shown.contains(claims), "{shown}");
    }
    assert!(tokens.authenticate_jwt(&good).await.is_ok());
}

/// Proves X6: an attacker who can change the keys in transit can pose as any caller.
#[test]
fn keys_come_over_https_or_from_this_machine() {
    for good in
        ["https://idp.example/keys", "http://127.0.0.1:8080/k", "http://localhost/k", "http://[::1]:1/k"]
    {
        assert!(JwksSource::jwks_url(good).is_ok(), "{good}");
    }
    for bad in ["http://idp.example/keys", "http://127.0.0.1.example/k", "file:///etc/keys", "keys.json", ""]
    {
        assert!(JwksSource::jwks_url(bad).is_err(), "{bad}");
    }
    assert!(JwtOptions::new(JwksSource::jwks_file("k"), "", "trackway").is_err());
    assert!(JwtOptions::new(JwksSource::jwks_file("k"), "issuer", "").is_err());
}
