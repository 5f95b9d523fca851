//! What happens after the commit, and only then: fold, notify, dispatch and answer.

use std::sync::{Arc, Weak, atomic::Ordering};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trackway_domain::{Event, Position, RunId, Seq, Timestamp};
use trackway_engine::{DecisionEffect, RunView};
use trackway_ports::{
    Append, AppendError, AppendId, AppendReceipt, OutboxChange, OutboxId, PinnedDefinition, StoredEvent,
    TimerChange,
};

use crate::{
    CommitObserver,
    append_buffer::PendingChildRun,
    command_execution::{CommitNotification, fold_events_into_head, take_changed_run_row},
    live_run::{
        CommittedRunState, DecidedRunHead, LiveRun, LiveRunRef, NEWS_EVENTS, TAIL_EVENTS_MAX, is_run_idle,
    },
    program_drive::PreparedDrive,
    runtime_core::RuntimeCore,
    stage::StageInner,
    task_supervisor::TaskSupervisor,
};

/// A durable command.
#[derive(Debug, Default)]
pub(crate) struct CommitResult {
    /// The run at this commit, if requested.
    pub(crate) view: Option<RunView>,
    /// Position of the run's last event before it.
    pub(crate) last_position: Position,
    /// A hook of the run has something to deliver.
    pub(crate) hooks: bool,
}

/// The sender of a command that waits for its commit.
struct CommitWaiter {
    answer: oneshot::Sender<Result<CommitResult, AppendError>>,
    notify_on: CommitNotification,
    /// The events of the append up to the command's own last one. What a program did on top of them is not
    /// part of the answer.
    events: usize,
}

/// What is done once an append is durable, or has failed. It runs on the journal's thread, in the order of
/// commits.
pub(crate) struct AfterCommitActions {
    live: LiveRunRef,
    events: Vec<Event>,
    at: Timestamp,
    should_drive: bool,
    stop: Weak<StageInner>,
    alarms: Vec<Timestamp>,
    errands: Vec<(OutboxId, trackway_domain::CrossRunErrand)>,
    /// Runs that begin with it, until it is sent.
    pub(crate) children: Vec<PendingChildRun>,
    /// What follows for the runs that began with it.
    started: Vec<Self>,
    /// The run's program, if it could not be polled before the append was sent.
    pub(crate) first_drive: Option<PreparedDrive>,
    waiters: Vec<CommitWaiter>,
    permits: Vec<OwnedSemaphorePermit>,
}

impl AfterCommitActions {
    pub(crate) fn new(
        live: LiveRunRef,
        events: Vec<Event>,
        at: Timestamp,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        Self {
            live,
            events,
            at,
            should_drive: false,
            stop: Weak::new(),
            alarms: Vec::new(),
            errands: Vec::new(),
            children: Vec::new(),
            started: Vec::new(),
            first_drive: None,
            waiters: Vec::new(),
            permits: permit.into_iter().collect(),
        }
    }

    /// A caller waits for what is in it so far.
    pub(crate) fn add_commit_waiter(
        &mut self,
        answer: oneshot::Sender<Result<CommitResult, AppendError>>,
        notify_on: CommitNotification,
    ) {
        self.waiters.push(CommitWaiter { answer, notify_on, events: self.events.len() });
    }

    /// Writes each effect to the append, so that it is durable, and keeps what must be done after the commit.
    /// A run that begins takes the pins; otherwise they are returned.
    pub(crate) fn record_and_schedule_effects(
        &mut self,
        core: &Arc<RuntimeCore>,
        head: &mut DecidedRunHead,
        effects: Vec<DecisionEffect>,
        append: &mut Append,
        mut pins: Vec<PinnedDefinition>,
    ) -> Vec<PinnedDefinition> {
        for effect in effects {
            match effect {
                DecisionEffect::Drive => {
                    head.runnable = true;
                    // After a crash this run must be driven, whatever the stored row says. This holds even if
                    // a program is there to see the effect: it may have been resumed from a run that waits.
                    head.row = None;
                    let is_driver = head.lease.take_driver_if_free(core.worker.worker_id());
                    self.should_drive = is_driver && head.program.strong_count() == 0;
                }
                DecisionEffect::Stop => {
                    head.runnable = false;
                    self.stop = std::mem::take(&mut head.program);
                }
                DecisionEffect::SetTimer(timer, due) => {
                    append.timer_changes.push(TimerChange::Set(timer, due));
                    self.alarms.push(due);
                }
                DecisionEffect::ClearTimer(timer) => append.timer_changes.push(TimerChange::Clear(timer)),
                DecisionEffect::ClearTimers => append.timer_changes.push(TimerChange::ClearAll),
                DecisionEffect::StartChild(submission) => {
                    let pins = std::mem::take(&mut pins);
                    self.children.push(core.create_pending_child_run(submission, pins));
                }
                DecisionEffect::AddErrand(errand) => {
                    let id = OutboxId(core.options.ids.new_uuid());
                    append.outbox_changes.push(OutboxChange::Add(id, errand.clone()));
                    self.errands.push((id, errand));
                }
            }
        }
        pins
    }

