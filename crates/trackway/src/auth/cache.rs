//! The provider's keys as they were when last asked for.
//!
//! Asking is lazy: a token brings it about, when its key is not known or the set has grown old. However
//! many tokens with made-up keys arrive, the provider is asked once per interval.

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

/// Between two attempts to get the keys: soon enough for a key that the provider has just begun to
/// use, seldom enough to be no burden to it.
/// Limit (HTTP): pause between two requests for an issuer's keys.
const ATTEMPT_INTERVAL: Duration = Duration::from_secs(30);
/// A set is asked for again after this long, so that a key which the provider has withdrawn ends here.
/// Limit (HTTP): age of an issuer's keys before they are requested again.
const FRESH_FOR: Duration = Duration::from_secs(5 * 60);
/// A set is used for this long where the provider cannot be reached.
/// Limit (HTTP): age of an issuer's keys that are used while the issuer cannot be reached.
const USABLE_FOR: Duration = Duration::from_secs(60 * 60);

#[derive(Debug)]
pub(super) struct Cache {
    source: Source,
    clock: Arc<dyn Clock>,
    /// A `std` lock: it is held to clone a pointer.
    loaded: RwLock<Option<Arc<Loaded>>>,
    /// When the source was asked last. Held while it is, so that it is asked by one at a time.
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
    /// A file is read at once, so that a mistake shows at the start; an address is asked when needed,
    /// since a provider may start later than we do.
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
                reason: "the keys of the identity provider cannot be had at the moment".to_owned(),
            }),
        }
    }

    /// The set after asking for it again, unless somebody has done so since `before`, or it is too soon.
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
                tracing::warn!(reason, "the keys of the identity provider cannot be had");
                current
            }
        }
    }

    async fn load(&self) -> Result<KeySet, String> {
        let text = match &self.source {
            // Small, on this machine, and read once per interval at the most.
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
