//! Tokens of an identity provider, with keys from a file and from an address.

use std::sync::{Arc, Mutex};

use axum::{Router, extract::State, http::StatusCode, routing::get as on_get};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use serde_json::{Value, json};
use trackway::Secret;
use trackway_ports::Clock;
use trackway_runtime::SystemClock;

use super::auth_workspace::{AuthWorkspace, get, post};

/// The bytes before the private number of an Ed25519 key in PKCS#8.
const PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// A fresh key pair of the provider.
struct Pair {
    kid: &'static str,
    private: EncodingKey,
}

impl Pair {
    fn new(kid: &'static str) -> Self {
        let random = Secret::generate_api_key().unwrap();
        let digits = random.expose_secret().strip_prefix("tw_").unwrap().as_bytes();
        let number =
            digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
        let document: Vec<u8> = PKCS8.into_iter().chain(number).collect();
        Self { kid, private: EncodingKey::from_ed_der(&document) }
    }

    fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.private, Algorithm::EdDSA).unwrap();
        jwk.common.key_id = Some(self.kid.to_owned());
        serde_json::to_value(jwk).unwrap()
    }

    /// A token for this tenant, with some additional claims.
    fn token(&self, tenant: &str, more: &Value) -> String {
        let now = SystemClock.now().millis() / 1_000;
        let mut claims = json!({
            "iss": "https://issuer.example", "aud": ["trackway"], "exp": now + 600,
            "org": tenant, "sub": "ann", "scope": "openid workflow:echo:run",
        });
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.kid.to_owned());
        encode(&header, &claims, &self.private).unwrap()
    }
}

fn config(keys: &str) -> String {
    format!(
        "[auth]\nrequired = true\n[auth.jwt]\n{keys}\nissuer = \"https://issuer.example\"\n\
         audience = \"trackway\"\ntenant_claim = \"org\"\n"
    )
}

fn set(pairs: &[&Pair]) -> String {
    json!({ "keys": pairs.iter().map(|pair| pair.public()).collect::<Vec<_>>() }).to_string()
}

/// Proves X6.
#[tokio::test]
async fn tokens_are_checked_with_the_keys_of_a_file() {
    let site = AuthWorkspace::new(&config("jwks_file = \"jwks.json\""));
    let refused = site.refuses_to_serve("127.0.0.1:0").expect(1);
    assert!(refused.stderr.contains("jwks.json"), "{refused:?}");
    let pair = Pair::new("k1");
    site.write("jwks.json", &set(&[&pair]));
    let server = site.serve();
    let start = |name: &str| json!({ "workflow": name, "input": { "text": "hi" } });
    let acme = pair.token("acme", &json!({}));
    let run = post(&server, &*acme, "/api/runs", start("echo")).await.expect_success();
    post(&server, &*acme, "/api/runs", start("review")).await.expect_problem(403, "forbidden");
    let at = format!("/api/runs/{}", run["id"].as_str().unwrap());
    get(&server, &*acme, &at).await.expect_success();
    get(&server, &*pair.token("bolt", &json!({})), &at).await.expect_problem(404, "unknown-run");
    // Keys of the data folder are accepted in addition to tokens.
    get(&server, &*site.create_key("acme", &["*"]), &at).await.expect_success();

    let now = SystemClock.now().millis() / 1_000;
    for (claims, says) in [
        (json!({ "exp": now - 3_600 }), "expired"),
        (json!({ "nbf": now + 3_600 }), "not valid yet"),
        (json!({ "aud": "other" }), "audience"),
        (json!({ "iss": "https://other.example" }), "issuer"),
        (json!({ "org": 5 }), "org"),
    ] {
        let token = pair.token("acme", &claims);
        let refused = get(&server, &*token, &at).await.expect_problem(401, "unauthenticated");
        assert!(refused.body["detail"].as_str().unwrap().contains(says), "{refused:?}");
        assert_eq!(refused.headers["www-authenticate"], "Bearer");
    }
    // Signed by another key under the same name.
    let forged = Pair::new("k1").token("acme", &json!({}));
    get(&server, &*forged, &at).await.expect_problem(401, "unauthenticated");
}

/// Proves X6.
#[tokio::test]
async fn tokens_are_checked_with_the_keys_of_an_address() {
    let keys: Arc<Mutex<Option<String>>> = Arc::default();
    let answer = async |State(keys): State<Arc<Mutex<Option<String>>>>| {
        keys.lock().unwrap().clone().ok_or(StatusCode::BAD_GATEWAY)
    };
    let app = Router::new().route("/keys", on_get(answer)).with_state(keys.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/keys", listener.local_addr().unwrap());
    tokio::spawn(axum::serve(listener, app).into_future());

    let pair = Pair::new("k1");
    let token = pair.token("acme", &json!({}));
    let site = AuthWorkspace::new(&config(&format!("jwks_url = \"{url}\"")));
    let mut server = site.serve();
    // The provider is down: every caller is refused, with an error of the server.
    get(&server, &*token, "/api/runs").await.expect_problem(503, "auth-unavailable");
    drop(server);
    *keys.lock().unwrap() = Some(set(&[&pair]));
    server = site.serve();
    get(&server, &*token, "/api/runs").await.expect_success();
    // Known keys are not fetched again.
    *keys.lock().unwrap() = None;
    get(&server, &*token, "/api/runs").await.expect_success();
    let unknown = Pair::new("k2").token("acme", &json!({}));
    get(&server, &*unknown, "/api/runs").await.expect_problem(401, "unauthenticated");
}
