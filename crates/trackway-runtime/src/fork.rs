//! Forking a run: its log is read, the engine decides, and the copy is written.

use std::sync::Arc;

use trackway_domain::{Event, RunId, Seq, SessionId};
use trackway_engine::{CannotFork, Fork, Forked, RunView};
use trackway_ports::{Pinned, ReadError, RunRow, Stored, TimerChange};

use crate::{
    CopiedLog, Error, RunAddress,
    append::{self, row_of},
    core::Core,
    live::RowMarks,
};

/// Events read at once while a log is copied.
const PAGE_EVENTS: usize = 1_024;

impl Core {
    /// Forks a run after one of its events; see [`trackway_engine::fork`].
    pub(crate) async fn fork(
        self: &Arc<Self>,
        address: &RunAddress,
        at: Option<Seq>,
        session: Option<SessionId>,
    ) -> Result<RunView, Error> {
        let run = address.run;
        let live = self.open(address).await?;
        drop(live);
        let log = self.whole_log(run).await?;
        let now = self.now();
        let id = RunId::new(self.options.ids.uuid());
        let events: Vec<&Event> = log.iter().map(|stored| &stored.event).collect();
        let forked = trackway_engine::fork(&events, Fork { id, at, session, now });
        let Forked { run: copy, events, copied } = forked.map_err(|why| match why {
            CannotFork::NotSubmitted | CannotFork::Illegal(_) => {
                Error::Damaged { run, reason: why.to_string() }
            }
            why => Error::CannotFork { run, why },
        })?;
        let state = copy.state.name();
        let marks =
            RowMarks { state, runnable: !state.is_terminal(), parked: false, status_at: now };
        let row = row_of(&copy, marks);
        let timers = copy.timers.iter().map(|(timer, due)| TimerChange::Set(timer.clone(), *due));
        let stamps = log.iter().take(copied).map(|stored| stored.at);
        let copy = CopiedLog {
            pins: self.pins(&row).await?,
            row,
            stamps: stamps.chain(std::iter::repeat_n(now, events.len() - copied)).collect(),
            timers: timers.collect(),
            events,
        };
        let first_due = copy.timers.iter().filter_map(|change| match change {
            TimerChange::Set(_, due) => Some(*due),
            TimerChange::Clear(_) | TimerChange::ClearAll => None,
        });
        let first_due = first_due.min();
        let permit = self.permit().await?;
        let committed = append::commit(&*self.options.journal, copy.append(now)).await;
        committed.map_err(|error| Error::append(&error))?;
        drop(permit);
        // Whoever waits for timers has not seen those of the copy.
        if let Some(due) = first_due {
            self.alarm.set(due);
        }
        let live = self.load(id).await?;
        let view = live.shown().view.clone();
        self.wake(id);
        view.ok_or(Error::Stopping)
    }

    /// The definition that the copy is pinned to, where it has one: the copy needs it also when the
    /// original is removed.
    async fn pins(&self, row: &RunRow) -> Result<Vec<Pinned>, Error> {
        let hash = row.workflow.version.clone();
        match self.options.journal.pinned(hash.clone()).await {
            Ok(body) => Ok(body.map(|body| Pinned { hash, body }).into_iter().collect()),
            // It is no better for the original; both go on where the folders have the same.
            Err(ReadError::DamagedBlob { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn whole_log(&self, run: RunId) -> Result<Vec<Stored>, Error> {
        let mut log: Vec<Stored> = Vec::new();
        loop {
            let after = log.last().map_or(0, |stored| stored.seq);
            let page = self.options.journal.events(run, after, PAGE_EVENTS).await?;
            if page.is_empty() {
                return Ok(log);
            }
            log.extend(page);
        }
    }
}
