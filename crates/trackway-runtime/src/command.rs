//! The command path: decide on the head, hand the append to the journal, and after the commit, and
//! only then, fold, tell, dispatch and answer.

use std::sync::{Arc, Weak};

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trackway_domain::{Command, Event, Pos, RunId, Seq, Timestamp};
use trackway_engine::{
    Decision, Delivered, Effect, Env, Refusal, Reply, Run, RunView, StatusTime, decide, shows,
};
use trackway_ports::{
    Append, AppendError, Claim, ClaimKey, HookChange, OutboxChange, OutboxId, Pinned, Receipt,
    RunRow, Stored, TimerChange,
};

use crate::{
    Error,
    core::Core,
    live::{Durable, Head, LiveRef, RowMarks, TAIL_EVENTS_MAX},
    stage::Inner,
};

/// Messages remembered per run in memory, for repetitions that come before the first is committed.
/// Far more than can be under way at one run.
const CLAIMS_MAX: usize = 1_024;

/// What goes with a command besides itself.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    /// The message behind it: its key and digest.
    pub(crate) claim: Option<(ClaimKey, String)>,
    /// The errand that it carries out.
    pub(crate) settles: Option<OutboxId>,
    /// What it does to the run's hooks.
    pub(crate) hooks: Vec<HookChange>,
    /// Definitions that the run needs to be gone on with.
    pub(crate) pins: Vec<Pinned>,
    /// The sender wants the run as of the commit.
    pub(crate) snapshot: bool,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// A command that is decided and ordered, but perhaps not durable yet.
#[derive(Debug)]
pub(crate) struct Ordered {
    pub(crate) reply: Reply,
    /// The run's last event after it.
    pub(crate) seq: Seq,
    /// Absent where there was nothing to write.
    pub(crate) commit: Option<oneshot::Receiver<Result<Commit, AppendError>>>,
}

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

impl Core {
    /// Decides and orders a command. Returns before it is durable; the caller holds the head's lock,
    /// so the order of decisions is the order of the log.
    pub(crate) fn order(
        self: &Arc<Self>,
        live: &LiveRef,
        head: &mut Head,
        command: Command,
        attached: Attached,
    ) -> Result<Ordered, Refusal> {
        let now = self.now();
        let ids = || self.options.ids.uuid();
        let env = Env { now, ids: &ids, schemas: &self.options.registry.schemas };
        let decision = decide(head.run.as_ref(), command, env)?;
        let expected = head.run.as_ref().map_or(0, |run| run.seq);
        fold(head, &decision.events, now)?;
        Ok(self.hand_in(live, head, decision, attached, expected, now))
    }

    /// Writes the run's row alone: its program waits now.
    pub(crate) fn order_row(self: &Arc<Self>, live: &LiveRef, head: &mut Head) {
        let seq = head.run.as_ref().map_or(0, |run| run.seq);
        self.hand_in(live, head, Decision::default(), Attached::default(), seq, self.now());
    }

    /// Strikes an errand, or changes a hook, without changing the run.
    pub(crate) fn order_rows(
        self: &Arc<Self>,
        live: &LiveRef,
        head: &mut Head,
        attached: Attached,
    ) -> Ordered {
        let seq = head.run.as_ref().map_or(0, |run| run.seq);
        self.hand_in(live, head, Decision::default(), attached, seq, self.now())
    }

