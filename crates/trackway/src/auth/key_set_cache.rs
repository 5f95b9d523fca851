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
    jwks::{KeyLookup, KeySet},
    jwt::{JwksLocation, JwksSource, invalid_token},
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
pub(super) struct KeySetCache {
    source: KeySetSource,
    clock: Arc<dyn Clock>,
    /// A `std` lock: it is held only to clone a pointer.
    loaded: RwLock<Option<Arc<LoadedKeySet>>>,
    /// Time of the last fetch. The lock is held during a fetch, so only one task fetches at a time.
    attempted: Mutex<Option<Timestamp>>,
}

#[derive(Debug)]
enum KeySetSource {
    File(std::path::PathBuf),
    Url(UrlFetcher),
}

#[derive(Debug)]
struct LoadedKeySet {
    set: KeySet,
    at: Timestamp,
}

impl KeySetCache {
    /// A file is read immediately, so that a mistake shows at the start. A URL is fetched when it is
    /// needed, because the provider may start later than this server.
    pub(super) fn open(source: JwksSource, clock: Arc<dyn Clock>) -> Result<Self, AuthError> {
        let (source, loaded) = match source.0 {
            JwksLocation::File(path) => {
                let set =
                    fs::read(&path).map_err(|error| error.to_string()).and_then(|text| KeySet::parse(&text));
                let set =
                    set.map_err(|reason| AuthError::KeySet { file: path.display().to_string(), reason })?;
                (KeySetSource::File(path), Some(Arc::new(LoadedKeySet { set, at: clock.now() })))
            }
            JwksLocation::Url(url) => (KeySetSource::Url(UrlFetcher::new(url)?), None),
        };
        Ok(Self { source, clock, loaded: RwLock::new(loaded), attempted: Mutex::new(None) })
    }

    /// The key that a token names.
    pub(super) async fn find_key(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, Unauthenticated> {
        let before = self.current_key_set();
        if let Some(loaded) = self.if_younger_than(before.as_ref(), FRESH_FOR) {
            match loaded.set.find_key(kid, algorithm) {
                KeyLookup::Unknown => {}
                known => return key_or_error(known),
            }
        }
        let now = self.refresh(before.as_ref()).await;
        match self.if_younger_than(now.as_ref(), USABLE_FOR) {
            Some(loaded) => key_or_error(loaded.set.find_key(kid, algorithm)),
            None => Err(Unauthenticated::Unavailable {
                reason: "the keys of the identity provider cannot be fetched now".to_owned(),
            }),
        }
    }

    /// The set after another fetch. There is no fetch if another task has fetched since `before`, or if
    /// it is too soon.
    async fn refresh(&self, before: Option<&Arc<LoadedKeySet>>) -> Option<Arc<LoadedKeySet>> {
        let mut attempted = self.attempted.lock().await;
        let current = self.current_key_set();
        let changed = match (before, current.as_ref()) {
            (Some(before), Some(current)) => !Arc::ptr_eq(before, current),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let now = self.clock.now();
        if changed || attempted.is_some_and(|last| now.duration_since(last) < ATTEMPT_INTERVAL) {
            return current;
        }
        *attempted = Some(now);
        match self.load().await {
            Ok(set) => {
                let fresh = Some(Arc::new(LoadedKeySet { set, at: now }));
                self.loaded.write().unwrap_or_else(PoisonError::into_inner).clone_from(&fresh);
                fresh
            }
            Err(reason) => {
                tracing::warn!(reason, "the keys of the identity provider cannot be fetched");
                current
            }
        }
    }

    async fn load(&self) -> Result<KeySet, String> {
        let text = match &self.source {
            // A blocking read is fine: the file is small, local, and read at most once per interval.
            KeySetSource::File(path) => {
                fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            KeySetSource::Url(fetch) => fetch.get(url_fetcher::KEY_SET_BYTES_MAX).await?,
        };
        KeySet::parse(&text)
    }

    fn current_key_set(&self) -> Option<Arc<LoadedKeySet>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn if_younger_than<'a>(
        &self,
        loaded: Option<&'a Arc<LoadedKeySet>>,
        age: Duration,
    ) -> Option<&'a LoadedKeySet> {
        let now = self.clock.now();
        loaded.filter(|loaded| now.duration_since(loaded.at) < age).map(Arc::as_ref)
    }
}

fn key_or_error(found: KeyLookup) -> Result<DecodingKey, Unauthenticated> {
    match found {
        KeyLookup::Key(key) => Ok(key),
        KeyLookup::OtherAlgorithm => Err(invalid_token("the token's key is not used with its algorithm")),
        KeyLookup::Unknown => Err(invalid_token("the token was signed with an unknown key")),
        KeyLookup::Ambiguous => Err(invalid_token("the token does not say which key signed it")),
    }
}

#[cfg(test)]
mod tests;
