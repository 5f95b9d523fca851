//! Checks the claims of a token whose signature is valid.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::{Caller, Object, Scopes, Timestamp};
use trackway_ports::{Identity, Unauthenticated};

use super::{
    api_key::check_loggable_name,
    jwt::{JwtOptions, invalid_jwt_error},
};

/// How far the clocks of two machines may differ.
/// Limit (HTTP): difference between two clocks that a token may show.
const LEEWAY: Duration = Duration::from_secs(60);

/// The identity that the token proves. The token must come from our issuer, be meant for us, be valid
/// now, and name a tenant and a user.
pub(super) fn identity_from_claims(
    claims: &Object,
    options: &JwtOptions,
    now: Timestamp,
) -> Result<Identity, Unauthenticated> {
    if claims.get("iss").and_then(Value::as_str) != Some(&options.issuer) {
        return Err(invalid_jwt_error("the token comes from another issuer"));
    }
    if !string_or_string_list(claims.get("aud")).any(|audience| audience == options.audience) {
        return Err(invalid_jwt_error("the token is meant for another audience"));
    }
    // Without an expiry a lost token would be valid for ever.
    let expires = time_claim(claims, "exp")?.ok_or_else(|| invalid_jwt_error("the token never expires"))?;
    if expires + LEEWAY <= now {
        return Err(invalid_jwt_error("the token has expired"));
    }
    if time_claim(claims, "nbf")?.is_some_and(|begins| begins > now + LEEWAY) {
        return Err(invalid_jwt_error("the token is not valid yet"));
    }
    let tenant = text_claim(claims, &options.tenant_claim)?;
    let user = text_claim(claims, &options.user_claim)?;
    let scopes = string_or_string_list(claims.get(&options.scope_claim)).flat_map(str::split_whitespace);
    let (scopes, bad) = Scopes::parse_scopes_leniently(scopes);
    for error in bad {
        // The scope permits nothing; the issuer of the token should learn that.
        tracing::warn!(tenant, user, %error, "a scope of a token cannot be read");
    }
    Ok(Identity::new(Caller::new(tenant, user), scopes))
}

/// A claim in seconds since 1970; it may have a fraction.
fn time_claim(claims: &Object, claim: &str) -> Result<Option<Timestamp>, Unauthenticated> {
    let Some(value) = claims.get(claim) else { return Ok(None) };
    let seconds = value.as_f64().filter(|seconds| seconds.is_finite());
    let seconds = seconds.ok_or_else(|| invalid_jwt_error(format!("the claim {claim:?} is not a number")))?;
    // Casts of floats saturate, which is right for the far future and the far past.
    #[expect(clippy::cast_possible_truncation, reason = "beyond its range it saturates")]
    Ok(Some(Timestamp::from_millis((seconds * 1_000.0) as i64)))
}

fn text_claim<'a>(claims: &'a Object, claim: &str) -> Result<&'a str, Unauthenticated> {
    let word = claims.get(claim).and_then(Value::as_str);
    let word =
        word.ok_or_else(|| invalid_jwt_error(format!("the token has no string in its claim {claim:?}")))?;
    check_loggable_name(word)
        .map_err(|why| invalid_jwt_error(format!("the token's claim {claim:?} {why}")))?;
    Ok(word)
}

/// One string, or an array of strings.
fn string_or_string_list(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let all = match value {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    all.iter().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests;
