//! The suite itself, for the memory journal, and a check that no case is forgotten.

use super::*;
use crate::{MemoryAuditLog, MemoryJournal, MemoryKeys};

struct InMemory(MemoryJournal, MemoryKeys, MemoryAuditLog);

impl StoreUnderTest for InMemory {
    fn create_empty() -> PortFuture<'static, Self> {
        Box::pin(async { Self(MemoryJournal::new(), MemoryKeys::default(), MemoryAuditLog::default()) })
    }

    fn open_journal(&self) -> PortFuture<'_, Arc<dyn Journal>> {
        Box::pin(async { Arc::new(self.0.reopen_as_next_process()) as Arc<dyn Journal> })
    }

    fn open_keys(&self) -> PortFuture<'_, Arc<dyn KeyStore>> {
        Box::pin(async { Arc::new(self.1.clone()) as Arc<dyn KeyStore> })
    }

    fn open_artifacts(&self) -> PortFuture<'_, Arc<dyn ArtifactStore>> {
        Box::pin(async { Arc::new(self.0.reopen_as_next_process()) as Arc<dyn ArtifactStore> })
    }

    fn open_blobs(&self) -> PortFuture<'_, Arc<dyn Blobs>> {
        Box::pin(async { Arc::new(self.0.blob_store()) as Arc<dyn Blobs> })
    }

    fn open_audit(&self) -> PortFuture<'_, Arc<dyn AuditLog>> {
        Box::pin(async { Arc::new(self.2.clone()) as Arc<dyn AuditLog> })
    }
}

mod in_memory {
    use super::InMemory;

    crate::journal_suite!(InMemory);
}

#[test]
fn every_case_is_in_the_macro() {
    let list = include_str!("../journal_suite.rs");
    let files = [
        include_str!("artifact_lists.rs"),
        include_str!("artifact_removal.rs"),
        include_str!("artifacts.rs"),
        include_str!("audit.rs"),
        include_str!("claims.rs"),
        include_str!("content.rs"),
        include_str!("feed.rs"),
        include_str!("guided.rs"),
        include_str!("hooks.rs"),
        include_str!("keys.rs"),
        include_str!("lasting.rs"),
        include_str!("leases.rs"),
        include_str!("log.rs"),
        include_str!("outbox.rs"),
        include_str!("rows.rs"),
        include_str!("sessions.rs"),
        include_str!("statuses.rs"),
        include_str!("timers.rs"),
    ];
    let cases = files
        .iter()
        .flat_map(|file| file.lines())
        .filter_map(|line| line.strip_prefix("pub async fn "))
        .filter_map(|line| line.split(['<', '(']).next());
    let mut found = 0;
    for case in cases {
        let listed = list.lines().any(|line| line.trim().trim_end_matches("(store)") == case);
        assert!(listed, "{case} is not in the macro");
        found += 1;
    }
    assert!(found > 40, "only {found} cases were found");
}
