//! Everything of a kind, however many pages that takes.

use trackway_domain::RunId;
use trackway_ports::{Journal, ReadError, RunFilter, Stored};

/// Events asked for at once; a store may return fewer where they are large.
const PAGE_EVENTS: usize = 1_024;

/// Every event of the run that is stored.
pub async fn whole_log(journal: &dyn Journal, run: RunId) -> Result<Vec<Stored>, ReadError> {
    let mut log: Vec<Stored> = Vec::new();
    loop {
        let after = log.last().map_or(0, |stored| stored.seq);
        let page = journal.events(run, after, PAGE_EVENTS).await?;
        if page.is_empty() {
            return Ok(log);
        }
        log.extend(page);
    }
}

/// The runs that are to be driven, whoever drives them.
pub async fn runs_to_drive(journal: &dyn Journal) -> Vec<RunId> {
    let rows = journal.runs(RunFilter::default(), None, usize::MAX).await;
    let rows = rows.expect("the store can be read").into_iter();
    rows.filter(|row| row.runnable || row.parked).map(|row| row.id).collect()
}
