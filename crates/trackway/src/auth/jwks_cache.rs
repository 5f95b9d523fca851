//! A cache of the identity provider's public keys.
//!
//! Keys are fetched lazily: when a token names an unknown key, or the set is old. The provider gets one
//! request per interval, however many tokens with invented keys arrive.

use std::{
    fs,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use jsonwebtoken::{Algorithm, DecodingKey};
use tokio::sync::Mutex;
use trackway_domain::Timestamp;
use trackway_ports::{Clock, Unauthenticated};

use super::{
    AuthError,
    jwks::{JwksKeyLookup, JwksKeySet},
    jwt::{JwksLocation, JwksSource, invalid_jwt_error},
    url_fetcher::{self, UrlFetcher},
};

/// Pause between two attempts to fetch the keys. It is short enough to find a key that the provider has
/// just begun to use, and long enough not to burden the provider.
/// Limit (HTTP): pause between two requests for an issuer's keys.
const ATTEMPT_INTERVAL: Duration = Duration::from_secs(30);
/// The set is fetched again after this time, so that a key that the provider has withdrawn stops working
/// here.
/// Limit (HTTP): age of an issuer's keys before they are requested again.
const FRESH_FOR: Duration = Duration::from_secs(5 * 60);
/// The set is used for this long while the provider cannot be reached.
/// Limit (HTTP): age of an issuer's keys that are used while the issuer cannot be reached.
const USABLE_FOR: Duration = Duration::from_secs(60 * 60);

#[derive(Debug)]
pub(super) struct JwksCache {
    source: JwksFetchSource,
    clock: Arc<dyn Clock>,
    /// A `std` lock: it is held only to clone a pointer.
    loaded: RwLock<Option<Arc<LoadedJwks>>>,
    /// Time of the last fetch. The lock is held during a fetch, so only one task fetches at a time.
    attempted: Mutex<Option<Timestamp>>,
}

#[derive(Debug)]
enum JwksFetchSource {
    File(std::path::PathBuf),
    Url(UrlFetcher),
}

#[derive(Debug)]
struct LoadedJwks {
    set: JwksKeySet,
    at: Timestamp,
}

impl JwksCache {
    /// A file is read immediately, so that a mistake shows at the start. A URL is fetched when it is
    /// needed, because the provider may start later than this server.
    pub(super) fn open(source: JwksSource, clock: Arc<dyn Clock>) -> Result<Self, AuthError> {
        let (source, loaded) = match source.0 {
            JwksLocation::File(path) => {
                let set = fs::read(&path)
                    .map_err(|error| error.to_string())
                    .and_then(|text| JwksKeySet::parse_jwks(&text));
                let set =
                    set.map_err(|reason| AuthError::KeySet { file: path.display().to_string(), reason })?;
                (JwksFetchSource::File(path), Some(Arc::new(LoadedJwks { set, at: clock.now() })))
            }
            JwksLocation::Url(url) => (JwksFetchSource::Url(UrlFetcher::new(url)?), None),
        };
        Ok(Self { source, clock, loaded: RwLock::new(loaded), attempted: Mutex::new(None) })
    }

    /// The key that a token names.
    pub(super) async fn find_or_fetch_token_key(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, Unauthenticated> {
        let before = self.current_key_set();
        if let Some(loaded) = self.key_set_if_younger_than(before.as_ref(), FRESH_FOR) {
            match loaded.set.find_token_key(kid, algorithm) {
                JwksKeyLookup::Unknown => {}
                known => return token_key_or_error(known),
            }
        }
        let now = self.refresh_key_set(before.as_ref()).await;
        match self.key_set_if_younger_than(now.as_ref(), USABLE_FOR) {
            Some(loaded) => token_key_or_error(loaded.set.find_token_key(kid, algorithm)),
            None => Err(Unauthenticated::Unavailable {
                reason: "the keys of the identity provider cannot be fetched now".to_owned(),
            }),
        }
    }

    /// The set after another fetch. There is no fetch if another task has fetched since `before`, or if
    /// it is too soon.
    async fn refresh_key_set(&self, previous: Option<&Arc<LoadedJwks>>) -> Option<Arc<LoadedJwks>> {
        let mut attempted = self.attempted.lock().await;
        let current = self.current_key_set();
        let changed = match (previous, current.as_ref()) {
            (Some(before), Some(current)) => !Arc::ptr_eq(before, current),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let now = self.clock.now();
        if changed || attempted.is_some_and(|last| now.duration_since(last) < ATTEMPT_INTERVAL) {
            return current;
        }
        *attempted = Some(now);
        match self.load_key_set().await {
            Ok(set) => {
                let fresh = Some(Arc::new(LoadedJwks { set, at: now }));
                self.loaded.write().unwrap_or_else(PoisonError::into_inner).clone_from(&fresh);
                fresh
            }
            Err(reason) => {
                tracing::warn!(reason, "the keys of the identity provider cannot be fetched");
                current
            }
        }
    }

    async fn load_key_set(&self) -> Result<JwksKeySet, String> {
        let text = match &self.source {
            // A blocking read is fine: the file is small, local, and read at most once per interval.
            JwksFetchSource::File(path) => {
                fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            JwksFetchSource::Url(fetch) => fetch.fetch_body(url_fetcher::KEY_SET_BYTES_MAX).await?,
        };
        JwksKeySet::parse_jwks(&text)
    }

    fn current_key_set(&self) -> Option<Arc<LoadedJwks>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn key_set_if_younger_than<'a>(
        &self,
        loaded: Option<&'a Arc<LoadedJwks>>,
        max_age: Duration,
    ) -> Option<&'a LoadedJwks> {
        let now = self.clock.now();
        loaded.filter(|loaded| now.duration_since(loaded.at) < max_age).map(Arc::as_ref)
    }
}

fn token_key_or_error(found: JwksKeyLookup) -> Result<DecodingKey, Unauthenticated> {
    match found {
        JwksKeyLookup::Key(key) => Ok(key),
        JwksKeyLookup::OtherAlgorithm => {
            Err(invalid_jwt_error("the token's key is not used with its algorithm"))
        }
        JwksKeyLookup::Unknown => Err(invalid_jwt_error("the token was signed with an unknown key")),
        JwksKeyLookup::Ambiguous => Err(invalid_jwt_error("the token does not say which key signed it")),
    }
}

#[cfg(test)]
mod tests;