    /// Merges what follows it in the same append.
    pub(crate) fn merge_next_actions(&mut self, next: Self) {
        let before = self.events.len();
        let later = next.waiters.into_iter();
        self.waiters.extend(later.map(|waiter| CommitWaiter { events: before + waiter.events, ..waiter }));
        self.events.extend(next.events);
        self.should_drive |= next.should_drive;
        if next.stop.strong_count() > 0 {
            self.stop = next.stop;
        }
        self.alarms.extend(next.alarms);
        self.errands.extend(next.errands);
        self.children.extend(next.children);
        self.permits.extend(next.permits);
    }

    /// The append is about to be sent: takes the appends of the runs that begin with it. They may send the
    /// rest of their appends after it.
    pub(crate) fn collect_children_start_appends(&mut self, starts: &mut Vec<Append>) -> Vec<LiveRunRef> {
        let mut begun = Vec::new();
        for child in std::mem::take(&mut self.children) {
            child.collect_child_start_appends(starts, &mut self.started, &mut begun);
        }
        begun
    }

    /// The append is not sent: what it was decided on is void.
    pub(crate) fn discard_unsent_append(self) {
        self.children.into_iter().for_each(PendingChildRun::discard_buffered_appends);
        if *self.live.committed_seq.borrow() == 0 {
            self.live.core.invalidate_live_run(&self.live);
        }
        // A caller that waits for it decides again on what is durable.
        let run = self.live.id;
        for waiter in self.waiters {
            let _ = waiter.answer.send(Err(AppendError::Conflict { run, expected: 0 }));
        }
    }

    pub(crate) fn on_append_result(
        self,
        result: Result<AppendReceipt, AppendError>,
        lookup: AppendLookupKey,
    ) {
        let live = &self.live;
        match result {
            Ok(receipt) if live.has_unknown_append.load(Ordering::Acquire) => {
                let tokio = live.core.tokio.clone();
                tokio.spawn(async move { self.on_lost_append_confirmed(receipt, lookup).await });
            }
            Ok(receipt) => self.on_append_committed(receipt),
            Err(AppendError::Unknown { reason }) => {
                live.has_unknown_append.store(true, Ordering::Release);
                let tokio = live.core.tokio.clone();
                tokio.spawn(async move { self.resolve_unknown_append_result(reason, lookup).await });
            }
            // Not on this thread: a store that refuses at once calls back inside the call that hands the
            // append in, under the head's lock.
            Err(error) => {
                let tokio = self.live.core.tokio.clone();
                tokio.spawn(async move { self.on_append_failed(&error) });
            }
        }
    }

    fn on_append_committed(self, receipt: AppendReceipt) {
        let core = self.live.core.clone();
        core.reach_fault_point("runtime:committed");
        drop(self.permits);
        // The runs that begin with it exist before a watcher reads of them.
        for (started, first) in self.started.into_iter().zip(receipt.start_positions) {
            started.on_append_committed(AppendReceipt {
                first_position: first,
                start_positions: Vec::new(),
                has_due_hook: false,
            });
        }
        let observer = core.options.observer.as_deref();
        let has_events = !self.events.is_empty();
        let tail =
            CommittedBatchInfo { first: receipt.first_position, hooks: receipt.has_due_hook, at: self.at };
        let commits = publish_committed_events(&self.live, self.events, tail, &self.waiters, observer);
        if has_events {
            core.publish_wakeup(self.live.id, *self.live.committed_seq.borrow());
        }
        if let Some(program) = self.stop.upgrade() {
            program.stop_program();
        }
        self.alarms.into_iter().for_each(|due| core.alarm.set_alarm_if_sooner(due));
        if !self.errands.is_empty() {
            core.run_errands_in_background(self.errands);
        }
        if receipt.has_due_hook {
            core.hooks.signal_hook_due();
        }
        if let Some(first) = self.first_drive {
            core.drive_prepared_in_background(first);
        }
        if self.should_drive {
            core.wake_run(self.live.id);
        }
        for (waiter, commit) in self.waiters.into_iter().zip(commits) {
            // The send fails if the caller has stopped waiting.
            let _ = waiter.answer.send(Ok(commit));
        }
        core.reach_fault_point("runtime:told");
    }

