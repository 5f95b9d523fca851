//! What a program does in one go is one append.
//!
//! While a program is polled, what it orders is held back and joined; it is handed to the journal when the
//! poll is over. A run of three quick steps then costs one commit where it would cost two (the first order
//! by itself, then what came during its commit), one row and one wake-up of its watchers.

use std::{fmt, sync::Arc};

use trackway_domain::Seq;
use trackway_ports::Append;

use crate::{commit::AfterCommit, core::Core, live::LiveRef};

/// Events that are joined. Beyond it a longer append saves nothing more per event.
/// Limit (Runtime): events that one append joins.
const JOINED_EVENTS_MAX: usize = 64;

/// An append, and what follows its commit.
pub(crate) struct HandIn {
    pub(crate) append: Append,
    pub(crate) after: AfterCommit,
}

/// The orders of a run's program that are held back. Under the head's lock, like every order.
#[derive(Default)]
pub(crate) struct Held {
    /// The program is being polled.
    holds: bool,
    waiting: Option<HandIn>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("holds", &self.holds).finish_non_exhaustive()
    }
}

impl Held {
    /// Takes an order. It is handed on at once where somebody waits for it, or no program is being polled.
    pub(crate) fn hand_in(&mut self, core: &Core, order: HandIn) {
        let order = match self.waiting.take() {
            None => order,
            Some(mut held) if held.is_followed_by(&order) => {
                held.join(order);
                held
            }
            Some(held) => {
                held.send(core);
                order
            }
        };
        if self.holds && order.after.answer.is_none() {
            self.waiting = Some(order);
        } else {
            order.send(core);
        }
    }
}

impl HandIn {
    /// Whether the other can be in the same append: it has the same moment, and nothing that is done or
    /// answered for it alone.
    fn is_followed_by(&self, next: &Self) -> bool {
        let Append { at, events, hooks, pins, stamps, claim, .. } = &next.append;
        let alone = !hooks.is_empty() || !pins.is_empty() || !stamps.is_empty() || claim.is_some();
        *at == self.append.at
            && !alone
            && next.after.answer.is_none()
            && self.append.events.len() + events.len() <= JOINED_EVENTS_MAX
    }

    fn join(&mut self, next: Self) {
        let Append { events, row, timers, outbox, tells, starts, .. } = next.append;
        let append = &mut self.append;
        debug_assert_eq!(next.append.expected, append.expected + append.events.len() as Seq);
        append.events.extend(events);
        append.row = row.or_else(|| append.row.take());
        append.timers.extend(timers);
        append.outbox.extend(outbox);
        append.starts.extend(starts);
        append.tells |= tells;
        self.after.join(next.after);
    }

    fn send(self, core: &Core) {
        let Self { append, after } = self;
        core.reach("runtime:ordered");
        core.options.journal.append(append, Box::new(move |result| after.run(result)));
    }
}

impl LiveRef {
    /// From here on what the run's program orders is held back.
    pub(crate) fn hold(&self) {
        self.head().held.holds = true;
    }

    /// Hands on what was held back.
    pub(crate) fn release(&self, core: &Arc<Core>) {
        let mut head = self.head();
        head.held.holds = false;
        let held = head.held.waiting.take();
        // What was decided on a head that is void is void too.
        if let Some(held) = held.filter(|_| !head.void) {
            held.send(core);
        }
    }
}
