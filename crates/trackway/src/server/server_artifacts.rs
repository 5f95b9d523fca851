//! The artifact service of a server, and the keys of its signed references.

use std::sync::Arc;

use tokio::sync::OnceCell;
use trackway_artifacts::{
    ArtifactLimits, ArtifactService, ArtifactServiceOptions, ReferenceKey, ReferenceKeys, ReferenceSigner,
};
use trackway_mcp::KeyRing;
use trackway_ports::{Clock, KeyStore, PortFuture, SharedAuditRecorder, Store};
use trackway_runtime::SystemClock;

use super::Server;

/// What the keys of references are derived for.
const PURPOSE: &[u8] = b"signed artifact references";

impl Server {
    /// How large artifacts may be, and how much one owner may store.
    #[must_use]
    pub fn artifact_limits(mut self, limits: ArtifactLimits) -> Self {
        self.artifact_limits = limits;
        self
    }

    /// The artifacts of an open store.
    pub(super) fn open_artifacts(
        &self,
        store: &Store,
        clock: Arc<dyn Clock>,
        audit: SharedAuditRecorder,
    ) -> Arc<ArtifactService> {
        Arc::new(ArtifactService::new(ArtifactServiceOptions {
            store: store.artifacts.clone(),
            blobs: store.blobs.clone(),
            journal: store.journal.clone(),
            clock,
            limits: self.artifact_limits,
            audit,
        }))
    }
}

/// Signs references to artifacts at this address.
pub(super) fn open_reference_signer(keys: Arc<dyn KeyStore>, base_url: Option<String>) -> ReferenceSigner {
    let keys = RingReferenceKeys { keys, ring: OnceCell::new() };
    ReferenceSigner::new(Arc::new(keys), Arc::new(SystemClock), base_url)
}

/// Keys that are derived from those for tokens. They are opened when the first reference is made or checked, so
/// that a folder whose server never does gets none.
#[derive(Debug)]
struct RingReferenceKeys {
    keys: Arc<dyn KeyStore>,
    ring: OnceCell<KeyRing>,
}

impl ReferenceKeys for RingReferenceKeys {
    fn load_reference_keys(&self) -> PortFuture<'_, Vec<ReferenceKey>> {
        Box::pin(async move {
            let open = || KeyRing::open(self.keys.clone(), SystemClock.now());
            let ring = match self.ring.get_or_try_init(open).await {
                Ok(ring) => ring,
                Err(error) => {
                    tracing::error!(%error, "the keys of signed references cannot be read");
                    return Vec::new();
                }
            };
            ring.reload_if_changed().await;
            let derived = ring.derive_rotated_keys(PURPOSE).into_iter();
            derived.map(|key| ReferenceKey { name: key.name, secret: key.secret }).collect()
        })
    }
}
