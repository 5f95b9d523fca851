//! Runs read from a store without an engine: it drives, locks and writes nothing.

use std::sync::Arc;

use trackway_agent::ModelUsageReport;
use trackway_domain::{Access, Position, RunId};
use trackway_ports::{FORMAT_LATEST, Journal, ReadError, RunRow};
use trackway_sessions::run_log;

use super::{
    run_listing::list_visible_runs_with,
    wire_types::{EventPage, EventRecord, GuidedDetail, RunDetail, RunList, RunListFilter},
};

/// Events read from the store at once.
const READ_EVENTS: usize = 256;

/// The runs of a store that another process may write to.
#[derive(Debug, Clone)]
pub struct RunsReader {
    journal: Arc<dyn Journal>,
    access: Access,
}

impl RunsReader {
    /// For the local caller, without auth.
    pub fn for_local_caller(journal: Arc<dyn Journal>) -> Self {
        Self { journal, access: Access::local_without_auth() }
    }

    pub async fn list_runs(&self, filter: RunListFilter) -> Result<RunList, ReadError> {
        let read = |wanted, before, limit| self.journal.list_runs(wanted, before, limit);
        list_visible_runs_with(&self.access, filter, read).await
    }

    /// `None` if there is no such run. A damaged run is returned up to the damage.
    pub async fn load_run_detail(&self, run: RunId) -> Result<Option<RunDetail>, ReadError> {
        let mut log = run_log::load_run_log(&*self.journal, run).await?;
        let row = match self.journal.find_run(run).await {
            Ok(row) => row,
            // The first event has the same data.
            Err(damaged @ ReadError::Damaged { .. }) => {
                log.damage.get_or_insert_with(|| damaged.to_string());
                Some(log.run_row_from_submission().ok_or(damaged)?)
            }
            Err(error) => return Err(error),
        };
        let Some(row) = row.filter(|row| self.can_see_run(row)) else { return Ok(None) };
        let usage = ModelUsageReport::report_from_events(log.events.iter().map(|stored| &stored.event));
        let guided = GuidedDetail::from_run_tree(&log.to_run_tree(&row));
        Ok(Some(RunDetail { usage, guided, ..RunDetail::from(&log.to_run_view(&row)) }))
    }

    /// The definition of this hash that runs are pinned to, in its normal form.
    pub async fn find_pinned_definition(&self, hash: &str) -> Result<Option<String>, ReadError> {
        self.journal.find_pinned_definition(hash.to_owned()).await
    }

    /// Recorded events after a position, at most a page of them; `None` if there is no such run.
    pub async fn list_run_events(&self, run: RunId, after: Position) -> Result<Option<EventPage>, ReadError> {
        if !self.run_exists(run).await? {
            return Ok(None);
        }
        let read = self.journal.list_events_after_position(run, after, READ_EVENTS).await?;
        let last = read.last().map(|stored| stored.pos);
        let more = match last {
            // The unreadable event exists too: the next page reports it.
            Some(last) => {
                let rest = self.journal.list_events_after_position(run, last, 1).await;
                rest.map_or(true, |rest| !rest.is_empty())
            }
            None => false,
        };
        Ok(Some(EventPage {
            format: FORMAT_LATEST,
            events: read.into_iter().map(EventRecord::from).collect(),
            next: last.filter(|_| more),
        }))
    }

    async fn run_exists(&self, run: RunId) -> Result<bool, ReadError> {
        Ok(self.journal.find_run(run).await?.is_some_and(|row| self.can_see_run(&row)))
    }

    fn can_see_run(&self, row: &RunRow) -> bool {
        self.access.covers_owner(&row.caller)
    }
}

#[cfg(test)]
mod tests;
