//! Going on after a crash: the same code as in ordinary work, started from what the store holds.

use std::sync::Arc;

use trackway_domain::RunId;
use trackway_ports::ReadError;

use crate::core::Core;

/// Rows read at once while looking for work.
const PAGE_ROWS: usize = 256;

/// Takes up what an earlier process left: errands first, since they make runs, then programs. `newest`
/// was made when this process began: ids grow with time, so a later run is this process's own.
pub(crate) async fn recover(core: Arc<Core>, newest: RunId) {
    // A store that is being closed answers no more; that is no news.
    if let Err(error) = errands(&core).await
        && !core.is_stopping()
    {
        tracing::error!(%error, "errands cannot be read; some runs will wait until a restart");
    }
    match programs(&core, newest).await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "unfinished runs go on"),
        Err(_) if core.is_stopping() => {}
        Err(error) => tracing::error!(%error, "unfinished runs cannot be read"),
    }
}

async fn errands(core: &Arc<Core>) -> Result<(), ReadError> {
    let mut after = None;
    loop {
        let page = core.options.journal.outbox(after, PAGE_ROWS).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(last.id);
        // In order and one at a time: errands about one child must keep their order.
        for row in page {
            if core.is_stopping() {
                return Ok(());
            }
            core.do_errand(row.id, row.item).await;
        }
    }
}

async fn programs(core: &Arc<Core>, newest: RunId) -> Result<usize, ReadError> {
    let (mut after, mut count) = (None, 0);
    loop {
        let page = core.options.journal.runnable(after, PAGE_ROWS).await?;
        let Some(last) = page.last() else {
            return Ok(count);
        };
        after = Some(*last);
        for run in page {
            if run > newest {
                return Ok(count);
            }
            count += 1;
            core.reach("recovery:run");
            core.wake(run);
        }
    }
}