    fn hand_in(
        self: &Arc<Self>,
        live: &LiveRef,
        head: &mut Head,
        decision: Decision,
        attached: Attached,
        expected: Seq,
        now: Timestamp,
    ) -> Ordered {
        let Decision { events, effects, reply } = decision;
        let mut append = Append::new(live.id, expected, now);
        let mut after = AfterCommit::new(live.clone(), events.clone(), now, attached.permit);
        after.sort_effects(self, head, effects, &mut append);
        if let Some(id) = attached.settles {
            append.outbox.push(OutboxChange::Remove(id));
        }
        append.hooks = attached.hooks;
        append.pins = attached.pins;
        append.tells = events.iter().any(shows);
        append.row = changed_row(head);
        append.claim = attached.claim.map(|(key, digest)| {
            let reply = recorded_reply(&reply);
            if head.claims.len() >= CLAIMS_MAX {
                // The store has the older ones by now.
                head.claims.clear();
            }
            head.claims.insert(key.clone(), (digest.clone(), reply.clone()));
            Claim { key, run: live.id, digest, reply }
        });
        append.events = events;
        let seq = expected + append.events.len() as Seq;
        if is_nothing(&append) {
            return Ordered { reply, seq, commit: None };
        }
        let (answer, commit) = oneshot::channel();
        after.answer = Some((answer, attached.snapshot));
        self.reach("runtime:ordered");
        self.options.journal.append(append, Box::new(move |result| after.run(result)));
        Ordered { reply, seq, commit: Some(commit) }
    }

    /// Decides a command and waits until it is durable. A lost race is decided again on the newer log.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        run: RunId,
        command: &Command,
        settles: Option<OutboxId>,
    ) -> Result<(Reply, Commit), Error> {
        loop {
            let live = self.load(run).await?;
            let permit = Some(self.permit().await?);
            let ordered = {
                let mut head = live.head();
                if head.void {
                    continue;
                }
                let attached = Attached { settles, snapshot: true, permit, ..Attached::default() };
                self.order(&live, &mut head, command.clone(), attached)
            };
            let ordered = match ordered {
                Ok(ordered) => ordered,
                Err(refusal) => match self.refuse(&live, &refusal).await {
                    Some(error) => return Err(error),
                    None => continue,
                },
            };
            match self.durable(&live, ordered).await? {
                Some(done) => return Ok(done),
                None => continue,
            }
        }
    }

    /// Waits for the commit. `None`: the race was lost, decide again.
    pub(crate) async fn durable(
        &self,
        live: &LiveRef,
        ordered: Ordered,
    ) -> Result<Option<(Reply, Commit)>, Error> {
        let Some(commit) = ordered.commit else {
            if !self.committed_up_to(live, ordered.seq).await? {
                return Ok(None);
            }
            let view = live.shown().view.clone();
            let before = view.as_ref().map_or(0, |view| view.pos);
            return Ok(Some((ordered.reply, Commit { view, before, hooks: false })));
        };
        match commit.await {
            Ok(Ok(commit)) => Ok(Some((ordered.reply, commit))),
            Ok(Err(AppendError::Conflict { .. } | AppendError::Claimed(_))) => Ok(None),
            Ok(Err(error @ AppendError::Broken { .. })) => Err(Error::append(&error)),
            Err(_) => Err(Error::Stopping),
        }
    }

    /// A refusal is an answer too: what it was decided on must be durable before it is given. `None`:
    /// it never will be, decide again.
    pub(crate) async fn refuse(&self, live: &LiveRef, refusal: &Refusal) -> Option<Error> {
        let seq = live.head().run.as_ref().map_or(0, |run| run.seq);
        match self.committed_up_to(live, seq).await {
            Ok(true) => Some(Error::refused(live.id, refusal)),
            Ok(false) => None,
            Err(error) => Some(error),
        }
    }

    /// False: the head is void.
    async fn committed_up_to(&self, live: &LiveRef, seq: Seq) -> Result<bool, Error> {
        match live.until_committed(seq).await {
            Durable::Yes => Ok(true),
            Durable::Void => Ok(false),
            Durable::Broken => {
                let reason = self.broken.borrow().clone().unwrap_or_default();
                Err(Error::Store { reason })
            }
        }
    }
}

/// What is done once an append is durable, or has failed. It runs on the journal's thread, in the
/// order of commits.
struct AfterCommit {
    live: LiveRef,
    events: Vec<Event>,
    at: Timestamp,
    drive: bool,
    stop: Weak<Inner>,
    alarms: Vec<Timestamp>,
    errands: Vec<(OutboxId, trackway_domain::Errand)>,
    answer: Option<(oneshot::Sender<Result<Commit, AppendError>>, bool)>,
    permit: Option<OwnedSemaphorePermit>,
}

