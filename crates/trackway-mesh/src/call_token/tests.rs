//! Tokens are believed exactly if a trusted node made them for us, now; and one node has one key.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use serde_json::{Value, json};
use trackway_domain::{CallChain, Caller};
use trackway_ports::{KeyDocumentName, KeyStore};
use trackway_sqlite::FolderKeys;
use trackway_testkit::{ManualClock, MemoryKeys};

use super::{compact_jws::sign_payload, node_key::NodeKey, *};

/// The time at which the clock of tests stands.
const NOW: i64 = 1_700_000_000;
const HERE: &str = "http://127.0.0.1:7420";

fn key(seed: u8) -> NodeKey {
    NodeKey::from_secret([seed; 32])
}

/// A verifier at `HERE` that trusts the key 1.
fn verifier() -> CallTokenVerifier {
    CallTokenVerifier::new(CallTokenVerifierOptions {
        trusted_keys: vec![key(1).public_key()],
        audiences: CallAudience::of_node("127.0.0.1:7420".parse().unwrap(), None),
        clock: Arc::new(clock()),
    })
}

fn clock() -> ManualClock {
    ManualClock::new()
}

fn claims() -> Value {
    json!({
        "tenant": "acme", "user": "ann", "depth": 2, "ancestors": ["http://a/x", "http://b/y"],
        "aud": HERE, "iat": NOW, "exp": NOW + 300,
    })
}

/// The claims with one of them changed.
fn claims_with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn refusal_of(token: &str) -> Option<CallTokenRefusal> {
    verifier().read_call_token(token).unwrap().refusal
}

/// The token with another header, and the signature that its node would make for it.
fn with_header(header: &Value) -> String {
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let signed = format!("{}.{}", part(header), part(&claims()));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key(1).sign(signed.as_bytes())))
}

/// Proves X6: what makes a token trusted, one condition at a time.
#[test]
fn a_token_is_trusted_if_everything_about_it_is_right() {
    use CallTokenRefusal::*;
    let table = [
        (claims(), None),
        (claims_with("depth", json!(2.0)), None),
        (claims_with("iat", json!(NOW as f64)), None),
        (claims_with("aud", json!("http://localhost:7420")), None),
        (claims_with("aud", json!("http://[::1]:7420")), None),
        (claims_with("aud", json!("http://127.0.0.1:7421")), Some(OtherAudience)),
        (claims_with("aud", json!("https://127.0.0.1:7420")), Some(OtherAudience)),
        (claims_with("aud", json!("http://127.0.0.1:7420/a2a")), Some(OtherAudience)),
        (claims_with("aud", json!("")), Some(OtherAudience)),
        // The clocks may differ by half a minute.
        (claims_with("exp", json!(NOW - 29)), None),
        (claims_with("exp", json!(NOW - 30)), Some(Expired)),
        (claims_with("exp", json!(i64::MIN)), Some(Expired)),
        (claims_with("iat", json!(NOW + 30)), None),
        (claims_with("iat", json!(NOW + 31)), Some(NotYetValid)),
        (claims_with("exp", json!(NOW + 301)), Some(TooLongLived)),
        (claims_with("exp", json!(i64::MAX)), Some(TooLongLived)),
    ];
    for (claims, expected) in table {
        assert_eq!(refusal_of(&sign_payload(&key(1), &claims)), expected, "{claims}");
        assert_eq!(refusal_of(&sign_payload(&key(2), &claims)), Some(UntrustedKey), "{claims}");
    }
}

/// Proves X6: a change of any character of a signed token ends the trust in it.
#[test]
fn a_changed_token_is_never_trusted() {
    let token = sign_payload(&key(1), &claims());
    for at in 0..token.len() {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        if let Ok(received) = verifier().read_call_token(&changed) {
            assert!(!received.is_trusted(), "{at}: {received:?}");
        }
    }
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
    let other = URL_SAFE_NO_PAD.encode(claims_with("user", json!("eve")).to_string());
    for forged in [format!("{header}.{other}.{signature}"), sign_with_foreign_key(header, payload)] {
        assert_eq!(refusal_of(&forged), Some(CallTokenRefusal::WrongSignature), "{forged}");
    }
}

/// The signature of another node under the name of a trusted one.
fn sign_with_foreign_key(header: &str, payload: &str) -> String {
    let signed = format!("{header}.{payload}");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key(2).sign(signed.as_bytes())))
}

