//! All events or runs of a kind, across all pages.

use trackway_domain::RunId;
use trackway_ports::{Journal, ReadError, RunFilter, StoredEvent};

/// Events per read; a store may return fewer if they are large.
const PAGE_EVENTS: usize = 1_024;

/// Every stored event of the run.
pub async fn load_full_log(journal: &dyn Journal, run: RunId) -> Result<Vec<StoredEvent>, ReadError> {
    let mut log: Vec<StoredEvent> = Vec::new();
    loop {
        let after = log.last().map_or(0, |stored| stored.seq);
        let page = journal.list_events(run, after, PAGE_EVENTS).await?;
        if page.is_empty() {
            return Ok(log);
        }
        log.extend(page);
    }
}

/// The runs that need a driver, with or without one.
pub async fn list_runs_to_drive(journal: &dyn Journal) -> Vec<RunId> {
    let rows = journal.list_runs(RunFilter::default(), None, usize::MAX).await;
    let rows = rows.expect("the store can be read").into_iter();
    rows.filter(|row| row.runnable || row.parked).map(|row| row.id).collect()
}
