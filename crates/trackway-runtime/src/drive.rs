//! Driving programs: polling one until it ends, only waits, or turns out not to fit its log.

use std::{
    future::Future as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use serde_json::Value;
use trackway_domain::{
    Command, Event, Evidence, Failure, JSON_DEPTH_MAX, Op, OpKind, RunId, Seq, Submission, Yield,
    is_too_deep,
};
use trackway_engine::Run;

use crate::{
    Error, Program, ProgramFuture, Stop,
    command::Attached,
    core::Core,
    live::{Durable, Head, LiveRef},
    stage::{Inner, Place, Stage},
    supervise::Supervisor,
};

/// The name of driving runs among the background work.
const RUNS: &str = "runs";

/// Events read from the store at once while a program is taken up.
const PAGE_EVENTS: usize = 1_024;

/// How a drive ends.
pub(crate) enum End {
    Returned(Result<Value, Stop>),
    /// Everything it asked for is recorded, and it waits. Its future is dropped.
    Waits,
    /// It does not fit its log.
    Misfit(Evidence),
    /// The run ended meanwhile.
    Stopped,
    /// Only in a check: the whole log was asked for.
    Fits,
}

/// The program of a run whose submission, or the answer that it goes on by, is not durable yet.
pub(crate) struct FirstDrive {
    live: LiveRef,
    inner: Arc<Inner>,
    program: Arc<dyn Program>,
    input: Value,
}

impl FirstDrive {
    /// The program goes on by what was ordered up to there.
    pub(crate) fn goes_on_by(&self, seq: Seq) {
        self.inner.goes_on_by(seq);
    }
}

impl Core {
    /// Drives the run's program in the background, unless it is being driven, has ended, or waits. A run
    /// that cannot be driven now is driven later.
    pub(crate) fn wake(self: &Arc<Self>, run: RunId) {
        let core = self.clone();
        let supervisor = Supervisor::new(self, RUNS);
        self.tokio.spawn(async move { core.drive_until_done(run, supervisor, None).await });
    }

    /// Takes up the program of a run that is about to be submitted. None where it has to wait for room or
    /// has to be read from the store first: it is driven after the commit then.
    pub(crate) fn prepare_first_drive(
        self: &Arc<Self>,
        live: &LiveRef,
        head: &mut Head,
        submission: &Submission,
    ) -> Option<FirstDrive> {
        let is_held = self.worker.is_held();
        if self.is_stopping() || self.broken.borrow().is_some() || submission.guided || !is_held {
            return None;
        }
        let program = self.options.registry.pinned(&submission.workflow)?;
        let room = self.programs.clone().try_acquire_owned().ok()?;
        let inner = Inner::new(submission, Place::Live(live.clone()));
        inner.enter(room);
        head.program = Arc::downgrade(&inner);
        head.buffer.keep();
        Some(FirstDrive { live: live.clone(), inner, program, input: submission.input.clone() })
    }

    /// Takes up the program of a run that waits and is about to be answered. None where its log has to be
    /// read first, or where it cannot be driven here and now: it is driven after the commit then.
    pub(crate) fn prepare_next_drive(
        self: &Arc<Self>,
        live: &LiveRef,
        head: &mut Head,
    ) -> Option<FirstDrive> {
        let may_drive = self.worker.is_held() && head.lease.is_free();
        if self.is_stopping() || self.broken.borrow().is_some() || !may_drive {
            return None;
        }
        let run = head.run.as_ref().filter(|run| run.parked.is_none() && !is_over(run))?;
        if head.program.strong_count() > 0 {
            return None;
        }
        let program = self.options.registry.pinned(&run.submission.workflow)?;
        let room = self.programs.clone().try_acquire_owned().ok()?;
        let inner = Inner::new(&run.submission, Place::Live(live.clone()));
        inner.book().fill(live.shown().log(run.seq)?.skip(1).map(|stored| &stored.event));
        inner.enter(room);
        let input = run.submission.input.clone();
        head.program = Arc::downgrade(&inner);
        head.undrivable = false;
        head.buffer.keep();
        Some(FirstDrive { live: live.clone(), inner, program, input })
    }

    /// Drives a program that could not be polled before its submission was sent.
    pub(crate) fn drive_first_in_background(self: &Arc<Self>, first: FirstDrive) {
        self.tokio.spawn(self.clone().driving(first));
    }

    /// Polls the program of a run that was submitted or answered, which has not been sent to the store yet.
    /// What it does until it has to wait goes there with it; the rest is driven in the background.
    pub(crate) fn drive_first(self: &Arc<Self>, first: FirstDrive) {
        let live = first.live.clone();
        let mut driving = Box::pin(self.clone().driving(first));
        // Spawning polls it again, with a waker that wakes somebody.
        let polled = driving.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        live.release(self);
        if polled.is_pending() {
            self.tokio.spawn(driving);
        }
    }

    async fn driving(self: Arc<Self>, first: FirstDrive) {
        let supervisor = Supervisor::new(&self, RUNS);
        self.drive_until_done(first.live.id, supervisor, Some(first)).await;
    }

    /// The store did not take what the run did. It is driven again when the store takes something of it:
    /// a step whose outcome could not be recorded is done again, and must not be done over and over.
    pub(crate) fn wake_later(self: &Arc<Self>, run: RunId, reason: String) {
        let core = self.clone();
        let mut supervisor = Supervisor::new(self, RUNS);
        self.tokio.spawn(async move {
            let mut error = Error::Unavailable { reason };
            while error.is_transient() {
                if supervisor.failed(&error).await.is_break() {
                    return;
                }
                match core.write_row(run).await {
                    Ok(()) => return core.drive_until_done(run, supervisor, None).await,
                    Err(again) => error = again,
                }
            }
            if !matches!(error, Error::Stopping) {
                tracing::warn!(%run, %error, "a run could not be driven");
            }
        });
    }

    async fn drive_until_done(
        self: &Arc<Self>,
        run: RunId,
        mut supervisor: Supervisor,
        mut first: Option<FirstDrive>,
    ) {
        loop {
            let driven = match first.take() {
                Some(first) => self.drive_new(first).await,
                None => self.drive(run).await,
            };
            // Whoever brings an answer and waits for this must look again.
            if let Some(live) = self.lives.find(run) {
                live.head().undrivable |= driven.is_err();
                live.came_to_rest();
            }
            match driven {
                Ok(()) | Err(Error::Stopping) => return,
                Err(error) if error.is_transient() => {
                    if supervisor.failed(&error).await.is_break() {
                        return;
                    }
                }
                Err(error) => return tracing::warn!(%run, %error, "a run could not be driven"),
            }
        }
    }

    /// Writes the run's row as it is, and waits until that is durable.
    async fn write_row(self: &Arc<Self>, run: RunId) -> Result<(), Error> {
        loop {
            let live = self.load(run).await?;
            let permit = Some(self.permit().await?);
            let ordered = {
                let mut head = live.head();
                if head.void {
                    continue;
                }
                head.row = None;
                self.order_rows(&live, &mut head, Attached { permit, ..Attached::default() })
            };
            if self.durable(&live, ordered).await?.is_some() {
                return Ok(());
            }
        }
    }

    async fn drive(self: &Arc<Self>, run: RunId) -> Result<(), Error> {
        let room = self.programs.clone().acquire_owned().await.map_err(|_| Error::Stopping)?;
        if self.is_stopping() || self.broken.borrow().is_some() {
            return Err(Error::Stopping);
        }
        let mut live = self.load(run).await?;
        if !self.take_lease(&mut live).await? {
            return Ok(());
        }
        let Some((inner, input, seq)) = take_up(&live) else {
            return Ok(());
        };
        let workflow = live.head().run.as_ref().map(|run| run.submission.workflow.clone());
        let workflow = workflow.ok_or(Error::Stopping)?;
        let Some(program) = self.program(&workflow).await? else {
            let evidence = self.options.registry.missing(&workflow);
            return self.finish(&live, &inner, End::Misfit(evidence)).await;
        };
        inner.enter(room);
        self.reach("effect:drive");
        self.fill(&live, &inner, seq).await?;
        self.play(&live, &inner, program.run(Stage(inner.clone()), input)).await
    }

    /// Drives a program that finds nothing in its log.
    async fn drive_new(self: &Arc<Self>, first: FirstDrive) -> Result<(), Error> {
        let FirstDrive { live, inner, program, input } = first;
        self.reach("effect:drive");
        self.play(&live, &inner, program.run(Stage(inner.clone()), input)).await
    }

    /// Polls the program to its end, or until it only waits, and records that.
    async fn play(
        self: &Arc<Self>,
        live: &LiveRef,
        inner: &Arc<Inner>,
        mut future: ProgramFuture,
    ) -> Result<(), Error> {
        let end = std::future::poll_fn(|cx| {
            live.hold();
            let polled = poll(inner, &mut future, cx);
            // How it ended belongs to what it did last.
            if polled.is_pending() {
                live.release(self);
            }
            polled
        })
        .await;
        inner.book().leaving = true;
        drop(future);
        let finished = self.finish(live, inner, end).await;
        live.release(self);
        finished
    }

    /// Puts what the log holds into the program's book.
    async fn fill(&self, live: &LiveRef, inner: &Inner, seq: Seq) -> Result<(), Error> {
        // The first event is the submission, which a program sees as its input.
        let mut after = 1;
        let mut events: Vec<Event> = Vec::new();
        if seq > after && live.until_committed(seq).await != Durable::Yes {
            return Err(Error::Stopping);
        }
        if let Some(log) = live.shown().log(seq) {
            inner.book().fill(log.skip(1).map(|stored| &stored.event));
            return Ok(());
        }
        while after < seq {
            let page = self.options.journal.events(live.id, after, PAGE_EVENTS).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            events.extend(
                page.into_iter().filter(|stored| stored.seq <= seq).map(|stored| stored.event),
            );
        }
        inner.book().fill(events.iter());
        Ok(())
    }

    /// Records how a drive ended.
    async fn finish(
        self: &Arc<Self>,
        live: &LiveRef,
        inner: &Arc<Inner>,
        end: End,
    ) -> Result<(), Error> {
        let command = match end {
            End::Waits | End::Stopped | End::Fits => return Ok(()),
            End::Returned(Ok(output)) if is_too_deep(&output) => {
                let message = format!("the output is nested deeper than {JSON_DEPTH_MAX} levels");
                Command::End(Err(Failure::new(message)))
            }
            End::Returned(Ok(output)) => Command::End(Ok(output)),
            End::Returned(Err(Stop::Failed(failure))) => Command::End(Err(failure)),
            End::Returned(Err(Stop::Rejected(reason))) => {
                let op = Op { kind: OpKind::Reject, key: "".into(), occurrence: 0 };
                Command::Yield { op, what: Yield::Reject { reason } }
            }
            End::Misfit(evidence) => {
                tracing::warn!(run = %live.id, evidence = evidence.message, "a run is parked");
                Command::Park(evidence)
            }
        };
        let permit = match self.permit_now() {
            Some(permit) => Some(permit),
            None => {
                // Others may be waiting for what is held back here, as this one is for what is held there.
                live.release(self);
                Some(self.permit().await?)
            }
        };
        let mut head = live.head();
        if head.void || inner.is_stopped() {
            return Ok(());
        }
        head.program = std::sync::Weak::new();
        // What it does not fit may have been answered in another way since it looked.
        if matches!(command, Command::Park(_)) && inner.book().answered {
            drop(head);
            self.wake(live.id);
            return Ok(());
        }
        head.runnable = false;
        let attached = Attached { permit, ..Attached::default() };
        let ordered = self.order(live, &mut head, command, attached);
        drop(head);
        ordered.map(drop).map_err(|refusal| Error::refused(live.id, &refusal))
    }
}

/// Makes this the program of the run, unless there is one or none is needed.
fn take_up(live: &LiveRef) -> Option<(Arc<Inner>, Value, Seq)> {
    let mut head = live.head();
    let run = head.run.as_ref()?;
    if head.void || is_over(run) || head.program.upgrade().is_some() {
        return None;
    }
    let (input, seq) = (run.submission.input.clone(), run.seq);
    let inner = Inner::new(&run.submission, Place::Live(live.clone()));
    inner.book().filling = true;
    head.program = Arc::downgrade(&inner);
    head.runnable = true;
    head.undrivable = false;
    Some((inner, input, seq))
}

/// No program of this process goes on with it. An outside agent drives a guided run, and nobody one that was
/// imported and not adopted.
pub(crate) fn is_over(run: &Run) -> bool {
    run.state.name().is_terminal() || run.submission.guided || run.imported
}

/// Polls the program until it rests; lets it see one more fact of the log and polls again.
pub(crate) fn poll(
    inner: &Arc<Inner>,
    future: &mut ProgramFuture,
    cx: &mut Context<'_>,
) -> Poll<End> {
    loop {
        if inner.is_stopped() {
            return Poll::Ready(End::Stopped);
        }
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Ready(result)) => {
                let leftover = inner.book().leftover("its end");
                return Poll::Ready(leftover.map_or(End::Returned(result), End::Misfit));
            }
            Ok(Poll::Pending) => {}
            Err(panic) => {
                let failure =
                    Failure::new(format!("the program panicked: {}", panic_text(&*panic)));
                return Poll::Ready(End::Returned(Err(Stop::Failed(failure))));
            }
        }
        let mut book = inner.book();
        if let Some(evidence) = book.fault.take() {
            return Poll::Ready(End::Misfit(evidence));
        }
        if let Some(failure) = book.failure.take() {
            return Poll::Ready(End::Returned(Err(Stop::Failed(failure))));
        }
        // A program that awaits something of its own does not rest: it is not judged yet, and sees
        // nothing new, so that its replays see the same.
        let rests = book.asking > 0 || book.active > 0 || book.waits > 0;
        if rests && book.reveal() {
            continue;
        }
        if rests && !book.live {
            if let Some(evidence) = book.leftover("nothing more") {
                return Poll::Ready(End::Misfit(evidence));
            }
            drop(book);
            match go_live(inner) {
                Some(end) => return Poll::Ready(end),
                None => continue,
            }
        }
        let only_waits = book.active == 0 && book.waits > 0;
        let withdrawn = if book.live { std::mem::take(&mut book.withdrawn) } else { Vec::new() };
        // Whoever brings an answer may do so now.
        let has_settled = rests && book.live && withdrawn.is_empty() && book.settle();
        if has_settled && let Some((_, live)) = inner.live() {
            live.came_to_rest();
        }
        if withdrawn.is_empty() && !only_waits {
            book.driver = Some(cx.waker().clone());
            // It may have been stopped during the poll, when there was nobody to wake.
            if inner.is_stopped() {
                return Poll::Ready(End::Stopped);
            }
            return Poll::Pending;
        }
        drop(book);
        if !withdrawn.is_empty() {
            if let Some((_, live)) = inner.live()
                && inner.withdraw(&mut live.head(), withdrawn).is_err()
            {
                return Poll::Ready(End::Stopped);
            }
        } else if leave(inner) {
            return Poll::Ready(End::Waits);
        }
    }
}

/// The log is through. In a check that is the end; else new things may be done from here on.
fn go_live(inner: &Arc<Inner>) -> Option<End> {
    let Some((core, live)) = inner.live() else {
        return Some(End::Fits);
    };
    let mut head = live.head();
    if head.run.as_ref().is_some_and(|run| run.parked.is_some()) {
        // The evidence is out of date: this program fits. A refusal means that the run ended.
        let _ = core.order(live, &mut head, Command::Unpark, Attached::default());
    }
    drop(head);
    let mut book = inner.book();
    book.live = true;
    book.deferred.drain(..).for_each(std::task::Waker::wake);
    None
}

/// Leaves the run to wait, unless something arrived in the meantime. Under the head's lock, so that
/// whatever arrives later finds no program and drives a new one.
fn leave(inner: &Arc<Inner>) -> bool {
    let Some((core, live)) = inner.live() else {
        return false;
    };
    let mut head = live.head();
    if inner.book().has_arrivals() {
        return false;
    }
    head.program = std::sync::Weak::new();
    head.runnable = false;
    core.order_row(live, &mut head);
    drop(head);
    live.came_to_rest();
    true
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "(no text)".into())
}