/// Proves X5 and X6: a text that is no token of ours says nothing.
#[test]
fn malformed_tokens_are_refused() {
    let kid = key(1).public_key().to_string();
    let headers = [
        json!({"alg": "none", "kid": kid, "typ": "trackway-call"}),
        json!({"alg": "HS256", "kid": kid, "typ": "trackway-call"}),
        json!({"alg": "eddsa", "kid": kid, "typ": "trackway-call"}),
        json!({"alg": "EdDSA", "kid": kid, "typ": "JWT"}),
        json!({"alg": "EdDSA", "kid": kid}),
        json!({"alg": "EdDSA", "typ": "trackway-call"}),
        json!({"alg": "EdDSA", "kid": "ed25519:AAAA", "typ": "trackway-call"}),
        json!({"alg": "EdDSA", "kid": kid, "typ": "trackway-call", "crit": ["exp"]}),
        json!({"alg": "EdDSA", "kid": kid, "typ": "trackway-call", "jwk": {}}),
        json!([]),
    ];
    let wrong_claims = [
        claims_with("depth", json!(-1)),
        claims_with("depth", json!(1.5)),
        claims_with("depth", json!("2")),
        claims_with("depth", json!(1e12)),
        claims_with("user", json!(null)),
        claims_with("user", json!(["ann"])),
        claims_with("ancestors", json!("http://a/x")),
        claims_with("ancestors", json!(vec!["a"; 65])),
        claims_with("ancestors", json!(["a".repeat(2_049)])),
        claims_with("scope", json!("*")),
        json!({}),
        json!("claims"),
    ];
    let good = sign_payload(&key(1), &claims());
    let large = sign_payload(&key(1), &claims_with("user", json!("u".repeat(16 * 1024))));
    let texts = ["", ".", "..", "...", "token", "{}", "a.b.c", "\u{e9}.\u{e9}.\u{e9}"].map(str::to_owned);
    let tokens = headers
        .iter()
        .map(with_header)
        .chain(wrong_claims.iter().map(|claims| sign_payload(&key(1), claims)))
        .chain(texts)
        .chain([format!("{good}="), format!("{good}."), format!(" {good}"), format!("{good}.{good}"), large]);
    for token in tokens {
        let read = verifier().read_call_token(&token);
        assert!(read.is_err(), "{token}: {read:?}");
    }
    assert!(refusal_of(&good).is_none());
}

/// Proves X6: a node that receives a token cannot use it at another node.
#[tokio::test]
async fn a_signed_call_is_trusted_at_its_own_peer_only() {
    let keys: Arc<dyn KeyStore> = Arc::new(MemoryKeys::default());
    let signer = CallTokenSigner::in_store(keys.clone(), Arc::new(clock()));
    let trusted_keys = vec![NodeKeys::in_store(keys).public_key().await.unwrap()];
    let caller = Caller::new("acme", "ann");
    let chain = CallChain { depth: 1, ancestors: vec!["http://a/x".to_owned()] };
    let url = "https://Billing.example.com:443/a2a/agents/billing";
    let token = signer.sign_call(url, &caller, &chain).await.unwrap();
    let at = |public_url: &str| {
        let audiences = CallAudience::of_node("0.0.0.0:7420".parse().unwrap(), Some(public_url));
        let clock = Arc::new(clock());
        let options = CallTokenVerifierOptions { trusted_keys: trusted_keys.clone(), audiences, clock };
        CallTokenVerifier::new(options).read_call_token(&token).unwrap()
    };
    let received = at("https://billing.example.com/");
    assert!(received.is_trusted(), "{received:?}");
    assert_eq!((received.claims.caller, received.claims.call_chain), (caller, chain));
    for other in
        ["https://orders.example.com", "http://billing.example.com", "https://billing.example.com:8443"]
    {
        assert_eq!(at(other).refusal, Some(CallTokenRefusal::OtherAudience), "{other}");
    }
}

