//! What a call token says.

use serde::Deserialize;
use serde_json::{Value, json};
use trackway_domain::{CallChain, Caller, Timestamp, normalize_integers};

use super::MalformedCallToken;

/// What a node says about its call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallClaims {
    /// For whom the node calls.
    pub caller: Caller,
    /// Through which agents the call came.
    pub call_chain: CallChain,
    /// The node that the token is for.
    pub audience: String,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
}

/// The claims as they are written. Times are whole seconds (RFC 7519, 4.1).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenClaims {
    tenant: String,
    user: String,
    depth: u32,
    ancestors: Vec<String>,
    aud: String,
    iat: i64,
    exp: i64,
}

impl CallClaims {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "tenant": self.caller.tenant,
            "user": self.caller.user,
            "depth": self.call_chain.depth,
            "ancestors": self.call_chain.ancestors,
            "aud": self.audience,
            "iat": self.issued_at.millis().div_euclid(1_000),
            "exp": self.expires_at.millis().div_euclid(1_000),
        })
    }

    pub(super) fn from_json(mut claims: Value) -> Result<Self, MalformedCallToken> {
        normalize_integers(&mut claims);
        let written: WrittenClaims =
            serde_json::from_value(claims).map_err(|_| MalformedCallToken("its claims are not ours"))?;
        let WrittenClaims { tenant, user, depth, ancestors, aud, iat, exp } = written;
        let call_chain = CallChain::new(depth, ancestors)
            .map_err(|_| MalformedCallToken("its chain of agents is too long"))?;
        let moment = |seconds: i64| Timestamp::from_millis(seconds.saturating_mul(1_000));
        Ok(Self {
            caller: Caller::new(&tenant, &user),
            call_chain,
            audience: aud,
            issued_at: moment(iat),
            expires_at: moment(exp),
        })
    }
}
