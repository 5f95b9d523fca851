//! A stream of the events of a run, pulled by its reader: nothing is queued for a slow reader.

use std::sync::Arc;

use trackway_domain::{Event, Pos};
use trackway_engine::{BoundedUpdate, Omitted, RunView, StatusUpdate, Update, update};
use trackway_http::sse::FrameScope;
use trackway_ports::Stored;
use trackway_runtime::Watch;

use super::{
    History, Item, Place, STREAMED_BYTES_MAX, Seen, Snapshot, send::rests, working::Shows,
};
use crate::{asked::HISTORY_MESSAGES_MAX, fault::Fault};

#[derive(Debug)]
pub(crate) struct Follow {
    pub(crate) place: Place,
    /// The first item. A stream contains at most one Task.
    first: Option<Item>,
    /// A copy of the first item while it is also the last one. It shares its content with the run in memory.
    last_first: Option<Item>,
    watch: Watch,
    until: Until,
    closed: bool,
    shows: Shows,
}

/// When a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The run has ended; the watch itself ends then.
    Ended,
    /// The run waits for an action, or has ended. `at`: it already did so at this position, and only
    /// events up to this position follow from the message.
    Rests { at: Option<Pos> },
}

impl Follow {
    /// The events that follow from a message: the run at its commit, then every event after `after`.
    pub(super) fn from_message(snapshot: Snapshot, after: Pos, watch: Watch) -> Self {
        let at = rests(&snapshot.view).then_some(snapshot.view.pos);
        Self::new(snapshot.place(), Some((after, snapshot)), watch, Until::Rests { at })
    }

    /// The current run, and everything that follows.
    pub(super) fn from_now(snapshot: Snapshot, watch: Watch) -> Self {
        let pos = snapshot.view.pos;
        Self::new(snapshot.place(), Some((pos, snapshot)), watch, Until::Ended)
    }

    /// Every event of the watch, from the start of the run if necessary.
    pub(super) fn from_position(place: Place, watch: Watch) -> Self {
        Self::new(place, None, watch, Until::Ended)
    }

    fn new(place: Place, first: Option<(Pos, Snapshot)>, watch: Watch, until: Until) -> Self {
        let first = first.map(|(pos, snapshot)| Item {
            pos,
            seen: Seen::Snapshot(Box::new(snapshot)),
            omitted: Omitted::default(),
            bytes: 0,
            // The answer to a message includes the result of that message.
            scope: FrameScope::reply(),
        });
        let shows = Shows::Everything;
        Self { place, first, last_first: None, watch, until, closed: false, shows }
    }

    /// The same for a client that receives less.
    pub(super) fn showing(self, shows: Shows) -> Self {
        Self { shows, ..self }
    }

    /// The same with this many messages of the history in its first Task, as far as they fit.
    pub(super) fn bounded(mut self, history: History) -> Self {
        if let Some(Item { seen: Seen::Snapshot(first), bytes, scope, .. }) = &mut self.first {
            let whole = Snapshot::clone(first);
            (**first, *bytes) = whole.bounded(history, true);
            if self.until == Until::Ended {
                *scope = FrameScope::Run { history };
            }
        }
        self
    }

    /// The next item; `None` at the end. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<Item>, Fault> {
        if let Some(first) = self.first.take() {
            self.closed = self.until.is_reached(first.pos);
            self.last_first = Some(first.clone());
            return Ok(Some(first));
        }
        self.last_first = None;
        while !self.closed {
            let Some(stored) = self.watch.next().await? else {
                self.closed = true;
                break;
            };
            let pos = stored.pos;
            let item = item(stored);
            let seen = item.as_ref().map(|item| &item.seen);
            self.closed = self.until.is_reached(pos) || self.until.is_met_by(seen);
            let item = item.filter(|item| match &item.seen {
                Seen::Artifact(chunk) => self.shows.shows(&chunk.artifact),
                _ => true,
            });
            if item.is_some() {
                return Ok(item);
            }
        }
        Ok(None)
    }
}

impl Follow {
    /// The last item again.
    pub(crate) async fn again(&self) -> Result<Option<Item>, Fault> {
        match &self.last_first {
            Some(first) => Ok(Some(first.clone())),
            None => Ok(self.watch.again().await?.and_then(item)),
        }
    }
}

impl Until {
    fn is_reached(self, pos: Pos) -> bool {
        matches!(self, Self::Rests { at: Some(at) } if pos >= at)
    }

    fn is_met_by(self, seen: Option<&Seen>) -> bool {
        match (self, seen) {
            (_, Some(Seen::Status(status, _))) if status.last => true,
            (Self::Rests { .. }, Some(Seen::Status(status, _))) => interrupts(status),
            _ => false,
        }
    }
}

/// The run continues only after an action: an answer, or a repair of the program that does not match.
fn interrupts(status: &StatusUpdate) -> bool {
    status.interrupts || status.parked.is_some()
}

/// The visible form of an event, if it is visible, as far as it fits.
pub(crate) fn item(stored: Stored) -> Option<Item> {
    let Stored { pos, at, event, .. } = stored;
    let scope = FrameScope::Event;
    if let Event::Submitted(submission) = event {
        // The run's first event is the run itself at that time.
        let view = RunView::begin(Arc::new(*submission), at, pos);
        let (snapshot, bytes) = Snapshot::of(view).bounded(HISTORY_MESSAGES_MAX, true);
        let seen = Seen::Snapshot(Box::new(snapshot));
        return Some(Item { pos, seen, omitted: Omitted::default(), bytes, scope });
    }
    let BoundedUpdate { update, omitted, bytes } = update(&event)?.bounded(STREAMED_BYTES_MAX);
    let seen = match update {
        Update::Submitted => return None,
        Update::Status(status) => Seen::Status(Box::new(status), at),
        Update::Artifact(chunk) => Seen::Artifact(chunk),
    };
    Some(Item { pos, seen, omitted, bytes, scope })
}
