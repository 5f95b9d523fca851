//! Runs that begin inside of another run's append: whoever reads of a child finds it.

use std::sync::Arc;

use trackway_domain::{Event, Pos, Submission, Timer, Timestamp};
use trackway_engine::{Run, StatusTime};
use trackway_ports::{Append, Pinned, Receipt, TimerChange};

use crate::{command::changed_row, commit::show, core::Core, live::LiveRef};

/// A run whose first event is on its way to the store with the append that starts it.
pub(crate) struct Starting {
    live: LiveRef,
    submission: Box<Submission>,
}

impl Core {
    /// The run in memory, and the append that begins its log. Its id is fresh, so that nobody can have
    /// read it before.
    pub(crate) fn begin(
        self: &Arc<Self>,
        submission: Box<Submission>,
        at: Timestamp,
        pins: Vec<Pinned>,
    ) -> (Starting, Append) {
        let live = self.lives.enter(self, submission.run);
        // Everything that is known of the run is here. Set already where somebody guessed the id.
        let _ = live.loaded.set(());
        let mut append = Append::new(submission.run, 0, at);
        append.pins = pins;
        append.events = vec![Event::Submitted(submission.clone())];
        append.timers = submission
            .deadline
            .map(|due| TimerChange::Set(Timer::Deadline, due))
            .into_iter()
            .collect();
        let mut head = live.head();
        head.run = Some(Run::begin(submission.clone(), at));
        head.status = StatusTime::begin(at);
        head.runnable = true;
        append.row = changed_row(&mut head);
        drop(head);
        (Starting { live, submission }, append)
    }
}

impl Starting {
    /// Its first event is durable at that position: it is there for everybody, and is driven.
    pub(crate) fn committed(self, at: Timestamp, pos: Pos) {
        let Self { live, submission } = self;
        let due = submission.deadline;
        let events = vec![Event::Submitted(submission)];
        show(&live, events, at, Receipt { first: pos, hooks: false }, false);
        due.into_iter().for_each(|due| live.core.alarm.set(due));
        live.core.wake(live.id);
    }

    /// The append was refused: the run never was.
    pub(crate) fn failed(self) {
        self.live.head().void = true;
        self.live.core.lives.forget(&self.live);
        // Whoever waits for it must look again.
        self.live.committed.send_modify(|_| {});
    }
}
