//! Forking a run: its log is read, the engine decides, and the copy is written.

use std::sync::Arc;

use trackway_domain::{Event, RunId, Seq, SessionId};
use trackway_engine::{ForkOptions, ForkRefusal, ForkedRun, RunView};
use trackway_ports::{PinnedDefinition, ReadError, RunRow, StoredEvent, TimerChange};

use crate::{
    CopiedRunLog, Error, RunAddress,
    append::{self, build_run_row},
    live_run::RunRowStatus,
    runtime_core::RuntimeCore,
};

/// Events read at once while a log is copied.
const PAGE_EVENTS: usize = 1_024;

impl RuntimeCore {
    /// Forks a run after one of its events; see [`trackway_engine::fork`].
    pub(crate) async fn fork_run(
        self: &Arc<Self>,
        address: &RunAddress,
        after_seq: Option<Seq>,
        session: Option<SessionId>,
    ) -> Result<RunView, Error> {
        let run = address.run;
        let live = self.open_run_for_write(address).await?;
        drop(live);
        let log = self.load_run_log(run).await?;
        let now = self.now();
        let id = RunId::new(self.options.ids.new_uuid());
        let events: Vec<&Event> = log.iter().map(|stored| &stored.event).collect();
        let forked = trackway_engine::fork_run(&events, ForkOptions { id, at: after_seq, session, now });
        let ForkedRun { run: copy, events, copied } = forked.map_err(|why| match why {
            ForkRefusal::NotSubmitted | ForkRefusal::Illegal(_) => {
                Error::Damaged { run, reason: why.to_string() }
            }
            why => Error::CannotFork { run, why },
        })?;
        let state = copy.state.name();
        let marks = RunRowStatus { state, runnable: !state.is_terminal(), parked: false, status_at: now };
        let row = build_run_row(&copy, marks);
        let timers = copy.timers.iter().map(|(timer, due)| TimerChange::Set(timer.clone(), *due));
        let stamps = log.iter().take(copied).map(|stored| stored.at);
        let copy = CopiedRunLog {
            pins: self.load_pinned_definitions(&row).await?,
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
        let permit = self.acquire_append_permit().await?;
        let committed = append::append_and_wait(&*self.options.journal, copy.into_import_append(now)).await;
        committed.map_err(|error| Error::from_append_error(&error))?;
        drop(permit);
        // The timer loop has not seen the timers of the copy.
        if let Some(due) = first_due {
            self.alarm.set_alarm_if_sooner(due);
        }
        let live = self.load_run_for_write(id).await?;
        let view = live.lock_committed_state().view.clone();
        self.wake_run(id);
        view.ok_or(Error::Stopping)
    }

    /// The definition that the copy is pinned to, if any: the copy needs it even after the original is
    /// removed.
    async fn load_pinned_definitions(&self, row: &RunRow) -> Result<Vec<PinnedDefinition>, Error> {
        let hash = row.workflow.version.clone();
        match self.options.journal.find_pinned_definition(hash.clone()).await {
            Ok(body) => Ok(body.map(|body| PinnedDefinition { hash, body }).into_iter().collect()),
            // The original has the same problem; both continue if the folders hold the same definition.
            Err(ReadError::DamagedBlob { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn load_run_log(&self, run: RunId) -> Result<Vec<StoredEvent>, Error> {
        let mut log: Vec<StoredEvent> = Vec::new();
        loop {
            let after = log.last().map_or(0, |stored| stored.seq);
            let page = self.options.journal.list_events(run, after, PAGE_EVENTS).await?;
            if page.is_empty() {
                return Ok(log);
            }
            log.extend(page);
        }
    }
}
