//! After the commit, and only then: fold, tell, dispatch and answer.

use std::sync::{Arc, Weak};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trackway_domain::{Event, Pos, Timestamp};
use trackway_engine::{Effect, RunView};
use trackway_ports::{
    Append, AppendError, OutboxChange, OutboxId, Pinned, Receipt, Stored, TimerChange,
};

use crate::{
    command::Wants,
    core::Core,
    live::{Head, LiveRef, TAIL_EVENTS_MAX},
    stage::Inner,
    starting::Starting,
};

/// A durable command.
#[derive(Debug, Default)]
pub(crate) struct Commit {
    /// The run as of this commit, where asked for.
    pub(crate) view: Option<RunView>,
    /// Position of the run's last event before it.
    pub(crate) before: Pos,
    /// A hook of the run has something to deliver.
    pub(crate) hooks: bool,
}

/// What is done once an append is durable, or has failed. It runs on the journal's thread, in the
/// order of commits.
pub(crate) struct AfterCommit {
    live: LiveRef,
    events: Vec<Event>,
    at: Timestamp,
    drive: bool,
    stop: Weak<Inner>,
    alarms: Vec<Timestamp>,
    errands: Vec<(OutboxId, trackway_domain::Errand)>,
    /// Runs that begin with it.
    starting: Vec<Starting>,
    /// Who wants to hear of it.
    pub(crate) answer: Option<(oneshot::Sender<Result<Commit, AppendError>>, Wants)>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl AfterCommit {
    pub(crate) fn new(
        live: LiveRef,
        events: Vec<Event>,
        at: Timestamp,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self {
            live,
            events,
            at,
            drive: false,
            stop: Weak::new(),
            alarms: Vec::new(),
            errands: Vec::new(),
            starting: Vec::new(),
            answer: None,
            permits: permit.into_iter().collect(),
        }
    }

    /// Writes each effect to the append, where it is durable, and keeps what is to be done after it. A run
    /// that begins takes the pins; else they are handed back.
    pub(crate) fn sort_effects(
        &mut self,
        core: &Arc<Core>,
        head: &mut Head,
        effects: Vec<Effect>,
        append: &mut Append,
        mut pins: Vec<Pinned>,
    ) -> Vec<Pinned> {
        let program = head.program.upgrade();
        if let Some(program) = &program {
            self.events.iter().for_each(|event| program.arrive(event));
        }
        for effect in effects {
            match effect {
                Effect::Drive => {
                    head.runnable = true;
                    // Whatever the stored row says, after a crash this run must be driven. Also where a
                    // program is there to see it: it may have been taken up again from a run that waits.
                    head.row = None;
                    self.drive = program.is_none();
                }
                Effect::Stop => {
                    head.runnable = false;
                    self.stop = std::mem::take(&mut head.program);
                }
                Effect::SetTimer(timer, due) => {
                    append.timers.push(TimerChange::Set(timer, due));
                    self.alarms.push(due);
                }
                Effect::ClearTimer(timer) => append.timers.push(TimerChange::Clear(timer)),
                Effect::ClearTimers => append.timers.push(TimerChange::ClearAll),
                Effect::Start(submission) => {
                    let pins = std::mem::take(&mut pins);
                    let (starting, start) = core.begin(submission, self.at, pins);
                    append.starts.push(start);
                    self.starting.push(starting);
                }
                Effect::Owe(errand) => {
                    let id = OutboxId(core.options.ids.uuid());
                    append.outbox.push(OutboxChange::Add(id, errand.clone()));
                    self.errands.push((id, errand));
                }
            }
        }
        pins
    }

    /// Takes in what follows it in the same append.
    pub(crate) fn join(&mut self, next: Self) {
        self.events.extend(next.events);
        self.drive |= next.drive;
        if next.stop.strong_count() > 0 {
            self.stop = next.stop;
        }
        self.alarms.extend(next.alarms);
        self.errands.extend(next.errands);
        self.starting.extend(next.starting);
        self.permits.extend(next.permits);
    }

    pub(crate) fn run(self, result: Result<Receipt, AppendError>) {
        match result {
            Ok(receipt) => self.committed(receipt),
            // Apart from this thread: a store that refuses at once does so inside the very call that
            // hands the append in, under the head's lock.
            Err(error) => {
                let tokio = self.live.core.tokio.clone();
                tokio.spawn(async move { self.failed(error) });
            }
        }
    }

    fn committed(self, receipt: Receipt) {
        let core = self.live.core.clone();
        core.reach("runtime:committed");
        drop(self.permits);
        // The runs that begin with it are there before anybody reads of them.
        let first = receipt.first + self.events.len() as Pos;
        for (starting, pos) in self.starting.into_iter().zip(first..) {
            starting.committed(self.at, pos);
        }
        let commit = show(
            &self.live,
            self.events,
            self.at,
            receipt,
            self.answer.as_ref().is_some_and(|(_, wants)| *wants == Wants::View),
        );
        if let Some(program) = self.stop.upgrade() {
            program.stop();
        }
        self.alarms.into_iter().for_each(|due| core.alarm.set(due));
        for (id, errand) in self.errands {
            core.send_errand(id, errand);
        }
        if receipt.hooks {
            core.hooks.ring();
        }
        if self.drive {
            core.wake(self.live.id);
        }
        if let Some((answer, _)) = self.answer {
            // Whoever has stopped waiting need not be told.
            let _ = answer.send(Ok(commit));
        }
        core.reach("runtime:told");
    }

    /// The head was decided on something that is not so. It is void; the next user loads the run again.
    fn failed(self, error: AppendError) {
        let core = self.live.core.clone();
        drop(self.permits);
        if let AppendError::Broken { reason } = &error {
            core.broken.send_if_modified(|known| {
                let first = known.is_none();
                if first {
                    tracing::error!(reason, "the store has failed; nothing more is written");
                    *known = Some(reason.clone());
                }
                first
            });
        }
        // Appends of one head may be told of in any order. Rows alone are written again by whoever wanted
        // them, and the run is driven again once for all that it lost.
        let (program, first_loss) = {
            let mut head = self.live.head();
            head.void = true;
            let program = std::mem::take(&mut head.program).upgrade();
            let is_loss = program.is_some() || !self.events.is_empty();
            let first_loss = is_loss && !std::mem::replace(&mut head.woken, true);
            (program, first_loss)
        };
        core.lives.forget(&self.live);
        self.starting.into_iter().for_each(Starting::failed);
        // Whoever waits on this head must look again.
        self.live.committed.send_modify(|_| {});
        if let Some(program) = program {
            program.stop();
        }
        // What a program did on top of it is lost, its end perhaps; it goes on from what is durable. A run
        // that was not created has no program.
        let was_created = !matches!(self.events.first(), Some(Event::Submitted(_)));
        match &error {
            AppendError::Conflict { .. } | AppendError::Claimed(_) if was_created => {
                core.wake(self.live.id);
            }
            AppendError::Unavailable { reason } if was_created && first_loss => {
                core.wake_later(self.live.id, reason.clone());
            }
            // Where the store has failed it would do its next step over and over.
            _ => {}
        }
        if let Some((answer, _)) = self.answer {
            let _ = answer.send(Err(error));
        }
    }
}

/// Folds committed events into what is shown, and tells watchers.
pub(crate) fn show(
    live: &LiveRef,
    events: Vec<Event>,
    at: Timestamp,
    receipt: Receipt,
    snapshot: bool,
) -> Commit {
    let mut shown = live.shown();
    let before = shown.view.as_ref().map_or(0, |view| view.pos);
    for (event, pos) in events.into_iter().zip(receipt.first..) {
        match (&mut shown.view, &event) {
            (Some(view), event) => view.apply(event, at, pos),
            (view @ None, Event::Submitted(submission)) => {
                *view = Some(RunView::begin(Arc::new((**submission).clone()), at, pos));
            }
            (None, _) => {}
        }
        if let (Some(observer), Some(view)) = (&live.core.options.observer, &shown.view) {
            observer.committed(&view.submission, &event);
        }
        let seq = shown.view.as_ref().map_or(0, |view| view.seq);
        if shown.tail.len() == TAIL_EVENTS_MAX {
            shown.tail.pop_front();
        }
        shown.tail.push_back(Stored { pos, seq, at, event });
    }
    let seq = shown.view.as_ref().map_or(0, |view| view.seq);
    let view = if snapshot { shown.view.clone() } else { None };
    drop(shown);
    live.committed.send_if_modified(|now| std::mem::replace(now, seq) != seq);
    Commit { view, before, hooks: receipt.hooks }
}
