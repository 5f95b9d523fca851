//! Signed references: addresses with which another node reads one version of one artifact, for a limited time and
//! without credentials.
//!
//! A reference is made from an artifact that a caller was allowed to read, and names the owner's row, not the
//! reader. `art.v1.KEY.CLAIMS.SIGNATURE` is one word of letters, digits, `-`, `_` and dots, so that it can be a
//! segment of a path.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use trackway_domain::{
    Access, ArtifactFilename, ArtifactScope, ArtifactScopeKind, Caller, ErrorCode, RunId, SessionId,
    Timestamp,
};
use trackway_ports::{Clock, PortFuture};

use crate::{ArtifactLookup, StoredArtifact};

/// Long enough for a remote workflow that waits in a queue, short enough that an address in a log is of no use
/// the next day.
/// Limit (Artifacts): how long a signed reference can be used.
pub const REFERENCE_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Several times as long as a reference with the longest names.
/// Limit (Artifacts): length of a signed reference.
const REFERENCE_BYTES_MAX: usize = 4 * 1024;

const PREFIX: &str = "art.v1";

/// A key that signs references.
#[derive(Clone, PartialEq, Eq)]
pub struct ReferenceKey {
    /// Letters and digits, the same in every process on the store.
    pub name: String,
    /// None if the key is retired: what it signed has expired.
    pub secret: Option<[u8; 32]>,
}

/// The keys of a store.
pub trait ReferenceKeys: Send + Sync + fmt::Debug {
    /// All keys, the newest first; the first one that is not retired signs. Another process may have changed
    /// them, so each use asks again.
    fn load_reference_keys(&self) -> PortFuture<'_, Vec<ReferenceKey>>;
}

/// Makes and checks signed references.
#[derive(Debug, Clone)]
pub struct ReferenceSigner {
    keys: Arc<dyn ReferenceKeys>,
    clock: Arc<dyn Clock>,
    base_url: Option<String>,
}

/// What a reference names: one version, as its owner finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferencedArtifact {
    pub access: Access,
    pub lookup: ArtifactLookup,
}

/// Why a reference is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignedReferenceError {
    #[error("this is not a signed reference")]
    Malformed,
    #[error("this reference was altered after it was made")]
    Changed,
    #[error("this reference was made by another server")]
    Foreign,
    #[error("this reference has expired")]
    Expired,
}

impl SignedReferenceError {
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Malformed => ErrorCode::TokenMalformed,
            Self::Changed => ErrorCode::TokenChanged,
            Self::Foreign => ErrorCode::TokenForeign,
            Self::Expired => ErrorCode::TokenExpired,
        }
    }
}

/// What a reference says. A field that is not known here may restrict it, so it is refused.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceClaims {
    tenant: String,
    user: String,
    scope: ArtifactScopeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
    filename: ArtifactFilename,
    version: u32,
    /// In milliseconds since 1970.
    expires: i64,
}

impl ReferenceSigner {
    /// The base is the address under which other nodes reach this one; without it there are no addresses.
    pub fn new(keys: Arc<dyn ReferenceKeys>, clock: Arc<dyn Clock>, base_url: Option<String>) -> Self {
        let base_url = base_url.map(|url| url.trim_end_matches('/').to_owned());
        Self { keys, clock, base_url }
    }

    /// The address of this version of the artifact; `None` if this process is not reachable.
    pub async fn sign_artifact_url(&self, artifact: &StoredArtifact) -> Option<String> {
        let base = self.base_url.as_ref()?;
        let token = self.sign_artifact(artifact).await?;
        Some(format!("{base}/api/artifacts/signed/{token}"))
    }

