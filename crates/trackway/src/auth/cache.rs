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
use trackway_ports::{Clock, Unrecognised};

use super::{
    AuthError,
    fetch::{self, Fetch},
    jwks::{Found, KeySet},
    jwt::{JwksSource, Place, wrong},
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
pub(super) struct Cache {
    source: Source,
    clock: Arc<dyn Clock>,
    /// A `std` lock: it is held only to clone a pointer.
    loaded: RwLock<Option<Arc<Loaded>>>,
    /// Time of the last fetch. The lock is held during a fetch, so only one task fetches at a time.
    attempted: Mutex<Option<Timestamp>>,
}

#[derive(Debug)]
enum Source {
    File(std::path::PathBuf),
    Url(Fetch),
}

#[derive(Debug)]
struct Loaded {
    set: KeySet,
    at: Timestamp,
}

impl Cache {
    /// A file is read immediately, so that a mistake shows at the start. A URL is fetched when it is
    /// needed, because the provider may start later than this server.
    pub(super) fn open(source: JwksSource, clock: Arc<dyn Clock>) -> Result<Self, AuthError> {
        let (source, loaded) = match source.0 {
            Place::File(path) => {
                let set = fs::read(&path)
                    .map_err(|error| error.to_string())
                    .and_then(|text| KeySet::parse(&text));
                let set = set.map_err(|reason| AuthError::KeySet {
                    file: path.display().to_string(),
                    reason,
                })?;
                (Source::File(path), Some(Arc::new(Loaded { set, at: clock.now() })))
            }
            Place::Url(url) => (Source::Url(Fetch::new(url)?), None),
        };
        Ok(Self { source, clock, loaded: RwLock::new(loaded), attempted: Mutex::new(None) })
    }

    /// The key that a token names.
    pub(super) async fn find(
        &self,
        kid: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<DecodingKey, Unrecognised> {
        let before = self.loaded();
        if let Some(loaded) = self.younger(before.as_ref(), FRESH_FOR) {
            match loaded.set.find(kid, algorithm) {
                Found::Unknown => {}
                known => return judge(known),
            }
        }
        let now = self.refreshed(before.as_ref()).await;
        match self.younger(now.as_ref(), USABLE_FOR) {
            Some(loaded) => judge(loaded.set.find(kid, algorithm)),
            None => Err(Unrecognised::Unavailable {
                reason: "the keys of the identity provider cannot be fetched now".to_owned(),
            }),
        }
    }

    /// The set after another fetch. There is no fetch if another task has fetched since `before`, or if
    /// it is too soon.
    async fn refreshed(&self, before: Option<&Arc<Loaded>>) -> Option<Arc<Loaded>> {
        let mut attempted = self.attempted.lock().await;
        let current = self.loaded();
        let changed = match (before, current.as_ref()) {
            (Some(before), Some(current)) => !Arc::ptr_eq(before, current),
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let now = self.clock.now();
        if changed || attempted.is_some_and(|last| now.since(last) < ATTEMPT_INTERVAL) {
            return current;
        }
        *attempted = Some(now);
        match self.load().await {
            Ok(set) => {
                let fresh = Some(Arc::new(Loaded { set, at: now }));
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
            Source::File(path) => {
                fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?
            }
            Source::Url(fetch) => fetch.get(fetch::KEY_SET_BYTES_MAX).await?,
        };
        KeySet::parse(&text)
    }

    fn loaded(&self) -> Option<Arc<Loaded>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn younger<'a>(&self, loaded: Option<&'a Arc<Loaded>>, age: Duration) -> Option<&'a Loaded> {
        let now = self.clock.now();
        loaded.filter(|loaded| now.since(loaded.at) < age).map(Arc::as_ref)
    }
}

fn judge(found: Found) -> Result<DecodingKey, Unrecognised> {
    match found {
        Found::Key(key) => Ok(key),
        Found::OtherAlgorithm => Err(wrong("the token's key is not used with its algorithm")),
        Found::Unknown => Err(wrong("the token was signed with an unknown key")),
        Found::Ambiguous => Err(wrong("the token does not say which key signed it")),
    }
}

#[cfg(test)]
mod tests;
