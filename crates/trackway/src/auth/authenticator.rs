//! The authenticator of a server: it tries the keys, then the tokens.

use std::sync::Arc;

use trackway_ports::{Authenticator, Clock, Identity, KeyStore, PortFuture, Unauthenticated};

use crate::server::mark_caller_authenticated;

use super::{ApiKeyHash, ApiKeys, Auth, AuthError, api_key_ring::ApiKeyRing, jwt::JwtAuthenticator};

#[derive(Debug)]
pub(crate) struct ServerAuthenticator {
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
    ) -> Result<Self, AuthError> {
        let Auth { required, keys, jwt } = auth;
        let keys = ApiKeyRing::open(&keys, ApiKeys::in_store(store)).await?;
        let tokens = jwt.map(|jwt| JwtAuthenticator::open(jwt, clock)).transpose()?;
        if required && tokens.is_none() && keys.has_no_keys() {
            tracing::warn!("auth is required and there is no key yet; `trackway keys create` makes one");
        }
        Ok(Self { required, keys, tokens })
    }

    async fn authenticate_bearer(&self, bearer: &str) -> Result<Identity, Unauthenticated> {
        let found = self.keys.find_identity(&ApiKeyHash::from_api_key(bearer)).await;
        if let Ok(Some(identity)) = found {
            return Ok(identity);
        }
        if let Some(tokens) = self.tokens.as_ref().filter(|_| JwtAuthenticator::looks_like_jwt(bearer)) {
            return tokens.authenticate_jwt(bearer).await;
        }
        found?.ok_or_else(|| Unauthenticated::Wrong {
            reason: "the key is not known, or was revoked".to_owned(),
        })
    }
}

impl Authenticator for ServerAuthenticator {
    fn authenticate<'a>(
        &'a self,
        bearer: Option<&'a str>,
    ) -> PortFuture<'a, Result<Identity, Unauthenticated>> {
        Box::pin(async move {
            let identity = match bearer {
                Some(bearer) => self.authenticate_bearer(bearer).await?,
                None if self.required => return Err(Unauthenticated::Missing),
                None => Identity::local_user(),
            };
            // Connections of known callers are the last to be closed when there are too many.
            mark_caller_authenticated();
            Ok(identity)
        })
    }
}