#[test]
fn a_node_knows_under_which_addresses_it_is_called() {
    let table: [(&str, Option<&str>, &[&str]); 6] = [
        ("127.0.0.1:80", None, &["http://127.0.0.1", "http://[::1]", "http://localhost"]),
        ("[::1]:99", None, &["http://127.0.0.1:99", "http://[::1]:99", "http://localhost:99"]),
        ("192.0.2.7:7420", None, &["http://192.0.2.7:7420"]),
        ("[2001:db8::7]:7420", None, &["http://[2001:db8::7]:7420"]),
        ("0.0.0.0:7420", None, &[]),
        ("127.0.0.1:7420", Some("https://Node.example.com/base"), &["https://node.example.com"]),
    ];
    for (listens_on, public_url, expected) in table {
        let found = CallAudience::of_node(listens_on.parse().unwrap(), public_url);
        let found: Vec<&str> = found.iter().map(CallAudience::as_str).collect();
        assert_eq!(found, expected, "{listens_on}");
    }
}

/// Proves X5: a long chain makes no token that the receiver would not read, and its depth is kept.
#[tokio::test]
async fn a_long_chain_is_shortened_to_its_newest_agents() {
    let signer = CallTokenSigner::in_store(Arc::new(MemoryKeys::default()), Arc::new(clock()));
    let ancestors: Vec<String> = (0..64).map(|number| format!("{number:0>2000}")).collect();
    let chain = CallChain { depth: 64, ancestors };
    let token = signer.sign_call(HERE, &Caller::new("acme", "ann"), &chain).await.unwrap();
    let received = verifier().read_call_token(&token).unwrap().claims.call_chain;
    assert_eq!((received.depth, &received.ancestors[..]), (64, &chain.ancestors[60..]));
}

/// Proves X2 and X6: a restart keeps the key, and of many that come first at once all get the same one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_node_has_one_key_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let open = || NodeKeys::in_store(Arc::new(FolderKeys::in_folder(folder.path())));
    let first_uses = (0..16).map(|_| {
        let keys = open();
        tokio::spawn(async move { keys.public_key().await.unwrap() })
    });
    let found: Vec<NodePublicKey> = join_all(first_uses).await.into_iter().map(|key| key.unwrap()).collect();
    assert!(found.iter().all(|key| *key == found[0]), "{found:?}");
    assert_eq!(open().public_key().await.unwrap(), found[0]);
    assert_eq!(found[0].to_string().parse(), Ok(found[0]));
}

/// A key that somebody else has replaced is noticed at the next call.
#[tokio::test]
async fn a_replaced_key_is_used_at_once() {
    let store: Arc<dyn KeyStore> = Arc::new(MemoryKeys::default());
    let keys = NodeKeys::in_store(store.clone());
    let first = keys.public_key().await.unwrap();
    let revision = store.revision(KeyDocumentName::NodeKey).await.unwrap();
    store.replace(KeyDocumentName::NodeKey, revision, key(3).to_document()).await.unwrap();
    assert_eq!(keys.public_key().await.unwrap(), key(3).public_key());
    assert_ne!(first, key(3).public_key());
}

/// Proves X2: the stored form stays readable; `docs/formats.md`.
#[test]
fn the_node_key_has_format_1() {
    let golden = include_bytes!("tests/node-key-format-1.json");
    assert_eq!(String::from_utf8(key(7).to_document()).unwrap(), String::from_utf8_lossy(golden).trim_end());
    assert_eq!(NodeKey::from_document(golden).unwrap().public_key(), key(7).public_key());
}

/// Proves X5: a damaged document is an error, never another key, and the error does not repeat the secret.
#[tokio::test]
async fn a_damaged_node_key_is_reported() {
    let secret = URL_SAFE_NO_PAD.encode([7; 32]);
    for document in [
        String::new(),
        "{".to_owned(),
        format!(r#"{{"format":1,"secretKey":"{secret}","more":1}}"#),
        format!(r#"{{"format":2,"secretKey":"{secret}"}}"#),
        format!(r#"{{"format":1,"secretKey":"{secret}AA"}}"#),
        format!(r#"{{"format":1,"secretKey":{secret}}}"#),
    ] {
        let store = MemoryKeys::default();
        store.replace(KeyDocumentName::NodeKey, None, document.clone().into_bytes()).await.unwrap();
        let error = NodeKeys::in_store(Arc::new(store)).public_key().await.unwrap_err();
        assert!(matches!(error, NodeKeyError::Damaged { .. }), "{document}: {error:?}");
        assert!(!format!("{error:?} {error}").contains(&secret), "{error:?}");
    }
    assert!(!format!("{:?}", key(7)).contains(&secret));
}
