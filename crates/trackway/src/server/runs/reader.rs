//! Runs read from a store without an engine: nothing is driven, held or written.

use std::sync::Arc;

use trackway_agent::Bill;
use trackway_domain::{Caller, Pos, RunId};
use trackway_engine::RunTrack;
use trackway_ports::{FORMAT_NEWEST, Journal, ReadError, Stored};

use super::{
    listing::list,
    project::fold,
    shapes::{EventPage, EventRecord, GuidedDetail, ListFilter, RunDetail, RunList},
};

/// Events read from the store at once.
const READ_EVENTS: usize = 256;

/// The runs of a store that somebody else may be writing to.
#[derive(Debug, Clone)]
pub struct RunsReader {
    journal: Arc<dyn Journal>,
    caller: Caller,
}

impl RunsReader {
    /// For the caller on a machine without auth.
    pub fn local(journal: Arc<dyn Journal>) -> Self {
        Self { journal, caller: Caller::local() }
    }

    pub async fn list(&self, filter: ListFilter) -> Result<RunList, ReadError> {
        let read = |wanted, before, limit| self.journal.runs(wanted, before, limit);
        list(&self.caller, filter, read).await
    }

    /// `None` where there is no such run.
    pub async fn detail(&self, run: RunId) -> Result<Option<RunDetail>, ReadError> {
        if !self.knows(run).await? {
            return Ok(None);
        }
        let mut log: Vec<Stored> = Vec::new();
        loop {
            let after = log.last().map_or(0, |stored| stored.seq);
            let page = self.journal.events(run, after, READ_EVENTS).await?;
            if page.is_empty() {
                let usage = Bill::of(log.iter().map(|stored| &stored.event));
                let detail = fold(&log).as_ref().map(RunDetail::from);
                let track = RunTrack::fold(log.iter().map(|stored| (&stored.event, stored.at)));
                let guided = track.as_ref().and_then(GuidedDetail::of);
                return Ok(detail.map(|detail| RunDetail { usage, guided, ..detail }));
            }
            log.extend(page);
        }
    }

    /// The definition of this hash that runs are pinned to, in its normal form.
    pub async fn pinned(&self, hash: &str) -> Result<Option<String>, ReadError> {
        self.journal.pinned(hash.to_owned()).await
    }

    /// Recorded events after a position, at most a page of them; `None` where there is no such run.
    pub async fn events(&self, run: RunId, after: Pos) -> Result<Option<EventPage>, ReadError> {
        if !self.knows(run).await? {
            return Ok(None);
        }
        let read = self.journal.events_after_pos(run, after, READ_EVENTS).await?;
        let last = read.last().map(|stored| stored.pos);
        let more = match last {
            // What cannot be read is there too: the next page says so.
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
        let row = self.journal.run(run).await?;
        Ok(row.is_some_and(|row| row.caller.tenant == self.caller.tenant))
    }
}
