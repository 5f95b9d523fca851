//! The suite itself, for the memory journal, and a check that no case is forgotten.

use super::*;
use crate::{MemoryJournal, MemoryKeys};

struct InMemory(MemoryJournal, MemoryKeys);

impl StoreUnderTest for InMemory {
    fn create_empty() -> PortFuture<'static, Self> {
        Box::pin(async { Self(MemoryJournal::new(), MemoryKeys::default()) })
    }

    fn open_journal(&self) -> PortFuture<'_, Arc<dyn Journal>> {
        Box::pin(async { Arc::new(self.0.reopen_as_next_process()) as Arc<dyn Journal> })
    }

    fn open_keys(&self) -> PortFuture<'_, Arc<dyn KeyStore>> {
        Box::pin(async { Arc::new(self.1.clone()) as Arc<dyn KeyStore> })
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
