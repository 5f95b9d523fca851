//! Retention: a server removes old sessions at its start and once a day from then on.

use std::{sync::Arc, time::Duration};

use trackway_ports::{Clock as _, Journal};
use trackway_runtime::SystemClock;

use crate::sessions::Prune;

/// Ages are counted in days; looking more often would find nothing.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a server removes.
#[derive(Debug)]
pub(super) struct Retention {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) older_than: Duration,
}

impl Retention {
    /// Goes on until it is dropped.
    pub(super) async fn run(self) {
        loop {
            self.sweep().await;
            tokio::time::sleep(EVERY).await;
        }
    }

    /// A store that cannot be read now may be read tomorrow: nothing here ends a server.
    async fn sweep(&self) {
        let prune = Prune { now: SystemClock.now(), older_than: self.older_than, dry_run: false };
        match prune.run(&self.journal).await {
            Ok(removed) => {
                for session in removed {
                    tracing::info!(session = %session.session_id, runs = session.runs, "removed by retention");
                }
            }
            Err(error) => tracing::warn!(%error, "old sessions could not be removed"),
        }
    }
}
