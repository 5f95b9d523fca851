//! Checking a server's workflows against the runs in its folder, before it is deployed.

use std::sync::Arc;

use trackway_domain::{Event, Evidence, RunId, StateName, WorkflowRef};
use trackway_ports::{Journal, ReadError, RunFilter};
use trackway_runtime::{Registry, ReplayVerdict, Tools, replay_with};

use super::{Server, ServerError};

/// Rows and events read at once.
const PAGE: usize = 500;

/// One unfinished run, and whether the workflows at hand would go on with it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayCheck {
    pub run: RunId,
    pub workflow: WorkflowRef,
    /// Why it would be parked; absent where it fits.
    pub misfit: Option<Evidence>,
}

impl Server {
    /// Replays every unfinished run of the data folder against the workflows of this server. Nothing is
    /// recorded and no step is done; another server may go on using the folder meanwhile.
    pub async fn replay_check(&self) -> Result<Vec<ReplayCheck>, ServerError> {
        let registry = self.registry()?;
        let tools = Arc::new(self.tools()?);
        let journal = self.runs_store().open_read_only().await?;
        let checks = check_all(&registry, &tools, &*journal).await;
        journal.close().await;
        checks.map_err(ServerError::Read)
    }
}

async fn check_all(
    registry: &Registry,
    tools: &Arc<Tools>,
    journal: &dyn Journal,
) -> Result<Vec<ReplayCheck>, ReadError> {
    let states = StateName::ALL.into_iter().filter(|state| !state.is_terminal()).collect();
    let filter = RunFilter { states, ..RunFilter::default() };
    let (mut checks, mut before) = (Vec::new(), None);
    loop {
        let rows = journal.runs(filter.clone(), before, PAGE).await?;
        let Some(last) = rows.last() else { return Ok(checks) };
        before = Some(last.id);
        for row in rows {
            if registry.pinned(&row.workflow).is_none()
                && let Some(body) = journal.pinned(row.workflow.version.clone()).await?
            {
                registry.keep_pinned(&row.workflow, &body, tools);
            }
            let misfit = match log(journal, row.id).await {
                Ok(log) => match replay_with(registry, &log).await {
                    ReplayVerdict::Fits => None,
                    ReplayVerdict::Misfit(evidence) => Some(evidence),
                },
                // One log that cannot be read must not hide what is wrong with the others.
                Err(error @ ReadError::Damaged { .. }) => {
                    Some(Evidence { message: error.to_string(), asked: None, recorded: None })
                }
                Err(error) => return Err(error),
            };
            checks.push(ReplayCheck { run: row.id, workflow: row.workflow, misfit });
        }
    }
}

async fn log(journal: &dyn Journal, run: RunId) -> Result<Vec<Event>, ReadError> {
    let (mut events, mut after) = (Vec::new(), 0);
    loop {
        let page = journal.events(run, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(events) };
        after = last.seq;
        events.extend(page.into_iter().map(|stored| stored.event));
    }
}
