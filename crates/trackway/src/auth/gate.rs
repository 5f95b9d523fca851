//! The gatekeeper of a server: it tries the keys, then the tokens.

use std::{path::Path, sync::Arc};

use trackway_ports::{Clock, Gatekeeper, Identity, PortFuture, Unrecognised};

use crate::server::mark_known;

use super::{Auth, AuthError, KeyFile, KeyHash, jwt::Tokens, ring::Ring};

#[derive(Debug)]
pub(crate) struct Gate {
    required: bool,
    keys: Ring,
    tokens: Option<Tokens>,
}

impl Gate {
    /// Reads what can be read now, so that a mistake shows before the server answers requests.
    pub(crate) fn open(auth: Auth, data: &Path, clock: Arc<dyn Clock>) -> Result<Self, AuthError> {
        let Auth { required, keys, jwt } = auth;
        let keys = Ring::open(&keys, KeyFile::in_folder(data))?;
        let tokens = jwt.map(|jwt| Tokens::open(jwt, clock)).transpose()?;
        if required && tokens.is_none() && keys.is_empty() {
            tracing::warn!(
                "auth is required and there is no key yet; `trackway keys create` makes one"
            );
        }
        Ok(Self { required, keys, tokens })
    }

    async fn recognise(&self, bearer: &str) -> Result<Identity, Unrecognised> {
        let found = self.keys.find(&KeyHash::of(bearer));
        if let Ok(Some(identity)) = found {
            return Ok(identity);
        }
        if let Some(tokens) = self.tokens.as_ref().filter(|_| Tokens::is_token(bearer)) {
            return tokens.identify(bearer).await;
        }
        found?.ok_or_else(|| Unrecognised::Wrong {
            reason: "the key is not known, or was revoked".to_owned(),
        })
    }
}

impl Gatekeeper for Gate {
    fn identify<'a>(
        &'a self,
        bearer: Option<&'a str>,
    ) -> PortFuture<'a, Result<Identity, Unrecognised>> {
        Box::pin(async move {
            let identity = match bearer {
                Some(bearer) => self.recognise(bearer).await?,
                None if self.required => return Err(Unrecognised::Missing),
                None => Identity::local(),
            };
            // Connections of known callers are the last to be closed when there are too many.
            mark_known();
            Ok(identity)
        })
    }
}
