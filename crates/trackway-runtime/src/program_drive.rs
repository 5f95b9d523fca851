//! Drives programs: polls one until it ends, only waits, or does not fit its log.

use std::{
    future::Future as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::Value;
use trackway_domain::{
    Event, Failure, Op, OpKind, ReplayMismatch, RunCommand, RunId, RunSubmission, Seq, Yield,
};
use trackway_engine::Run;

use crate::{
    Error, Program, ProgramFuture, ProgramStop,
    command_execution::CommandAttachments,
    live_run::{DecidedRunHead, DecisionDurability, LiveRunRef},
    runtime_core::RuntimeCore,
    stage::{Stage, StageInner, StageMode},
    task_supervisor::TaskSupervisor,
};

/// The name of driving runs in the list of background work.
const RUNS: &str = "runs";

/// Events read from the store at once while a program is resumed.
const PAGE_EVENTS: usize = 1_024;

/// How a drive ends.
pub(crate) enum DriveEnd {
    Returned(Result<Value, ProgramStop>),
    /// Everything it requested is recorded, and it waits. Its future is dropped.
    Suspended,
    /// It does not fit its log.
    Nondeterminism(ReplayMismatch),
    /// The run ended meanwhile.
    Stopped,
    /// Only in a check: the program requested everything that the log holds.
    ReplayMatches,
}

/// The program of a run whose submission or newest answer is not durable yet.
pub(crate) struct PreparedDrive {
    live: LiveRunRef,
    inner: Arc<StageInner>,
    program: Arc<dyn Program>,
    input: Value,
}

impl PreparedDrive {
    /// The program continues with the events up to this one.
    pub(crate) fn require_durable_up_to(&self, seq: Seq) {
        self.inner.require_durable_up_to(seq);
    }
}

impl RuntimeCore {
    /// Drives the run's program in the background, unless it is already driven, has ended, or waits. A run
    /// that cannot be driven now is driven later.
    pub(crate) fn wake_run(self: &Arc<Self>, run: RunId) {
        let core = self.clone();
        let supervisor = TaskSupervisor::new(self, RUNS);
        self.tokio.spawn(async move { core.drive_run_until_done(run, supervisor, None).await });
    }

    /// Prepares the program of a run that is about to be submitted. None if it has to wait for a free slot or
    /// be read from the store first: then it is driven after the commit.
    pub(crate) fn prepare_first_drive(
        self: &Arc<Self>,
        live: &LiveRunRef,
        head: &mut DecidedRunHead,
        submission: &RunSubmission,
    ) -> Option<PreparedDrive> {
        let is_held = self.worker.is_lease_held();
        if self.is_stopping() || self.store_failure.borrow().is_some() || submission.guided || !is_held {
            return None;
        }
        let program = self.options.registry.find_program_version(&submission.workflow)?;
        let room = self.program_permits.clone().try_acquire_owned().ok()?;
        let inner = StageInner::new(submission, StageMode::Live(live.clone()));
        inner.hold_program_permit(room);
        head.program = Arc::downgrade(&inner);
        head.buffer.start_buffering();
        Some(PreparedDrive { live: live.clone(), inner, program, input: submission.input.clone() })
    }

    /// Prepares the program of a run that waits and is about to be answered. None if its log has to be read
    /// first, or if it cannot be driven here and now: then it is driven after the commit.
    pub(crate) fn prepare_next_drive(
        self: &Arc<Self>,
        live: &LiveRunRef,
        head: &mut DecidedRunHead,
    ) -> Option<PreparedDrive> {
        let may_drive = self.worker.is_lease_held() && head.lease.has_no_driver();
        if self.is_stopping() || self.store_failure.borrow().is_some() || !may_drive {
            return None;
        }
        let run = head.run.as_ref().filter(|run| run.parked.is_none() && !needs_no_program(run))?;
        if head.program.strong_count() > 0 {
            return None;
        }
        let program = self.options.registry.find_program_version(&run.submission.workflow)?;
        let room = self.program_permits.clone().try_acquire_owned().ok()?;
        let inner = StageInner::new(&run.submission, StageMode::Live(live.clone()));
        inner.lock_replay_state().fill_from_log_events(
            live.lock_committed_state().log_in_memory_up_to(run.seq)?.skip(1).map(|stored| &stored.event),
        );
        inner.hold_program_permit(room);
        let input = run.submission.input.clone();
        head.program = Arc::downgrade(&inner);
        head.is_undrivable = false;
        head.buffer.start_buffering();
        Some(PreparedDrive { live: live.clone(), inner, program, input })
    }

    /// Drives a program that could not be polled before its submission was sent.
    pub(crate) fn drive_prepared_in_background(self: &Arc<Self>, first: PreparedDrive) {
        self.tokio.spawn(self.clone().drive_prepared_until_done(first));
    }

    /// Polls the program of a run whose submission or answer was not sent to the store yet. What it does
    /// until it has to wait is sent together with it; the rest is driven in the background.
    pub(crate) fn poll_prepared_then_drive_in_background(self: &Arc<Self>, first: PreparedDrive) {
        let live = first.live.clone();
        let mut driving = Box::pin(self.clone().drive_prepared_until_done(first));
        // Spawning polls it again, with a real waker.
        let polled = driving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        live.flush_buffered_appends(self);
        if polled.is_pending() {
            self.tokio.spawn(driving);
        }
    }

    async fn drive_prepared_until_done(self: Arc<Self>, first: PreparedDrive) {
        let supervisor = TaskSupervisor::new(&self, RUNS);
        self.drive_run_until_done(first.live.id, supervisor, Some(first)).await;
    }

    /// The store refused what the run did. The run is driven again when the store accepts something of it: a
    /// step whose outcome could not be recorded is repeated, and must not be repeated over and over.
    pub(crate) fn wake_run_when_store_recovers(self: &Arc<Self>, run: RunId, reason: String) {
        let core = self.clone();
        let mut supervisor = TaskSupervisor::new(self, RUNS);
        self.tokio.spawn(async move {
            let mut error = Error::Unavailable { reason };
            while error.is_transient() {
                if supervisor.back_off_after_failure(&error).await.is_break() {
                    return;
                }
                match core.append_run_row_and_wait(run).await {
                    Ok(()) => return core.drive_run_until_done(run, supervisor, None).await,
                    Err(again) => error = again,
                }
            }
            if !matches!(error, Error::Stopping) {
                tracing::warn!(%run, %error, "a run could not be driven");
            }
        });
    }

    async fn drive_run_until_done(
        self: &Arc<Self>,
        run: RunId,
        mut supervisor: TaskSupervisor,
        mut first: Option<PreparedDrive>,
    ) {
        loop {
            let driven = match first.take() {
                Some(first) => self.drive_prepared_without_replay(first).await,
                None => self.drive_run(run).await,
            };
            // A caller that brings an answer and waits for this must look again.
            if let Some(live) = self.live_runs.find_live_run(run) {
                live.lock_head().is_undrivable |= driven.is_err();
                live.notify_program_idle();
            }
            match driven {
                Ok(()) | Err(Error::Stopping) => return,
                Err(error) if error.is_transient() => {
                    if supervisor.back_off_after_failure(&error).await.is_break() {
                        return;
                    }
                }
                Err(error) => return tracing::warn!(%run, %error, "a run could not be driven"),
            }
        }
    }

    /// Writes the run's row as it is, and waits until that is durable.
    async fn append_run_row_and_wait(self: &Arc<Self>, run: RunId) -> Result<(), Error> {
        loop {
            let live = self.load_run_for_write(run).await?;
            let permit = Some(self.acquire_append_permit().await?);
            let ordered = {
                let mut head = live.lock_head();
                if head.stale {
                    continue;
                }
                head.row = None;
                self.append_without_events(
                    &live,
                    &mut head,
                    CommandAttachments { permit, ..CommandAttachments::default() },
                )
            };
            if self.wait_for_commit(&live, ordered).await?.is_some() {
                return Ok(());
            }
        }
    }

    async fn drive_run(self: &Arc<Self>, run: RunId) -> Result<(), Error> {
        let room = self.program_permits.clone().acquire_owned().await.map_err(|_| Error::Stopping)?;
        if self.is_stopping() || self.store_failure.borrow().is_some() {
            return Err(Error::Stopping);
        }
        let mut live = self.load_run_for_write(run).await?;
        if !self.take_run_driver_lease(&mut live).await? {
            return Ok(());
        }
        let Some((inner, input, seq)) = activate_program(&live) else {
            return Ok(());
        };
        let workflow = live.lock_head().run.as_ref().map(|run| run.submission.workflow.clone());
        let workflow = workflow.ok_or(Error::Stopping)?;
        let Some(program) = self.load_program_of_workflow(&workflow).await? else {
            let evidence = self.options.registry.missing_program_mismatch(&workflow);
            return self.record_drive_end(&live, &inner, DriveEnd::Nondeterminism(evidence)).await;
        };
        inner.hold_program_permit(room);
        self.reach_fault_point("effect:drive");
        self.fill_replay_state(&live, &inner, seq).await?;
        self.drive_program_future(&live, &inner, &program, input).await
    }

    /// Drives a program whose log is empty.
    async fn drive_prepared_without_replay(self: &Arc<Self>, first: PreparedDrive) -> Result<(), Error> {
        let PreparedDrive { live, inner, program, input } = first;
        self.reach_fault_point("effect:drive");
        self.drive_program_future(&live, &inner, &program, input).await
    }

    /// Polls the program until it ends or only waits, and records that.
    async fn drive_program_future(
        self: &Arc<Self>,
        live: &LiveRunRef,
        inner: &Arc<StageInner>,
        program: &Arc<dyn Program>,
        input: Value,
    ) -> Result<(), Error> {
        let mut future = program.run(Stage(inner.clone()), input);
        let end = std::future::poll_fn(|cx| {
            live.buffer_appends_until_flush();
            let polled = poll_program(inner, &mut future, cx);
            // How it ended belongs to what it did last.
            if polled.is_pending() {
                live.flush_buffered_appends(self);
            }
            polled
        })
        .await;
        inner.lock_replay_state().is_dropping = true;
        drop(future);
        let end = match end {
            DriveEnd::Returned(Ok(output)) => {
                let checked = self.check_output_before_end(live, program, output).await;
                DriveEnd::Returned(checked.map_err(ProgramStop::Failed))
            }
            end => end,
        };
        let finished = self.record_drive_end(live, inner, end).await;
        live.flush_buffered_appends(self);
        finished
    }

    /// Loads the log into the program's replay state.
    async fn fill_replay_state(&self, live: &LiveRunRef, inner: &StageInner, seq: Seq) -> Result<(), Error> {
        // The first event is the submission, which a program sees as its input.
        let mut after = 1;
        let mut events: Vec<Event> = Vec::new();
        if seq > after && live.wait_until_seq_committed(seq).await != DecisionDurability::Durable {
            return Err(Error::Stopping);
        }
        if let Some(log) = live.lock_committed_state().log_in_memory_up_to(seq) {
            inner.lock_replay_state().fill_from_log_events(log.skip(1).map(|stored| &stored.event));
            return Ok(());
        }
        while after < seq {
            let page = self.options.journal.list_events(live.id, after, PAGE_EVENTS).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            events.extend(page.into_iter().filter(|stored| stored.seq <= seq).map(|stored| stored.event));
        }
        inner.lock_replay_state().fill_from_log_events(events.iter());
        Ok(())
    }

    /// Records how a drive ended.
    async fn record_drive_end(
        self: &Arc<Self>,
        live: &LiveRunRef,
        inner: &Arc<StageInner>,
        end: DriveEnd,
    ) -> Result<(), Error> {
        let command = match end {
            DriveEnd::Suspended | DriveEnd::Stopped | DriveEnd::ReplayMatches => return Ok(()),
            DriveEnd::Returned(Ok(output)) => RunCommand::End(Ok(output)),
            DriveEnd::Returned(Err(ProgramStop::Failed(failure))) => RunCommand::End(Err(failure)),
            DriveEnd::Returned(Err(ProgramStop::Rejected(reason))) => {
                let op = Op { kind: OpKind::Reject, key: "".into(), occurrence: 0 };
                RunCommand::Yield { op, what: Yield::Reject { reason } }
            }
            DriveEnd::Nondeterminism(evidence) => {
                tracing::warn!(run = %live.id, evidence = evidence.message, "a run is parked");
                RunCommand::Park(evidence)
            }
        };
        let permit = match self.try_acquire_append_permit() {
            Some(permit) => Some(permit),
            None => {
                // Other programs may wait for appends that are kept here, just as this one waits for theirs.
                live.flush_buffered_appends(self);
                Some(self.acquire_append_permit().await?)
            }
        };
        let mut head = live.lock_head();
        if head.stale || inner.is_program_stopped() {
            return Ok(());
        }
        head.program = std::sync::Weak::new();
        // An answer that it did not fit may have been replaced since the program looked.
        if matches!(command, RunCommand::Park(_)) && inner.lock_replay_state().has_new_answer {
            drop(head);
            self.wake_run(live.id);
            return Ok(());
        }
        head.runnable = false;
        let attached = CommandAttachments { permit, ..CommandAttachments::default() };
        let ordered = self.decide_and_append(live, &mut head, command, attached);
        drop(head);
        ordered.map(drop).map_err(|refusal| Error::from_refusal(live.id, &refusal))
    }
}

/// Makes this the program of the run, unless there is one already or none is needed.
fn activate_program(live: &LiveRunRef) -> Option<(Arc<StageInner>, Value, Seq)> {
    let mut head = live.lock_head();
    let run = head.run.as_ref()?;
    if head.stale || needs_no_program(run) || head.program.upgrade().is_some() {
        return None;
    }
    let (input, seq) = (run.submission.input.clone(), run.seq);
    let inner = StageInner::new(&run.submission, StageMode::Live(live.clone()));
    inner.lock_replay_state().is_filling = true;
    head.program = Arc::downgrade(&inner);
    head.runnable = true;
    head.is_undrivable = false;
    Some((inner, input, seq))
}

/// No program of this process continues the run. An outside agent drives a guided run. Nothing drives an
/// imported run that was not adopted.
pub(crate) fn needs_no_program(run: &Run) -> bool {
    run.state.name().is_terminal() || run.submission.guided || run.imported
}

/// Polls the program until it is idle, reveals one more fact of the log, and polls again.
pub(crate) fn poll_program(
    inner: &Arc<StageInner>,
    future: &mut ProgramFuture,
    cx: &mut Context<'_>,
) -> Poll<DriveEnd> {
    loop {
        if inner.is_program_stopped() {
            return Poll::Ready(DriveEnd::Stopped);
        }
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Ready(result)) => {
                let leftover = inner.lock_replay_state().unclaimed_op_mismatch("its end");
                return Poll::Ready(leftover.map_or(DriveEnd::Returned(result), DriveEnd::Nondeterminism));
            }
            Ok(Poll::Pending) => {}
            Err(panic) => {
                let failure = Failure::new(format!("the program panicked: {}", panic_message(&*panic)));
                return Poll::Ready(DriveEnd::Returned(Err(ProgramStop::Failed(failure))));
            }
        }
        let mut book = inner.lock_replay_state();
        if let Some(evidence) = book.replay_mismatch.take() {
            return Poll::Ready(DriveEnd::Nondeterminism(evidence));
        }
        if let Some(failure) = book.failure.take() {
            return Poll::Ready(DriveEnd::Returned(Err(ProgramStop::Failed(failure))));
        }
        // A program that awaits something of its own is not idle. It is not judged yet and sees nothing new,
        // so that its replays see the same.
        let rests = book.replay_waits > 0 || book.active_count > 0 || book.durable_waits > 0;
        if rests && book.reveal_next_fact() {
            continue;
        }
        if rests && !book.is_live {
            if let Some(evidence) = book.unclaimed_op_mismatch("nothing more") {
                return Poll::Ready(DriveEnd::Nondeterminism(evidence));
            }
            drop(book);
            match finish_replay(inner) {
                Some(end) => return Poll::Ready(end),
                None => continue,
            }
        }
        let only_waits = book.active_count == 0 && book.durable_waits > 0;
        let withdrawn = if book.is_live { std::mem::take(&mut book.withdrawn) } else { Vec::new() };
        // A caller that brings an answer may do so now.
        let has_settled = rests && book.is_live && withdrawn.is_empty() && book.mark_program_idle();
        if has_settled && let Some((_, live)) = inner.live_run() {
            live.notify_program_idle();
        }
        if withdrawn.is_empty() && !only_waits {
            book.driver = Some(cx.waker().clone());
            // It may have been stopped during the poll, when there was no task to wake.
            if inner.is_program_stopped() {
                return Poll::Ready(DriveEnd::Stopped);
            }
            return Poll::Pending;
        }
        drop(book);
        if !withdrawn.is_empty() {
            if let Some((_, live)) = inner.live_run()
                && inner.withdraw_questions(&mut live.lock_head(), withdrawn).is_err()
            {
                return Poll::Ready(DriveEnd::Stopped);
            }
        } else if try_suspend_program(inner) {
            return Poll::Ready(DriveEnd::Suspended);
        }
    }
}

