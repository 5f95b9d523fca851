//! Everything that a program does in one poll is one append.
//!
//! While a program is polled, its appends are kept and joined. They go to the journal when the poll is over.
//! A run of three quick steps then costs one commit instead of two (the first append by itself, then what
//! came during its commit), one row and one wake-up of its watchers. What a program does in its first poll
//! goes with its submission. What a child does in its first poll goes with the append of its parent that
//! starts it (decision 21).

use std::{collections::VecDeque, fmt, sync::Arc};

use trackway_domain::{RunCommand, RunSubmission, Seq, Timestamp};
use trackway_ports::{Append, AppendFence, PinnedDefinition};

use crate::{
    append,
    command_execution::CommandAttachments,
    commit_handling::{AfterCommitActions, AppendLookupKey},
    live_run::LiveRunRef,
    program_drive::PreparedDrive,
    runtime_core::RuntimeCore,
};

/// The most events that are joined. Beyond it a longer append saves nothing more per event.
/// Limit (Runtime): events that one append joins.
const JOINED_EVENTS_MAX: usize = 64;

/// An append, and what follows its commit.
pub(crate) struct PendingAppend {
    pub(crate) append: Append,
    pub(crate) after: AfterCommitActions,
}

/// A run that begins with the append of its parent.
pub(crate) struct PendingChildRun {
    live: LiveRunRef,
    /// Its program, until it is polled for the first time.
    first_drive: Option<PreparedDrive>,
}

/// The appends of a run that were not sent to the journal yet. Protected by the head's lock, like every
/// append.
#[derive(Default)]
pub(crate) struct AppendBuffer {
    /// The program is being polled, or is about to be.
    is_holding: bool,
    /// The run begins with the append of its parent, which has not been sent.
    awaits_parent: bool,
    appends: VecDeque<PendingAppend>,
}

impl fmt::Debug for AppendBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppendBuffer").field("keeps", &self.is_holding).finish_non_exhaustive()
    }
}

impl AppendBuffer {
    /// Keeps appends until the program's next poll is over.
    pub(crate) fn start_buffering(&mut self) {
        self.is_holding = true;
    }

    /// When the kept appends were decided; none if there are none.
    pub(crate) fn pending_append_time(&self) -> Option<Timestamp> {
        self.appends.back().map(|order| order.append.at)
    }

    /// Takes an append. It is sent at once if it is urgent, or if no program is being polled.
    pub(crate) fn push_append(&mut self, core: &RuntimeCore, append: PendingAppend, send_now: bool) {
        match self.appends.back_mut() {
            Some(last) if last.can_merge_append(&append) => last.merge_append(append),
            Some(_) if !self.awaits_parent => {
                self.enqueue_buffered_appends(core);
                self.appends.push_back(append);
            }
            Some(_) | None => self.appends.push_back(append),
        }
        if !self.awaits_parent && (send_now || !self.is_holding) {
            self.enqueue_buffered_appends(core);
        }
    }

    fn enqueue_buffered_appends(&mut self, core: &RuntimeCore) {
        self.appends.drain(..).for_each(|order| order.enqueue_to_journal(core));
    }

    /// Programs of children that must be polled before the appends are sent.
    fn take_prepared_child_drives(&mut self) -> Vec<PreparedDrive> {
        let children = self.appends.iter_mut().flat_map(|order| &mut order.after.children);
        children.filter_map(|child| child.first_drive.take()).collect()
    }
}

impl PendingAppend {
    /// Whether the other can be in the same append: it has the same time, and nothing that an append can have
    /// only once.
    fn can_merge_append(&self, next: &Self) -> bool {
        let Append {
            at, events, hook_changes: hooks, pins, event_times: stamps, message_claim: claim, ..
        } = &next.append;
        let alone = !hooks.is_empty()
            || !pins.is_empty()
            || !stamps.is_empty()
            || claim.is_some()
            || matches!(next.append.fence, AppendFence::TakeOver(_));
        *at == self.append.at && !alone && self.append.events.len() + events.len() <= JOINED_EVENTS_MAX
    }