    /// The reference alone; `None` if every key is retired.
    pub async fn sign_artifact(&self, artifact: &StoredArtifact) -> Option<String> {
        let (run, session) = match &artifact.scope {
            ArtifactScope::Run(run) => (Some(*run), None),
            ArtifactScope::Session(session) => (None, Some(session.clone())),
            ArtifactScope::User | ArtifactScope::Tenant => (None, None),
        };
        let claims = ReferenceClaims {
            tenant: artifact.owner.tenant.to_string(),
            user: artifact.owner.user.to_string(),
            scope: artifact.scope.kind(),
            run,
            session,
            filename: artifact.filename.clone(),
            version: artifact.version,
            expires: (self.clock.now() + REFERENCE_LIFETIME).millis(),
        };
        let claims = BASE64_URL_SAFE_NO_PAD.encode(serde_json::to_vec(&claims).ok()?);
        let keys = self.keys.load_reference_keys().await;
        let (name, secret) = keys.into_iter().find_map(|key| Some((key.name, key.secret?)))?;
        let signature =
            BASE64_URL_SAFE_NO_PAD.encode(reference_mac(&secret, &name, &claims).finalize().into_bytes());
        Some(format!("{PREFIX}.{name}.{claims}.{signature}"))
    }

    /// The version that a reference names, if it is one of ours and has not expired. The version may have been
    /// deleted since.
    pub async fn verify_reference(&self, text: &str) -> Result<ReferencedArtifact, SignedReferenceError> {
        if text.len() > REFERENCE_BYTES_MAX {
            return Err(SignedReferenceError::Malformed);
        }
        let body = text.strip_prefix(PREFIX).and_then(|body| body.strip_prefix('.'));
        let segments: Vec<&str> = body.unwrap_or_default().split('.').collect();
        let [name, claims, signature] = segments[..] else { return Err(SignedReferenceError::Malformed) };
        let signature =
            BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| SignedReferenceError::Malformed)?;
        let keys = self.keys.load_reference_keys().await;
        check_signature(&keys, name, claims, &signature)?;
        let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).map_err(|_| SignedReferenceError::Malformed)?;
        let claims: ReferenceClaims =
            serde_json::from_slice(&claims).map_err(|_| SignedReferenceError::Malformed)?;
        if self.clock.now() >= Timestamp::from_millis(claims.expires) {
            return Err(SignedReferenceError::Expired);
        }
        claims.into_referenced_artifact().ok_or(SignedReferenceError::Malformed)
    }
}

impl ReferenceClaims {
    fn into_referenced_artifact(self) -> Option<ReferencedArtifact> {
        let Self { scope, run, session, filename, version, .. } = self;
        match (scope, &run, &session) {
            (ArtifactScopeKind::Run, Some(_), None)
            | (ArtifactScopeKind::Session, None, Some(_))
            | (ArtifactScopeKind::User | ArtifactScopeKind::Tenant, None, None) => {}
            _ => return None,
        }
        let access = Access::own_only(Caller::new(&self.tenant, &self.user));
        let lookup = ArtifactLookup { filename, run, session, scope: Some(scope), version: Some(version) };
        Some(ReferencedArtifact { access, lookup })
    }
}

fn check_signature(
    keys: &[ReferenceKey],
    name: &str,
    claims: &str,
    signature: &[u8],
) -> Result<(), SignedReferenceError> {
    // The comparison takes the same time wherever the first difference is.
    let is_signed_by =
        |secret: &[u8; 32], name: &str| reference_mac(secret, name, claims).verify_slice(signature).is_ok();
    match keys.iter().find(|key| key.name == name) {
        Some(ReferenceKey { secret: None, .. }) => Err(SignedReferenceError::Expired),
        Some(ReferenceKey { secret: Some(secret), .. }) if is_signed_by(secret, name) => Ok(()),
        Some(_) => Err(SignedReferenceError::Changed),
        None => {
            // One of our keys signed it, but the name of the key was altered.
            let ours = |key: &ReferenceKey| key.secret.is_some_and(|secret| is_signed_by(&secret, &key.name));
            Err(if keys.iter().any(ours) {
                SignedReferenceError::Changed
            } else {
                SignedReferenceError::Foreign
            })
        }
    }
}

fn reference_mac(secret: &[u8; 32], name: &str, claims: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key may have any length");
    for part in [PREFIX, ".", name, ".", claims] {
        mac.update(part.as_bytes());
    }
    mac
}

/// The secret is not printed.
impl fmt::Debug for ReferenceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceKey").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
