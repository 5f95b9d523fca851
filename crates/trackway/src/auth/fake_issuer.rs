//! An identity provider for tests: fresh key pairs, their public halves, tokens.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use serde_json::{Value, json};

use super::jwt::{JwksSource, JwtOptions};

pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const AUDIENCE: &str = "trackway";
/// Start time of the test clock, in seconds.
pub(super) const NOW: i64 = 1_700_000_000;

/// The bytes before the private number in a PKCS#8 document, for each kind of key.
const ED25519: &[u8] =
    &[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
const P256: &[u8] = &[
    0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
    0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04,
    0x20,
];

/// A key pair of the provider.
pub(super) struct FakeIssuerKeyPair {
    kid: String,
    algorithm: Algorithm,
    private: EncodingKey,
}

impl FakeIssuerKeyPair {
    pub(super) fn generate_ed25519(kid: &str) -> Self {
        let private = EncodingKey::from_ed_der(&pkcs8_document(ED25519));
        Self { kid: kid.to_owned(), algorithm: Algorithm::EdDSA, private }
    }

    pub(super) fn generate_p256(kid: &str) -> Self {
        let private = EncodingKey::from_ec_der(&pkcs8_document(P256));
        Self { kid: kid.to_owned(), algorithm: Algorithm::ES256, private }
    }

    /// Its public half, as an entry of a key set.
    pub(super) fn public_jwk(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.private, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.kid.clone());
        serde_json::to_value(jwk).unwrap()
    }

    /// A token with these claims.
    pub(super) fn sign_token(&self, claims: &Value) -> String {
        self.sign_token_with_header(|_| {}, claims)
    }

    /// The same with another header.
    pub(super) fn sign_token_with_header(&self, change: impl FnOnce(&mut Header), claims: &Value) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.kid.clone());
        change(&mut header);
        encode(&header, claims, &self.private).unwrap()
    }
}

/// Claims that are accepted.
pub(super) fn valid_claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "exp": NOW + 600, "nbf": NOW - 600,
        "tenant": "acme", "sub": "ann", "scope": "openid workflow:echo:run",
    })
}

/// The good claims with some changes; `null` removes a claim.
pub(super) fn valid_claims_except(changes: &Value) -> Value {
    let mut claims = valid_claims();
    for (claim, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(claim)),
            value => claims[claim] = value.clone(),
        }
    }
    claims
}

pub(super) fn sample_jwt_options(keys: JwksSource) -> JwtOptions {
    JwtOptions::new(keys, ISSUER, AUDIENCE).unwrap()
}

fn pkcs8_document(prefix: &[u8]) -> Vec<u8> {
    let mut number = [0; 32];
    getrandom::fill(&mut number).unwrap();
    // Keeps the number below the order of the curve.
    number[0] &= 0x7f;
    [prefix, &number].concat()
}
