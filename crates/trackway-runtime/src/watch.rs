//! Watching a run: every event once and in order, pulled by the watcher at its own pace.
//!
//! There is no queue per watcher. A watcher holds a place in the log; what it has not seen yet it
//! takes from the run's newest events in memory, or reads from the store. So a slow one costs reads
//! and never memory, and none can see a gap or a repetition.

use std::collections::VecDeque;

use tokio::sync::watch;
use trackway_domain::{Pos, Seq};
use trackway_ports::{Stored, encode};

use crate::{
    Error,
    live::{LiveRef, NEWS_EVENTS, Shown},
};

/// Events read from the store at once. The store stops earlier where they are large, so that this is
/// all that a watcher who stops reading holds.
const PAGE_EVENTS: usize = 256;

/// Limit (Runtime): last event of a page that a watcher holds while it has not come to it.
const LIGHT_BYTES_MAX: usize = 64 * 1024;

/// A place in a run's log, and what comes after it.
#[derive(Debug)]
pub struct Watch {
    live: LiveRef,
    place: Place,
    page: VecDeque<Stored>,
    committed: watch::Receiver<Seq>,
    stopping: watch::Receiver<bool>,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// After this event of the run.
    Seq(Seq),
    /// After this position; its event is looked up with the first read.
    Pos(Pos),
}

/// The run's newest event at or before this position, where memory can tell.
fn in_memory(shown: &Shown, pos: Pos) -> Option<Seq> {
    if pos == 0 {
        return Some(0);
    }
    let view = shown.view.as_ref()?;
    if pos >= view.pos {
        return Some(view.seq);
    }
    shown.tail.iter().rev().find(|stored| stored.pos <= pos).map(|stored| stored.seq)
}

impl Watch {
    pub(crate) fn after_pos(live: LiveRef, pos: Pos) -> Self {
        let place = in_memory(&live.shown(), pos).map_or(Place::Pos(pos), Place::Seq);
        Self::new(live, place)
    }

    pub(crate) fn after_seq(live: LiveRef, seq: Seq) -> Self {
        Self::new(live, Place::Seq(seq))
    }

    fn new(live: LiveRef, place: Place) -> Self {
        let committed = live.committed.subscribe();
        let stopping = live.core.stopping.subscribe();
        Self { live, place, page: VecDeque::new(), committed, stopping }
    }

    /// The next event. `None` when the run has ended and everything was seen, or the runtime stops.
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Stored>, Error> {
        loop {
            if let Some(stored) = self.page.pop_front() {
                self.place = Place::Seq(stored.seq);
                return Ok(Some(stored));
            }
            self.committed.mark_unchanged();
            if self.live.head().void {
                self.live = self.live.core.load_to_read(self.live.id).await?;
                self.committed = self.live.committed.subscribe();
                continue;
            }
            let (ended, newest) = {
                let shown = self.live.shown();
                let view = shown.view.as_ref().ok_or(Error::Stopping)?;
                (view.state.is_terminal(), view.seq)
            };
            self.fill(newest).await?;
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

    /// As [`Watch::next`], for who only wants to know when the run rests. What does not make it rest comes
    /// later than it could, together with more.
    pub(crate) async fn next_news(&mut self) -> Result<Option<Stored>, Error> {
        loop {
            let rung = self.live.news.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            if self.has_news() {
                break;
            }
            tokio::select! {
                biased;
                _ = self.stopping.wait_for(|stop| *stop) => break,
                () = rung => {}
            }
        }
        self.next().await
    }

    /// The run has rested behind this place, or has gone on by many events.
    fn has_news(&self) -> bool {
        let Place::Seq(seq) = self.place else { return true };
        if !self.page.is_empty() || self.live.head().void {
            return true;
        }
        let shown = self.live.shown();
        let is_far = shown.view.as_ref().is_none_or(|view| view.seq >= seq + 2 * NEWS_EVENTS);
        is_far || shown.rested > seq
    }

    /// The event that came last, once more.
    pub async fn again(&self) -> Result<Option<Stored>, Error> {
        let Place::Seq(seq) = self.place else { return Ok(None) };
        let in_memory = {
            let shown = self.live.shown();
            let found = shown.tail.binary_search_by_key(&seq, |stored| stored.seq).ok();
            found.map(|index| shown.tail[index].clone())
        };
        if in_memory.is_some() {
            return Ok(in_memory);
        }
        let journal = &self.live.core.options.journal;
        let read = journal.events(self.live.id, seq.saturating_sub(1), 1).await?;
        Ok(read.into_iter().find(|stored| stored.seq == seq))
    }

    /// Takes what follows the place, from memory where it is there.
    async fn fill(&mut self, newest: Seq) -> Result<(), Error> {
        let journal = &self.live.core.options.journal;
        match self.place {
            Place::Seq(seq) if seq >= newest => {}
            Place::Seq(seq) => {
                let in_memory = {
                    let shown = self.live.shown();
                    let first = shown.tail.front().map(|stored| stored.seq);
                    first.is_some_and(|first| first <= seq + 1).then(|| {
                        // One at a time: a watcher who stops reading must not hold a copy of the tail.
                        let next = shown.tail.partition_point(|stored| stored.seq <= seq);
                        shown.tail.get(next).cloned().into_iter().collect::<VecDeque<_>>()
                    })
                };
                self.page = match in_memory {
                    Some(page) => page,
                    None => light(journal.events(self.live.id, seq, PAGE_EVENTS).await?),
                };
            }
            Place::Pos(pos) => {
                let page = journal.events_after_pos(self.live.id, pos, PAGE_EVENTS).await?;
                self.page = light(page);
                if self.page.is_empty() {
                    // Nothing after it yet: from here on the run's own numbers serve.
                    self.place = Place::Seq(newest);
                }
            }
        }
        Ok(())
    }
}

/// A page without a large event at its end, which is read again by itself: a watcher who stops reading before
/// it must not hold it. Only the last one can be large, since a store stops there.
fn light(mut page: Vec<Stored>) -> VecDeque<Stored> {
    let is_large = |stored: &Stored| encode(&stored.event).len() > LIGHT_BYTES_MAX;
    if page.len() > 1 && page.last().is_some_and(is_large) {
        page.pop();
    }
    page.into()
}