impl AfterCommit {
    fn new(
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
            answer: None,
            permit,
        }
    }

    /// Writes each effect to the append, where it is durable, and keeps what is to be done after it.
    fn sort_effects(
        &mut self,
        core: &Core,
        head: &mut Head,
        effects: Vec<Effect>,
        append: &mut Append,
    ) {
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
                Effect::Owe(errand) => {
                    let id = OutboxId(core.options.ids.uuid());
                    append.outbox.push(OutboxChange::Add(id, errand.clone()));
                    self.errands.push((id, errand));
                }
            }
        }
    }

    fn run(self, result: Result<Receipt, AppendError>) {
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
        drop(self.permit);
        let commit = show(
            &self.live,
            self.events,
            self.at,
            receipt,
            self.answer.as_ref().is_some_and(|a| a.1),
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
            // Nobody listens where a program's yield was ordered; that is fine.
            let _ = answer.send(Ok(commit));
        }
        core.reach("runtime:told");
    }

    /// The head was decided on something that is not so. It is void; the next user loads the run again.
    fn failed(self, error: AppendError) {
        let core = self.live.core.clone();
        drop(self.permit);
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
        let program = {
            let mut head = self.live.head();
            head.void = true;
            std::mem::take(&mut head.program)
        };
        core.lives.forget(&self.live);
        // Whoever waits on this head must look again.
        self.live.committed.send_modify(|_| {});
        if let Some(program) = program.upgrade() {
            program.stop();
        }
        // What a program did on top of it is lost, its end perhaps; it goes on from what is durable.
        // Not where the store has failed: it would do its next step over and over. And a run that was
        // not created has no program.
        let broken = matches!(error, AppendError::Broken { .. });
        if !broken && !matches!(self.events.first(), Some(Event::Submitted(_))) {
            core.wake(self.live.id);
        }
        if let Some((answer, _)) = self.answer {
            let _ = answer.send(Err(error));
        }
    }
}

/// Folds committed events into what is shown, and tells watchers.
fn show(
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

fn fold(head: &mut Head, events: &[Event], now: Timestamp) -> Result<(), Refusal> {
    for event in events {
        match (&mut head.run, event) {
            (Some(run), event) => {
                run.apply(event)?;
                head.status.apply(event, now);
            }
            (run @ None, Event::Submitted(submission)) => {
                *run = Some(Run::begin(submission.clone(), now));
                head.status = StatusTime::begin(now);
            }
            (None, _) => return Err(Refusal::NotSubmitted),
        }
    }
    Ok(())
}

/// The run's row, where it differs from the one written last.
fn changed_row(head: &mut Head) -> Option<RunRow> {
    let run = head.run.as_ref()?;
    let state = run.state.name();
    let parked = run.parked.is_some();
    let runnable = head.runnable && !state.is_terminal() && !parked;
    let marks = RowMarks { state, runnable, parked, status_at: head.status.at };
    if head.row.replace(marks) == Some(marks) {
        return None;
    }
    let submission = &run.submission;
    Some(RunRow {
        id: submission.run,
        session: submission.session.clone(),
        caller: submission.caller.clone(),
        workflow: submission.workflow.clone(),
        parent: submission.parent,
        state,
        runnable,
        parked,
        created_at: run.created_at,
        status_at: marks.status_at,
    })
}

fn is_nothing(append: &Append) -> bool {
    append.events.is_empty()
        && append.row.is_none()
        && append.timers.is_empty()
        && append.outbox.is_empty()
        && append.hooks.is_empty()
        && append.claim.is_none()
}

/// What a repetition of the message is answered, as stored with its claim.
fn recorded_reply(reply: &Reply) -> serde_json::Value {
    match reply {
        Reply::Delivered(Delivered::Answer { question, order, concurrent, primary, problems }) => {
            serde_json::json!({ "question": question, "order": order, "concurrent": concurrent,
                "primary": primary, "problems": problems })
        }
        Reply::Done
        | Reply::Asked(_)
        | Reply::ChildStarted(_)
        | Reply::Delivered(Delivered::Noted) => serde_json::Value::Null,
    }
}
