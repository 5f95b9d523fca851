//! Retention: a server removes old sessions some minutes after its start, and once a day from then on.

use std::{sync::Arc, time::Duration};

use trackway_ports::{Clock as _, Journal};
use trackway_runtime::{SystemClock, TaskSupervisor};

use trackway_sessions::{PruneRequest, SessionsError};

/// Ages are counted in days; more frequent checks would find nothing.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// A start with many runs is busy, and sessions that are weeks old can wait.
const FIRST_AFTER: Duration = Duration::from_secs(10 * 60);

/// What a server removes.
#[derive(Debug)]
pub(super) struct RetentionTask {
    pub(super) journal: Arc<dyn Journal>,
    pub(super) older_than: Duration,
}

impl RetentionTask {
    /// Runs until it is dropped.
    pub(super) async fn prune_until_dropped(self, mut supervisor: TaskSupervisor) {
        tokio::time::sleep(FIRST_AFTER).await;
        loop {
            while let Err(error) = self.prune_old_sessions().await {
                if supervisor.back_off_after_failure(&error).await.is_break() {
                    return;
                }
            }
            supervisor.on_task_success();
            tokio::time::sleep(EVERY).await;
        }
    }

    async fn prune_old_sessions(&self) -> Result<(), SessionsError> {
        let prune = PruneRequest { now: SystemClock.now(), older_than: self.older_than, dry_run: false };
        for session in prune.prune_sessions(&self.journal).await? {
            tracing::info!(session = %session.session_id, runs = session.runs, "removed by retention");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use trackway_domain::RunId;
    use trackway_testkit::{GuidedRunBuilder, MemoryJournal};

    use super::*;

    async fn run_exists(journal: &Arc<dyn Journal>, run: RunId) -> bool {
        journal.find_run(run).await.unwrap().is_some()
    }

    /// Proves T17.
    #[tokio::test]
    async fn sweep_removes_old_finished_sessions() {
        let journal: Arc<dyn Journal> = Arc::new(MemoryJournal::new());
        let done = GuidedRunBuilder::new_guided_run(1, "done", "wf")
            .open_node("a")
            .advance_node("a", "end")
            .complete_run();
        let open = GuidedRunBuilder::new_guided_run(2, "open", "wf").open_node("a").advance_node("a", "b");
        done.append_to_journal(&*journal).await;
        open.append_to_journal(&*journal).await;
        let kept = RetentionTask { journal: journal.clone(), older_than: Duration::from_secs(u64::MAX) };
        kept.prune_old_sessions().await.unwrap();
        assert!(run_exists(&journal, done.run_id()).await, "nothing is that old");
        RetentionTask { journal: journal.clone(), older_than: Duration::ZERO }
            .prune_old_sessions()
            .await
            .unwrap();
        assert!(!run_exists(&journal, done.run_id()).await);
        assert!(run_exists(&journal, open.run_id()).await);
    }
}
