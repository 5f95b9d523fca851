//! The authenticator of a server: it tries the keys, then the tokens, and then asks for whom another node
//! calls.

use std::sync::Arc;

use trackway_domain::Caller;
use trackway_mesh::CallTokenVerifier;
use trackway_ports::{
    Authenticator, Clock, Credentials, Identity, KeyStore, PortFuture, SharedAuditRecorder, Unauthenticated,
};

use crate::server::mark_caller_authenticated;

use super::{
    ApiKeyHash, ApiKeys, Auth, AuthError, api_key::check_loggable_name, api_key_ring::ApiKeyRing,
    jwt::JwtAuthenticator,
};

#[derive(Debug)]
pub(crate) struct ServerAuthenticator {
    keys: BearerCheck,
    calls: CallTokenVerifier,
    audit: SharedAuditRecorder,
}

/// What is done with keys and tokens of callers.
#[derive(Debug)]
enum BearerCheck {
    /// Nothing is configured: every caller is the local one.
    Disabled,
    Enabled(Box<KnownCallers>),
}

/// The keys and tokens that are accepted.
#[derive(Debug)]
struct KnownCallers {
    /// A caller without a key is refused.
    required: bool,
    keys: ApiKeyRing,
    tokens: Option<JwtAuthenticator>,
}

impl ServerAuthenticator {
    /// Reads what can be read now, so that a mistake shows before the server answers requests.
    pub(crate) async fn open(
        auth: Auth,
        store: Arc<dyn KeyStore>,
        clock: Arc<dyn Clock>,
        calls: CallTokenVerifier,
        audit: SharedAuditRecorder,
    ) -> Result<Self, AuthError> {
        if auth.is_disabled() {
            return Ok(Self { keys: BearerCheck::Disabled, calls, audit });
        }
        let Auth { required, keys, jwt } = auth;
        let keys = ApiKeyRing::open(&keys, ApiKeys::in_store(store)).await?;
        let tokens = jwt.map(|jwt| JwtAuthenticator::open(jwt, clock)).transpose()?;
        if required && tokens.is_none() && keys.has_no_keys() {
            tracing::warn!("auth is required and there is no key yet; `trackway keys create` makes one");
        }
        let known = KnownCallers { required, keys, tokens };
        Ok(Self { keys: BearerCheck::Enabled(Box::new(known)), calls, audit })
    }

    /// The caller with this key or token.
    async fn authenticate_bearer(&self, bearer: Option<&str>) -> Result<Identity, Unauthenticated> {
        let BearerCheck::Enabled(known) = &self.keys else { return Ok(Identity::local_user()) };
        let KnownCallers { required, keys, tokens } = &**known;
        let Some(bearer) = bearer else {
            return if *required { Err(Unauthenticated::Missing) } else { Ok(Identity::local_user()) };
        };
        let found = keys.find_identity(&ApiKeyHash::from_api_key(bearer)).await;
        if let Ok(Some(identity)) = found {
            return Ok(identity);
        }
        if let Some(tokens) = tokens.as_ref().filter(|_| JwtAuthenticator::looks_like_jwt(bearer)) {
            return tokens.authenticate_jwt(bearer).await;
        }
        found?.ok_or_else(|| Unauthenticated::Wrong {
            reason: "the key is not known, or was revoked".to_owned(),
        })
    }

    /// The same caller, or the one for whom a trusted node calls with this caller's key. The scopes stay
    /// those of the key. A node that may call for anybody of one tenant still has no access to another; only
    /// without auth, where a key proves nothing, the tenant is as claimed. The chain of agents counts in any
    /// case.
    fn believe_call_token(&self, identity: Identity, token: &str) -> Identity {
        let received = match self.calls.read_call_token(token) {
            Ok(received) => received,
            Err(error) => {
                tracing::debug!(%error, "a call token is ignored");
                return identity;
            }
        };
        let believed = match received.refusal {
            Some(refusal) => Err(refusal.to_string()),
            None => self.check_claimed_caller(&identity, &received.claims.caller),
        };
        let identity = identity.with_call_chain(received.claims.call_chain);
        match believed {
            Ok(()) => identity.with_caller(received.claims.caller),
            Err(reason) => {
                tracing::debug!(reason, "the caller in a call token is not believed");
                identity
            }
        }
    }

    fn check_claimed_caller(&self, presented: &Identity, claimed: &Caller) -> Result<(), String> {
        for name in [&claimed.tenant, &claimed.user] {
            check_loggable_name(name).map_err(|why| format!("a name {why}"))?;
        }
        match self.keys {
            BearerCheck::Enabled(_) if claimed.tenant != presented.caller.tenant => {
                Err("the key of the request is of another tenant".to_owned())
            }
            BearerCheck::Enabled(_) | BearerCheck::Disabled => Ok(()),
        }
    }
}

impl Authenticator for ServerAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        Box::pin(async move {
            let identity = self.authenticate_bearer(credentials.bearer).await?;
            if self.checks_bearers() {
                // Connections of known callers are the last to be closed when there are too many.
                mark_caller_authenticated();
            }
            let identity = identity.with_audit(self.audit.clone());
            Ok(match credentials.call_token {
                Some(token) => self.believe_call_token(identity, token),
                None => identity,
            })
        })
    }

    fn checks_bearers(&self) -> bool {
        matches!(self.keys, BearerCheck::Enabled(_))
    }
}

#[cfg(test)]
mod tests;
