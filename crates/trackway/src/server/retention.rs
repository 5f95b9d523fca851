//! Retention: a server removes old sessions some minutes after its start, and once a day from then on.

use std::{sync::Arc, time::Duration};

use trackway_ports::{Clock as _, Journal};
use trackway_runtime::{Supervisor, SystemClock};

use trackway_sessions::{Prune, SessionsError};

/// Ages are counted in days; more frequent checks would find nothing.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// A start with many runs is busy, and sessions that are weeks old can wait.
const FIRST_AFTER: Duration = Duration::from_secs(10 * 60);

/// What a server removes.
#[derive(Debug)]
pub(super) struct Retention {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) older_than: Duration,
}

impl Retention {
    /// Runs until it is dropped.
    pub(super) async fn run(self, mut supervisor: Supervisor) {
        tokio::time::sleep(FIRST_AFTER).await;
        loop {
            while let Err(error) = self.sweep().await {
                if supervisor.failed(&error).await.is_break() {
                    return;
                }
            }
            supervisor.succeeded();
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn sweep(&self) -> Result<(), SessionsError> {
        let prune = Prune { now: SystemClock.now(), older_than: self.older_than, dry_run: false };
        for session in prune.run(&self.journal).await? {
            tracing::info!(session = %session.session_id, runs = session.runs, "removed by retention");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use trackway_domain::RunId;
    use trackway_testkit::{MemoryJournal, Trail};

    use super::*;

    async fn is_there(journal: &Arc<dyn Journal>, run: RunId) -> bool {
        journal.run(run).await.unwrap().is_some()
    }

    /// Proves T17.
    #[tokio::test]
    async fn a_sweep_removes_what_is_old_and_done() {
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let done = Trail::guided(1, "done", "wf").open("a").advance("a", "end").completed();
        let open = Trail::guided(2, "open", "wf").open("a").advance("a", "b");
        done.write(&*journal).await;
        open.write(&*journal).await;
        let kept =
            Retention { journal: journal.clone(), older_than: Duration::from_secs(u64::MAX) };
        kept.sweep().await.unwrap();
        assert!(is_there(&journal, done.run()).await, "nothing is that old");
        Retention { journal: journal.clone(), older_than: Duration::ZERO }.sweep().await.unwrap();
        assert!(!is_there(&journal, done.run()).await);
        assert!(is_there(&journal, open.run()).await);
    }
}
