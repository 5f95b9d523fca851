//! Going on after a crash: the same code as in ordinary work, started from what the store holds.

use std::sync::Arc;

use trackway_domain::RunId;
use trackway_ports::{OutboxId, ReadError};

use crate::{core::Core, supervise::Supervisor};

/// Rows read at once while looking for work.
const PAGE_ROWS: usize = 256;

/// Takes up what an earlier process left: errands first, since they make runs, then programs. `newest`
/// was made when this process began: ids grow with time, so a later run is this process's own.
pub(crate) async fn recover(core: Arc<Core>, newest: RunId) {
    let mut supervisor = Supervisor::new(&core, "recovery");
    let mut after = None;
    while let Err(error) = errands(&core, &mut after).await {
        if supervisor.failed(&error).await.is_break() {
            return;
        }
    }
    let (mut after, mut count) = (None, 0);
    while let Err(error) = programs(&core, newest, &mut after, &mut count).await {
        if supervisor.failed(&error).await.is_break() {
            return;
        }
    }
    if count > 0 {
        tracing::info!(count, "unfinished runs go on");
    }
}

/// Carries out the errands behind `after`, which moves with each page.
async fn errands(core: &Arc<Core>, after: &mut Option<OutboxId>) -> Result<(), ReadError> {
    loop {
        let page = core.options.journal.outbox(*after, PAGE_ROWS).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        *after = Some(last.id);
        // In order and one at a time: errands about one child must keep their order.
        for row in page {
            if core.is_stopping() {
                return Ok(());
            }
            core.do_errand(row.id, row.item).await;
        }
    }
}

/// Wakes the runs behind `after`, which moves with each page, and counts them.
async fn programs(
    core: &Arc<Core>,
    newest: RunId,
    after: &mut Option<RunId>,
    count: &mut usize,
) -> Result<(), ReadError> {
    loop {
        let page = core.options.journal.runnable(*after, PAGE_ROWS).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        *after = Some(*last);
        for run in page {
            if run > newest {
                return Ok(());
            }
            *count += 1;
            core.reach("recovery:run");
            core.wake(run);
        }
    }
}