    /// The head was decided on something that did not happen. It is void; the next user loads the run again.
    fn on_append_failed(self, error: &AppendError) {
        let core = self.live.core.clone();
        drop(self.permits);
        if let AppendError::Broken { reason } = error {
            core.store_failure.send_if_modified(|known| {
                let first = known.is_none();
                if first {
                    tracing::error!(reason, "the store has failed; nothing more is written");
                    *known = Some(reason.clone());
                }
                first
            });
        }
        // The results of one head's appends may arrive in any order. An append of only a row is written again
        // by its caller, and the run is driven again once for everything that it lost.
        let had_program = core.invalidate_live_run(&self.live);
        let is_loss = had_program || !self.events.is_empty();
        let first_loss = is_loss && !std::mem::replace(&mut self.live.lock_head().is_waking, true);
        // The runs that would have begun with it never existed.
        for started in &self.started {
            core.invalidate_live_run(&started.live);
        }
        // What a program did on top of it is lost, perhaps including its end. The program continues from what
        // is durable. If the run was not created, nothing is durable.
        let was_created = *self.live.committed_seq.borrow() > 0;
        match error {
            AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_)
                if was_created =>
            {
                core.wake_run(self.live.id);
            }
            AppendError::Unavailable { reason } if was_created && first_loss => {
                core.wake_run_when_store_recovers(self.live.id, reason.clone());
            }
            // If the store has failed, the program would do its next step over and over.
            _ => {}
        }
        for waiter in self.waiters {
            let _ = waiter.answer.send(Err(error.clone()));
        }
    }
}

/// The key to look up an append.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AppendLookupKey {
    /// Number of the last event before it.
    pub(crate) expected: Seq,
    pub(crate) id: Option<AppendId>,
}

/// The answer to a commit was lost: the store is asked whether the append is there. In both cases the run
/// continues from what the store holds.
impl AfterCommitActions {
    async fn resolve_unknown_append_result(self, reason: String, lookup: AppendLookupKey) {
        let core = self.live.core.clone();
        core.invalidate_live_run(&self.live);
        let mut supervisor = TaskSupervisor::new(&core, "lost answers");
        loop {
            let found = match lookup.id.filter(|_| !self.events.is_empty()) {
                Some(id) => core.options.journal.find_append_receipt(self.live.id, lookup.expected, id).await,
                // An append of only a row is written again by its caller.
                None => Ok(None),
            };
            match found {
                Ok(Some(receipt)) => return self.on_lost_append_confirmed(receipt, lookup).await,
                Ok(None) => return self.on_append_failed(&AppendError::Unavailable { reason }),
                Err(error) => {
                    if supervisor.back_off_after_failure(&error).await.is_break() {
                        return self.on_append_failed(&AppendError::Closed);
                    }
                }
            }
        }
    }

    /// The append is in the store. What follows a commit is done, except what needs the head, which is void.
    async fn on_lost_append_confirmed(self, receipt: AppendReceipt, lookup: AppendLookupKey) {
        let core = self.live.core.clone();
        core.invalidate_live_run(&self.live);
        drop(self.permits);
        core.alarm.set_alarm_if_sooner(core.now());
        core.hooks.signal_hook_due();
        core.run_errands_in_background(self.errands);
        for started in self.started {
            core.invalidate_live_run(&started.live);
            core.wake_run(started.live.id);
        }
        core.wake_run(self.live.id);
        let before = receipt.first_position.saturating_sub(1);
        for waiter in self.waiters {
            let seq = lookup.expected + waiter.events as Seq;
            let commit = match core.load_view_at_seq(self.live.id, seq).await {
                Ok(view) => {
                    Ok(CommitResult { view: Some(view), last_position: before, hooks: receipt.has_due_hook })
                }
                Err(error) => Err(AppendError::Unavailable { reason: error.to_string() }),
            };
            let _ = waiter.answer.send(commit);
        }
    }
}