/// The log is replayed to its end. In a check this is the end; otherwise the program may do new things from
/// here on.
fn finish_replay(inner: &Arc<StageInner>) -> Option<DriveEnd> {
    let Some((core, live)) = inner.live_run() else {
        return Some(DriveEnd::ReplayMatches);
    };
    let mut head = live.lock_head();
    if head.run.as_ref().is_some_and(|run| run.parked.is_some()) {
        // The evidence is out of date: this program fits. A refusal means that the run has ended.
        let _ = core.decide_and_append(live, &mut head, RunCommand::Unpark, CommandAttachments::default());
    }
    drop(head);
    let mut book = inner.lock_replay_state();
    book.is_live = true;
    book.replay_wakers.drain(..).for_each(std::task::Waker::wake);
    None
}

/// Suspends the run, unless something arrived in the meantime. Called under the head's lock, so that anything
/// that arrives later finds no program and drives a new one.
fn try_suspend_program(inner: &Arc<StageInner>) -> bool {
    let Some((core, live)) = inner.live_run() else {
        return false;
    };
    let mut head = live.lock_head();
    if inner.lock_replay_state().has_hidden_facts() {
        return false;
    }
    head.program = std::sync::Weak::new();
    head.runnable = false;
    core.append_run_row(live, &mut head);
    drop(head);
    live.notify_program_idle();
    true
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no text)".into())
}
