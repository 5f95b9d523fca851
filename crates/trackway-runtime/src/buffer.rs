//! What a program does in one go is one append.
//!
//! While a program is polled, what it orders is kept and joined; it is sent to the journal when the poll
//! is over. A run of three quick steps then costs one commit where it would cost two (the first order
//! by itself, then what came during its commit), one row and one wake-up of its watchers. What a program
//! does in its first poll goes with its submission, and what a child does in its first poll goes with the
//! append of its parent that starts it (decision 21).

use std::{collections::VecDeque, fmt, sync::Arc};

use trackway_domain::{Command, Seq, Submission, Timestamp};
use trackway_ports::{Append, Fence, Pinned};

use crate::{
    append,
    command::Attached,
    commit::{AfterCommit, Lookup},
    core::Core,
    drive::FirstDrive,
    live::LiveRef,
};

/// Events that are joined. Beyond it a longer append saves nothing more per event.
/// Limit (Runtime): events that one append joins.
const JOINED_EVENTS_MAX: usize = 64;

/// An append, and what follows its commit.
pub(crate) struct Order {
    pub(crate) append: Append,
    pub(crate) after: AfterCommit,
}

/// A run that begins with the append of its parent.
pub(crate) struct NewChild {
    live: LiveRef,
    /// Its program, until it is polled for the first time.
    first_drive: Option<FirstDrive>,
}

/// The orders of a run that the journal has not been sent. Under the head's lock, like every order.
#[derive(Default)]
pub(crate) struct AppendBuffer {
    /// The program is being polled, or is about to be.
    keeps: bool,
    /// The run begins with the append of its parent, which has not been sent.
    awaits_parent: bool,
    orders: VecDeque<Order>,
}

impl fmt::Debug for AppendBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppendBuffer").field("keeps", &self.keeps).finish_non_exhaustive()
    }
}

impl AppendBuffer {
    /// Keeps what is ordered until the program's next poll is over.
    pub(crate) fn keep(&mut self) {
        self.keeps = true;
    }

    /// When what is kept was ordered; none where nothing is.
    pub(crate) fn moment(&self) -> Option<Timestamp> {
        self.orders.back().map(|order| order.append.at)
    }

    /// Takes an order. It is sent at once where it is urgent, or no program is being polled.
    pub(crate) fn push(&mut self, core: &Core, order: Order, urgent: bool) {
        match self.orders.back_mut() {
            Some(last) if last.can_join(&order) => last.join(order),
            Some(_) if !self.awaits_parent => {
                self.send_all(core);
                self.orders.push_back(order);
            }
            Some(_) | None => self.orders.push_back(order),
        }
        if !self.awaits_parent && (urgent || !self.keeps) {
            self.send_all(core);
        }
    }

    fn send_all(&mut self, core: &Core) {
        self.orders.drain(..).for_each(|order| order.send(core));
    }

    /// Programs of children that are to be polled before the orders are sent.
    fn first_drives(&mut self) -> Vec<FirstDrive> {
        let children = self.orders.iter_mut().flat_map(|order| &mut order.after.children);
        children.filter_map(|child| child.first_drive.take()).collect()
    }
}

impl Order {
    /// Whether the other can be in the same append: it has the same moment, and nothing that an append
    /// has only one of.
    fn can_join(&self, next: &Self) -> bool {
        let Append { at, events, hooks, pins, stamps, claim, .. } = &next.append;
        let alone = !hooks.is_empty()
            || !pins.is_empty()
            || !stamps.is_empty()
            || claim.is_some()
            || matches!(next.append.fence, Fence::Take(_));
        *at == self.append.at
            && !alone
            && self.append.events.len() + events.len() <= JOINED_EVENTS_MAX
    }

    fn join(&mut self, next: Self) {
        let Append { events, row, timers, outbox, tells, .. } = next.append;
        let append = &mut self.append;
        debug_assert_eq!(next.append.expected, append.expected + append.events.len() as Seq);
        append.events.extend(events);
        append.row = row.or_else(|| append.row.take());
        append.timers.extend(timers);
        append.outbox.extend(outbox);
        append.tells |= tells;
        self.after.join(next.after);
    }

    fn send(self, core: &Core) {
        let Self { mut append, mut after } = self;
        let children = after.take_starts(&mut append.starts);
        core.reach("runtime:ordered");
        let lookup = Lookup { expected: append.expected, id: append.id };
        let done = move |result| after.run(result, lookup);
        append::send(&*core.options.journal, append, Box::new(done));
        for child in children {
            let mut head = child.head();
            head.buffer.awaits_parent = false;
            if !head.buffer.keeps {
                head.buffer.send_all(core);
            }
        }
    }
}

impl NewChild {
    /// Takes the append that begins the child's log, and those of the runs that begin with it. Returns the
    /// runs that may send the rest of their orders once the parent's append is sent.
    pub(crate) fn take_starts(
        self,
        starts: &mut Vec<Append>,
        afters: &mut Vec<AfterCommit>,
        begun: &mut Vec<LiveRef>,
    ) {
        let first = self.live.head().buffer.orders.pop_front();
        let Some(Order { append, mut after }) = first else { return };
        starts.push(append);
        let children = std::mem::take(&mut after.children);
        after.first_drive = self.first_drive;
        afters.push(after);
        begun.push(self.live);
        children.into_iter().for_each(|child| child.take_starts(starts, afters, begun));
    }

    /// The append that begins it will never be sent.
    pub(crate) fn discard(self) {
        let orders = std::mem::take(&mut self.live.head().buffer.orders);
        orders.into_iter().for_each(|order| order.after.discard());
    }
}

impl Core {
    /// A run that begins with the append of its parent, whose head is locked. Its id is fresh, so that
    /// nobody can have read it before.
    pub(crate) fn begin_child(
        self: &Arc<Self>,
        submission: Box<Submission>,
        pins: Vec<Pinned>,
    ) -> NewChild {
        let live = self.lives.enter(self, submission.run);
        // Everything that is known of the run is here. Set already where somebody guessed the id.
        let _ = live.loaded.set(());
        let mut head = live.head();
        head.buffer.awaits_parent = true;
        let first_drive = self.prepare_first_drive(&live, &mut head, &submission);
        let attached = Attached { pins, ..Attached::default() };
        let ordered = self.order(&live, &mut head, Command::Submit(submission), attached);
        debug_assert!(ordered.is_ok(), "a fresh run can be submitted");
        drop(head);
        NewChild { live, first_drive }
    }
}

impl LiveRef {
    /// From here on what is ordered is kept.
    pub(crate) fn hold(&self) {
        self.head().buffer.keep();
    }

    /// Sends what was kept, after a first look at what the children do that begin with it.
    pub(crate) fn release(&self, core: &Arc<Core>) {
        loop {
            let mut head = self.head();
            let first_drives = head.buffer.first_drives();
            if first_drives.is_empty() {
                head.buffer.keeps = false;
                if head.void {
                    // What was decided on a head that is void is void too.
                    let orders = std::mem::take(&mut head.buffer.orders);
                    drop(head);
                    orders.into_iter().for_each(|order| order.after.discard());
                } else if !head.buffer.awaits_parent {
                    head.buffer.send_all(core);
                }
                return;
            }
            drop(head);
            first_drives.into_iter().for_each(|first| core.drive_first(first));
        }
    }
}