/// Events that are durable in a log, and were not decided on the head here.
#[derive(Debug)]
pub(crate) struct ExternalAppend {
    pub(crate) run: RunId,
    /// Number of the last event before them.
    pub(crate) expected: Seq,
    /// Number of the last of them.
    pub(crate) last: Seq,
    /// Absent if the run was not in memory when they were written.
    pub(crate) events: Option<Vec<Event>>,
    pub(crate) at: Timestamp,
    pub(crate) receipt: AppendReceipt,
}

impl ExternalAppend {
    /// Folds the events into the head and into the committed state. False if the head is not as old as they
    /// are; a head that was loaded since then has them.
    pub(crate) fn fold_into_live_run(self, live: &LiveRun) -> bool {
        let mut head = live.lock_head();
        if head.stale || head.damaged.is_some() {
            return false;
        }
        let (Some(seq), Some(events)) = (head.run.as_ref().map(|run| run.seq), self.events) else {
            return false;
        };
        // Not by `committed_seq`: a caller that waits for it may look at the head in the meantime.
        let committed = live.lock_committed_state().view.as_ref().map_or(0, |view| view.seq);
        if committed >= self.expected + events.len() as Seq {
            return true;
        }
        if (seq, committed) != (self.expected, self.expected)
            || fold_events_into_head(&mut head, &events, self.at).is_err()
        {
            return false;
        }
        // The append brought the row with it.
        let _ = take_changed_run_row(&mut head);
        let AppendReceipt { first_position: first, has_due_hook: hooks, .. } = self.receipt;
        publish_committed_events(live, events, CommittedBatchInfo { first, hooks, at: self.at }, &[], None);
        true
    }
}

/// What is known of events that were committed together.
struct CommittedBatchInfo {
    /// Position of the first.
    first: Position,
    /// A hook of the run has something to deliver.
    hooks: bool,
    at: Timestamp,
}

/// Folds committed events into the committed state and notifies watchers. Returns the result for each waiter.
fn publish_committed_events(
    live: &LiveRun,
    events: Vec<Event>,
    CommittedBatchInfo { first, hooks, at }: CommittedBatchInfo,
    waiters: &[CommitWaiter],
    observer: Option<&dyn CommitObserver>,
) -> Vec<CommitResult> {
    let mut state = live.lock_committed_state();
    let before = state.view.as_ref().map_or(0, |view| view.pos);
    let seq_before = state.view.as_ref().map_or(0, |view| view.seq);
    let mut unanswered = waiters.iter().peekable();
    let mut commits = Vec::with_capacity(waiters.len());
    let mut answer = |state: &CommittedRunState, events: usize| {
        while let Some(waiter) = unanswered.next_if(|waiter| waiter.events <= events) {
            let view = (waiter.notify_on == CommitNotification::View).then(|| state.view.clone()).flatten();
            commits.push(CommitResult { view, last_position: before, hooks });
        }
    };
    for (index, (event, pos)) in events.into_iter().zip(first..).enumerate() {
        answer(&state, index);
        match (&mut state.view, &event) {
            (Some(view), event) => view.apply_event(event, at, pos),
            (view @ None, Event::Submitted(submission)) => {
                *view = Some(RunView::from_submission(Arc::new((**submission).clone()), at, pos));
            }
            (None, _) => {}
        }
        if let (Some(observer), Some(view)) = (observer, &state.view) {
            observer.on_event_committed(&view.submission, &event);
        }
        let seq = state.view.as_ref().map_or(0, |view| view.seq);
        if state.view.as_ref().is_some_and(is_run_idle) {
            state.rested = seq;
        }
        if state.tail.len() == TAIL_EVENTS_MAX {
            state.tail.pop_front();
        }
        state.tail.push_back(StoredEvent { pos, seq, at, event });
    }
    answer(&state, usize::MAX);
    let seq = state.view.as_ref().map_or(0, |view| view.seq);
    let has_rested = state.rested > seq_before;
    drop(state);
    live.committed_seq.send_if_modified(|now| std::mem::replace(now, seq) != seq);
    if has_rested || seq / NEWS_EVENTS != seq_before / NEWS_EVENTS {
        live.news.notify_waiters();
    }
    commits
}
