//! When the provider's keys are fetched, over a real socket.

use std::sync::{
    Mutex as StdMutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, extract::State, http::StatusCode, routing::get};
use serde_json::{Value, json};
use trackway_testkit::ManualClock;

use super::{super::fake_issuer::FakeIssuerKeyPair, *};

/// A provider on a separate port. Without keys it answers with an error.
#[derive(Debug, Default)]
struct FakeIssuer {
    keys: StdMutex<Option<Vec<Value>>>,
    asked: AtomicUsize,
}

impl FakeIssuer {
    fn serve_keys(&self, pairs: &[&FakeIssuerKeyPair]) {
        *self.keys.lock().unwrap() = Some(pairs.iter().map(|pair| pair.public_jwk()).collect());
    }

    fn start_failing(&self) {
        *self.keys.lock().unwrap() = None;
    }

    fn request_count(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

async fn serve_key_set(State(provider): State<Arc<FakeIssuer>>) -> Result<String, StatusCode> {
    provider.asked.fetch_add(1, Ordering::SeqCst);
    let keys = provider.keys.lock().unwrap().clone();
    keys.map(|keys| json!({ "keys": keys }).to_string()).ok_or(StatusCode::BAD_GATEWAY)
}

async fn start_issuer() -> (Arc<FakeIssuer>, Arc<ManualClock>, JwksCache) {
    let provider = Arc::new(FakeIssuer::default());
    let app = Router::new().route("/keys", get(serve_key_set)).with_state(provider.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, app).into_future());
    let clock = Arc::new(ManualClock::new());
    let cache = JwksCache::open(JwksSource::jwks_url(&url).unwrap(), clock.clone()).unwrap();
    (provider, clock, cache)
}

async fn find(cache: &JwksCache, kid: &str) -> Result<(), &'static str> {
    match cache.find_or_fetch_token_key(Some(kid), Algorithm::ES256).await {
        Ok(_) => Ok(()),
        Err(Unauthenticated::Unavailable { .. }) => Err("unavailable"),
        Err(_) => Err("wrong"),
    }
}

/// Proves X6: a set is asked for when it is needed, and again when a token names a new key, but not
/// more often than the interval says.
#[tokio::test]
async fn keys_are_asked_for_lazily_and_not_too_often() {
    let (provider, clock, cache) = start_issuer().await;
    let (old, new) = (FakeIssuerKeyPair::generate_p256("old"), FakeIssuerKeyPair::generate_p256("new"));
    provider.serve_keys(&[&old]);
    assert_eq!(provider.request_count(), 0);
    for _ in 0..3 {
        assert_eq!(find(&cache, "old").await, Ok(()));
    }
    assert_eq!(provider.request_count(), 1);
    for made_up in ["a", "b", "c"] {
        assert_eq!(find(&cache, made_up).await, Err("wrong"));
    }
    assert_eq!(provider.request_count(), 1, "too soon");
    provider.serve_keys(&[&old, &new]);
    clock.advance(ATTEMPT_INTERVAL);
    assert_eq!(find(&cache, "new").await, Ok(()));
    assert_eq!(provider.request_count(), 2);
}

/// Proves X6: a key that the provider has withdrawn is not accepted for ever.
#[tokio::test]
async fn a_withdrawn_key_ends() {
    let (provider, clock, cache) = start_issuer().await;
    let (old, new) = (FakeIssuerKeyPair::generate_p256("old"), FakeIssuerKeyPair::generate_p256("new"));
    provider.serve_keys(&[&old]);
    assert_eq!(find(&cache, "old").await, Ok(()));
    provider.serve_keys(&[&new]);
    assert_eq!(find(&cache, "old").await, Ok(()), "the set is still fresh");
    clock.advance(FRESH_FOR);
    assert_eq!(find(&cache, "old").await, Err("wrong"));
    assert_eq!(find(&cache, "new").await, Ok(()));
    assert_eq!(provider.request_count(), 2);
}

/// A short outage of the provider does not lock out callers with a known key; a long outage does.
#[tokio::test]
async fn an_absent_provider_is_survived_for_a_while() {
    let (provider, clock, cache) = start_issuer().await;
    let pair = FakeIssuerKeyPair::generate_p256("k");
    assert_eq!(find(&cache, "k").await, Err("unavailable"));
    assert_eq!(find(&cache, "k").await, Err("unavailable"));
    assert_eq!(provider.request_count(), 1, "too soon");
    provider.serve_keys(&[&pair]);
    clock.advance(ATTEMPT_INTERVAL);
    assert_eq!(find(&cache, "k").await, Ok(()));
    provider.start_failing();
    clock.advance(FRESH_FOR);
    assert_eq!(find(&cache, "k").await, Ok(()));
    assert_eq!(provider.request_count(), 3);
    clock.advance(USABLE_FOR);
    assert_eq!(find(&cache, "k").await, Err("unavailable"));
}

/// A caller that arrives during a fetch waits for its result.
#[tokio::test]
async fn many_at_once_ask_once() {
    let (provider, _clock, cache) = start_issuer().await;
    provider.serve_keys(&[&FakeIssuerKeyPair::generate_p256("k")]);
    let all = futures_util::future::join_all((0..20).map(|_| find(&cache, "k"))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(provider.request_count(), 1);
}

#[test]
fn a_file_that_cannot_be_used_shows_at_the_start() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("jwks.json");
    let open = || JwksCache::open(JwksSource::jwks_file(file.clone()), Arc::new(ManualClock::new()));
    assert!(open().unwrap_err().to_string().contains("jwks.json"));
    fs::write(&file, r#"{"keys": []}"#).unwrap();
    assert!(open().unwrap_err().to_string().contains("holds no key"));
}
