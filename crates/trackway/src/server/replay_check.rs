//! Checks the workflows of a server against the runs in its folder, before a deployment.

use std::sync::Arc;

use trackway_domain::{Event, ReplayMismatch, RunId, StateName, WorkflowRef};
use trackway_ports::{Journal, ReadError, RunFilter};
use trackway_runtime::{ProgramRegistry, ReplayVerdict, Tools, replay_with_registered_program};

use super::{Server, ServerError};

/// Rows and events read at once.
const PAGE: usize = 500;

/// One unfinished run, and whether the current workflows could continue it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayCheckResult {
    pub run: RunId,
    pub workflow: WorkflowRef,
    /// Why it would be parked; absent if the workflow fits.
    pub mismatch: Option<ReplayMismatch>,
}

impl Server {
    /// Replays every unfinished run of the data folder against the workflows of this server. It records
    /// nothing and performs no step. Another server may use the folder at the same time.
    pub async fn replay_check(&self) -> Result<Vec<ReplayCheckResult>, ServerError> {
        let registry = self.workflow_registry()?;
        let tools = Arc::new(self.step_tools()?);
        let journal = self.store_opener().open_journal_read_only().await?;
        let checks = check_unfinished_runs(&registry, &tools, &*journal).await;
        journal.close_store().await;
        checks.map_err(ServerError::Read)
    }
}

async fn check_unfinished_runs(
    registry: &ProgramRegistry,
    tools: &Arc<Tools>,
    journal: &dyn Journal,
) -> Result<Vec<ReplayCheckResult>, ReadError> {
    let states = StateName::ALL.into_iter().filter(|state| !state.is_terminal()).collect();
    let filter = RunFilter { states, ..RunFilter::default() };
    let (mut checks, mut before) = (Vec::new(), None);
    loop {
        let rows = journal.list_runs(filter.clone(), before, PAGE).await?;
        let Some(last) = rows.last() else { return Ok(checks) };
        before = Some(last.id);
        for row in rows {
            if registry.find_program_version(&row.workflow).is_none()
                && let Some(body) = journal.find_pinned_definition(row.workflow.version.clone()).await?
            {
                registry.register_pinned_program(&row.workflow, &body, tools);
            }
            let misfit = match load_run_log(journal, row.id).await {
                Ok(log) => match replay_with_registered_program(registry, &log).await {
                    ReplayVerdict::Matches => None,
                    ReplayVerdict::Nondeterminism(evidence) => Some(evidence),
                },
                // One unreadable log must not hide problems of the others.
                Err(error @ ReadError::Damaged { .. }) => {
                    Some(ReplayMismatch { message: error.to_string(), asked: None, recorded: None })
                }
                Err(error) => return Err(error),
            };
            checks.push(ReplayCheckResult { run: row.id, workflow: row.workflow, mismatch: misfit });
        }
    }
}

async fn load_run_log(journal: &dyn Journal, run: RunId) -> Result<Vec<Event>, ReadError> {
    let (mut events, mut after) = (Vec::new(), 0);
    loop {
        let page = journal.list_events(run, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(events) };
        after = last.seq;
        events.extend(page.into_iter().map(|stored| stored.event));
    }
}
