//! Watching a run: every event once and in order, pulled by the watcher at its own pace.
//!
//! There is no queue per watcher. A watcher holds a cursor into the log. It takes what it has not seen yet
//! from the run's newest events in memory, or reads it from the store. So a slow watcher costs reads and
//! never memory, and no watcher sees a gap or a repetition.

use std::collections::VecDeque;

use tokio::sync::watch;
use trackway_domain::{Position, Seq};
use trackway_ports::{StoredEvent, encode_event};

use crate::{
    Error,
    live_run::{CommittedRunState, LiveRunRef, NEWS_EVENTS},
};

/// Events read from the store at once. The store stops earlier if they are large, so this is all that a
/// watcher holds when it stops reading.
const PAGE_EVENTS: usize = 256;

/// Limit (Runtime): last event of a page that a watcher holds before it reads it.
const LIGHT_BYTES_MAX: usize = 64 * 1024;

/// A cursor into a run's log, and the events after it.
#[derive(Debug)]
pub struct RunWatch {
    live: LiveRunRef,
    cursor: RunWatchCursor,
    page: VecDeque<StoredEvent>,
    committed: watch::Receiver<Seq>,
    stopping: watch::Receiver<bool>,
}

#[derive(Debug, Clone, Copy)]
enum RunWatchCursor {
    /// After this event of the run.
    Seq(Seq),
    /// After this position; its event is looked up with the first read.
    Position(Position),
}

/// The run's newest event at or before this position, if memory holds it.
fn find_seq_in_memory(state: &CommittedRunState, pos: Position) -> Option<Seq> {
    if pos == 0 {
        return Some(0);
    }
    let view = state.view.as_ref()?;
    if pos >= view.pos {
        return Some(view.seq);
    }
    state.tail.iter().rev().find(|stored| stored.pos <= pos).map(|stored| stored.seq)
}

impl RunWatch {
    pub(crate) fn watch_after_position(live: LiveRunRef, pos: Position) -> Self {
        let cursor = find_seq_in_memory(&live.lock_committed_state(), pos)
            .map_or(RunWatchCursor::Position(pos), RunWatchCursor::Seq);
        Self::new(live, cursor)
    }

    pub(crate) fn watch_after_seq(live: LiveRunRef, seq: Seq) -> Self {
        Self::new(live, RunWatchCursor::Seq(seq))
    }

    fn new(live: LiveRunRef, cursor: RunWatchCursor) -> Self {
        let committed = live.committed_seq.subscribe();
        let stopping = live.core.stopping.subscribe();
        Self { live, cursor, page: VecDeque::new(), committed, stopping }
    }

    /// The next event. `None` when the run has ended and every event was returned, or the runtime stops.
    /// Dropping the future loses nothing.
    pub async fn next_event(&mut self) -> Result<Option<StoredEvent>, Error> {
        loop {
            if let Some(stored) = self.page.pop_front() {
                self.cursor = RunWatchCursor::Seq(stored.seq);
                return Ok(Some(stored));
            }
            self.committed.mark_unchanged();
            if self.live.lock_head().stale {
                self.live = self.live.core.load_run_for_read(self.live.id).await?;
                self.committed = self.live.committed_seq.subscribe();
                continue;
            }
            let (ended, newest) = {
                let state = self.live.lock_committed_state();
                let view = state.view.as_ref().ok_or(Error::Stopping)?;
                (view.state.is_terminal(), view.seq)
            };
            self.fill_event_page(newest).await?;
            if !self.page.is_empty() {
                continue;
            }
            if ended {
                return Ok(None);
            }
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stop| *stop) => return Ok(None),
                changed = self.committed.changed() => if changed.is_err() { return Ok(None) },
            }
        }
    }

    /// As [`RunWatch::next_event`], for a caller that only waits for the run to become idle. Events that do not
    /// make it idle come later than they could, several at a time.
    pub(crate) async fn next_event_once_idle(&mut self) -> Result<Option<StoredEvent>, Error> {
        loop {
            let rung = self.live.news.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            if self.has_idle_or_many_events() {
                break;
            }
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stop| *stop) => break,
                () = rung => {}
            }
        }
        self.next_event().await
    }

    /// The run became idle after this cursor, or has grown by many events.
    fn has_idle_or_many_events(&self) -> bool {
        let RunWatchCursor::Seq(seq) = self.cursor else { return true };
        if !self.page.is_empty() || self.live.lock_head().stale {
            return true;
        }
        let state = self.live.lock_committed_state();
        let is_far = state.view.as_ref().is_none_or(|view| view.seq >= seq + 2 * NEWS_EVENTS);
        is_far || state.rested > seq
    }

    /// The last returned event, once more.
    pub async fn reload_last_event(&self) -> Result<Option<StoredEvent>, Error> {
        let RunWatchCursor::Seq(seq) = self.cursor else { return Ok(None) };
        let in_memory = {
            let state = self.live.lock_committed_state();
            let found = state.tail.binary_search_by_key(&seq, |stored| stored.seq).ok();
            found.map(|index| state.tail[index].clone())
        };
        if in_memory.is_some() {
            return Ok(in_memory);
        }
        let journal = &self.live.core.options.journal;
        let read = journal.list_events(self.live.id, seq.saturating_sub(1), 1).await?;
        Ok(read.into_iter().find(|stored| stored.seq == seq))
    }

    /// Takes what follows the cursor, from memory if it is there.
    async fn fill_event_page(&mut self, newest: Seq) -> Result<(), Error> {
        let journal = &self.live.core.options.journal;
        match self.cursor {
            RunWatchCursor::Seq(seq) if seq >= newest => {}
            RunWatchCursor::Seq(seq) => {
                let in_memory = {
                    let state = self.live.lock_committed_state();
                    let first = state.tail.front().map(|stored| stored.seq);
                    first.is_some_and(|first| first <= seq + 1).then(|| {
                        // One at a time: a watcher that stops reading must not hold a copy of the tail.
                        let next = state.tail.partition_point(|stored| stored.seq <= seq);
                        state.tail.get(next).cloned().into_iter().collect::<VecDeque<_>>()
                    })
                };
                self.page = match in_memory {
                    Some(page) => page,
                    None => drop_large_last_event(journal.list_events(self.live.id, seq, PAGE_EVENTS).await?),
                };
            }
            RunWatchCursor::Position(pos) => {
                let page = journal.list_events_after_position(self.live.id, pos, PAGE_EVENTS).await?;
                self.page = drop_large_last_event(page);
                if self.page.is_empty() {
                    // Nothing after it yet: from here on the run's own numbers are used.
                    self.cursor = RunWatchCursor::Seq(newest);
                }
            }
        }
        Ok(())
    }
}

/// Drops a large event at the end of a page, which is read again by itself: a watcher that stops reading
/// before it must not hold it. Only the last one can be large, because a store stops there.
fn drop_large_last_event(mut page: Vec<StoredEvent>) -> VecDeque<StoredEvent> {
    let is_large = |stored: &StoredEvent| encode_event(&stored.event).len() > LIGHT_BYTES_MAX;
    if page.len() > 1 && page.last().is_some_and(is_large) {
        page.pop();
    }
    page.into()
}