    fn merge_append(&mut self, next: Self) {
        let Append {
            events,
            artifacts,
            row,
            timer_changes: timers,
            outbox_changes: outbox,
            notifies_hooks: tells,
            ..
        } = next.append;
        let append = &mut self.append;
        debug_assert_eq!(next.append.expected, append.expected + append.events.len() as Seq);
        append.events.extend(events);
        append.artifacts.extend(artifacts);
        append.row = row.or_else(|| append.row.take());
        append.timer_changes.extend(timers);
        append.outbox_changes.extend(outbox);
        append.notifies_hooks |= tells;
        self.after.merge_next_actions(next.after);
    }

    fn enqueue_to_journal(self, core: &RuntimeCore) {
        let Self { mut append, mut after } = self;
        let children = after.collect_children_start_appends(&mut append.started_runs);
        core.reach_fault_point("runtime:ordered");
        let lookup = AppendLookupKey { expected: append.expected, id: append.id };
        let done = move |result| after.on_append_result(result, lookup);
        append::enqueue_append(&*core.options.journal, append, Box::new(done));
        for child in children {
            let mut head = child.lock_head();
            head.buffer.awaits_parent = false;
            if !head.buffer.is_holding {
                head.buffer.enqueue_buffered_appends(core);
            }
        }
    }
}

impl PendingChildRun {
    /// Takes the append that begins the child's log, and those of the runs that begin with it. Returns the
    /// runs that may send the rest of their appends once the parent's append is sent.
    pub(crate) fn collect_child_start_appends(
        self,
        starts: &mut Vec<Append>,
        afters: &mut Vec<AfterCommitActions>,
        begun: &mut Vec<LiveRunRef>,
    ) {
        let first = self.live.lock_head().buffer.appends.pop_front();
        let Some(PendingAppend { append, mut after }) = first else { return };
        starts.push(append);
        let children = std::mem::take(&mut after.children);
        after.first_drive = self.first_drive;
        afters.push(after);
        begun.push(self.live);
        children.into_iter().for_each(|child| child.collect_child_start_appends(starts, afters, begun));
    }

    /// The append that begins it will never be sent.
    pub(crate) fn discard_buffered_appends(self) {
        let orders = std::mem::take(&mut self.live.lock_head().buffer.appends);
        orders.into_iter().for_each(|order| order.after.discard_unsent_append());
    }
}

impl RuntimeCore {
    /// A run that begins with the append of its parent, whose head is locked. Its id is fresh, so no other
    /// caller can have read it before.
    pub(crate) fn create_pending_child_run(
        self: &Arc<Self>,
        submission: Box<RunSubmission>,
        pins: Vec<PinnedDefinition>,
    ) -> PendingChildRun {
        let live = self.live_runs.get_or_create_live_run(self, submission.run);
        // Everything that is known of the run is here. It is already set if a caller guessed the id.
        let _ = live.loaded.set(());
        let mut head = live.lock_head();
        head.buffer.awaits_parent = true;
        let first_drive = self.prepare_first_drive(&live, &mut head, &submission);
        let attached = CommandAttachments { pins, ..CommandAttachments::default() };
        let ordered = self.decide_and_append(&live, &mut head, RunCommand::Submit(submission), attached);
        debug_assert!(ordered.is_ok(), "a fresh run can be submitted");
        drop(head);
        PendingChildRun { live, first_drive }
    }
}

impl LiveRunRef {
    /// From here on appends are kept.
    pub(crate) fn buffer_appends_until_flush(&self) {
        self.lock_head().buffer.start_buffering();
    }

    /// Sends the kept appends, after the first poll of the children that begin with them.
    pub(crate) fn flush_buffered_appends(&self, core: &Arc<RuntimeCore>) {
        loop {
            let mut head = self.lock_head();
            let first_drives = head.buffer.take_prepared_child_drives();
            if first_drives.is_empty() {
                head.buffer.is_holding = false;
                if head.stale {
                    // If the head is void, what was decided on it is void too.
                    let orders = std::mem::take(&mut head.buffer.appends);
                    drop(head);
                    orders.into_iter().for_each(|order| order.after.discard_unsent_append());
                } else if !head.buffer.awaits_parent {
                    head.buffer.enqueue_buffered_appends(core);
                }
                return;
            }
            drop(head);
            first_drives.into_iter().for_each(|first| core.poll_prepared_then_drive_in_background(first));
        }
    }
}
