//! Runs read from a store without an engine: it drives, locks and writes nothing.

use std::sync::Arc;

use trackway_agent::Bill;
use trackway_domain::{Access, Pos, RunId};
use trackway_ports::{FORMAT_NEWEST, Journal, ReadError, RunRow};
use trackway_sessions::log;

use super::{
    listing::list,
    shapes::{EventPage, EventRecord, GuidedDetail, ListFilter, RunDetail, RunList},
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
    pub fn local(journal: Arc<dyn Journal>) -> Self {
        Self { journal, access: Access::local() }
    }

    pub async fn list(&self, filter: ListFilter) -> Result<RunList, ReadError> {
        let read = |wanted, before, limit| self.journal.runs(wanted, before, limit);
        list(&self.access, filter, read).await
    }

    /// `None` if there is no such run. A damaged run is returned up to the damage.
    pub async fn detail(&self, run: RunId) -> Result<Option<RunDetail>, ReadError> {
        let mut log = log::read(&*self.journal, run).await?;
        let row = match self.journal.run(run).await {
            Ok(row) => row,
            // The first event has the same data.
            Err(damaged @ ReadError::Damaged { .. }) => {
                log.damage.get_or_insert_with(|| damaged.to_string());
                Some(log.row().ok_or(damaged)?)
            }
            Err(error) => return Err(error),
        };
        let Some(row) = row.filter(|row| self.may_see(row)) else { return Ok(None) };
        let usage = Bill::of(log.events.iter().map(|stored| &stored.event));
        let guided = GuidedDetail::of(&log.track(&row));
        Ok(Some(RunDetail { usage, guided, ..RunDetail::from(&log.view(&row)) }))
    }

    /// The definition of this hash that runs are pinned to, in its normal form.
    pub async fn pinned(&self, hash: &str) -> Result<Option<String>, ReadError> {
        self.journal.pinned(hash.to_owned()).await
    }

    /// Recorded events after a position, at most a page of them; `None` if there is no such run.
    pub async fn events(&self, run: RunId, after: Pos) -> Result<Option<EventPage>, ReadError> {
        if !self.knows(run).await? {
            return Ok(None);
        }
        let read = self.journal.events_after_pos(run, after, READ_EVENTS).await?;
        let last = read.last().map(|stored| stored.pos);
        let more = match last {
            // The unreadable event exists too: the next page reports it.
            Some(last) => {
                let rest = self.journal.events_after_pos(run, last, 1).await;
                rest.map_or(true, |rest| !rest.is_empty())
            }
            None => false,
        };
        Ok(Some(EventPage {
            format: FORMAT_NEWEST,
            events: read.into_iter().map(EventRecord::from).collect(),
            next: last.filter(|_| more),
        }))
    }

    async fn knows(&self, run: RunId) -> Result<bool, ReadError> {
        Ok(self.journal.run(run).await?.is_some_and(|row| self.may_see(&row)))
    }

    fn may_see(&self, row: &RunRow) -> bool {
        self.access.covers(&row.caller)
    }
}

#[cfg(test)]
mod tests;
