//! Which claims are accepted, and which identity they give.

use serde_json::json;

use super::{
    super::{
        fake_issuer::{NOW, sample_jwt_options, valid_claims, valid_claims_except},
        jwt::JwksSource,
    },
    *,
};

fn authenticate_claims(claims: &Value, options: &JwtOptions) -> Result<Identity, String> {
    let now = Timestamp::from_millis(NOW * 1_000);
    identity_from_claims(claims.as_object().unwrap(), options, now).map_err(|error| error.to_string())
}

fn jwt() -> JwtOptions {
    sample_jwt_options(JwksSource::jwks_file("unused"))
}

/// Proves X6.
#[test]
fn claims_name_tenant_user_and_scopes() {
    let expected = Identity::new(Caller::new("acme", "ann"), Scopes::new(["workflow:echo:run"]).unwrap());
    assert_eq!(authenticate_claims(&valid_claims(), &jwt()).unwrap(), expected);
    let array = valid_claims_except(&json!({ "scope": ["email", "workflow:echo:run"] }));
    assert_eq!(authenticate_claims(&array, &jwt()).unwrap(), expected);
    let several = valid_claims_except(&json!({ "aud": ["other", "trackway"] }));
    assert_eq!(authenticate_claims(&several, &jwt()).unwrap(), expected);
    let named = jwt().tenant_claim("org").user_claim("email").scope_claim("permissions");
    let claims =
        valid_claims_except(&json!({ "org": "acme", "email": "ann", "permissions": ["workflow:echo:run"] }));
    assert_eq!(authenticate_claims(&claims, &named).unwrap(), expected);
    let nothing = authenticate_claims(&valid_claims_except(&json!({ "scope": null })), &jwt()).unwrap();
    assert!(nothing.scopes.has_no_scopes());
}

/// Proves X6.
#[test]
fn tokens_of_others_for_others_or_of_other_times_are_refused() {
    let table = [
        (json!({ "iss": "https://other.example" }), "issuer"),
        (json!({ "iss": ["https://issuer.example"] }), "issuer"),
        (json!({ "iss": null }), "issuer"),
        (json!({ "aud": "other" }), "audience"),
        (json!({ "aud": ["other"] }), "audience"),
        (json!({ "aud": 1 }), "audience"),
        (json!({ "aud": null }), "audience"),
        (json!({ "exp": NOW - 61 }), "expired"),
        (json!({ "exp": -1 }), "expired"),
        (json!({ "exp": null }), "never expires"),
        (json!({ "exp": "tomorrow" }), "not a number"),
        (json!({ "nbf": NOW + 61 }), "not valid yet"),
        (json!({ "nbf": "yesterday" }), "not a number"),
        (json!({ "tenant": null }), "\"tenant\""),
        (json!({ "tenant": "" }), "is empty"),
        (json!({ "tenant": 7 }), "\"tenant\""),
        (json!({ "sub": "a\nb" }), "control characters"),
        (json!({ "sub": "a".repeat(300) }), "longer"),
    ];
    for (changes, says) in table {
        let why = authenticate_claims(&valid_claims_except(&changes), &jwt()).unwrap_err();
        assert!(why.contains(says), "{changes}: {why}");
    }
}

/// The clocks of two machines differ a little.
#[test]
fn a_minute_is_forgiven() {
    for changes in [json!({ "exp": NOW - 59 }), json!({ "nbf": NOW + 59 }), json!({ "exp": 1e300 })] {
        assert!(authenticate_claims(&valid_claims_except(&changes), &jwt()).is_ok(), "{changes}");
    }
}
