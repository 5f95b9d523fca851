//! The command path: decide on the head, hand the append to the journal, and wait for the commit where
//! somebody wants to know of it. What follows the commit is in `commit`.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trackway_domain::{Command, Event, RunId, Seq, Timestamp};
use trackway_engine::{Decision, Delivered, Env, Refusal, Reply, Run, StatusTime, decide};
use trackway_ports::{
    Append, AppendError, Claim, ClaimKey, HookChange, OutboxChange, OutboxId, Pinned, RunRow,
};

use crate::{
    Error,
    append::{append_of, row_of},
    buffer::Order,
    commit::{AfterCommit, Commit},
    core::Core,
    live::{Durable, Head, LiveRef, RowMarks},
};

/// Messages remembered per run in memory, for repetitions that come before the first is committed.
/// Far more than can be under way at one run.
/// Limit (Runtime): messages per run that are remembered until the first is committed.
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
    pub(crate) wants: Wants,
    /// It can wait for what the run's program does about it: both are one append then.
    pub(crate) with_program: bool,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// What the sender of a command wants to hear of its commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Nothing: a program goes on, and whoever shows something waits for the run's log.
    #[default]
    Nothing,
    Commit,
    /// The run as of the commit as well.
    View,
}

/// A command that is decided and ordered, but perhaps not durable yet.
#[derive(Debug)]
pub(crate) struct Ordered {
    pub(crate) reply: Reply,
    /// The run's last event after it.
    pub(crate) seq: Seq,
    /// Absent where there was nothing to write, or nobody wants to know.
    pub(crate) commit: Option<oneshot::Receiver<Result<Commit, AppendError>>>,
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
        let now = self.moment(head);
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
        let now = self.moment(head);
        self.hand_in(live, head, Decision::default(), Attached::default(), seq, now);
    }

    /// Strikes an errand, or changes a hook, without changing the run.
    pub(crate) fn order_rows(
        self: &Arc<Self>,
        live: &LiveRef,
        head: &mut Head,
        attached: Attached,
    ) -> Ordered {
        let seq = head.run.as_ref().map_or(0, |run| run.seq);
        let attached = Attached { wants: Wants::Commit, ..attached };
        let now = self.moment(head);
        self.hand_in(live, head, Decision::default(), attached, seq, now)
    }

    /// When a command is decided. What is in one append happened at one moment.
    fn moment(&self, head: &Head) -> Timestamp {
        head.buffer.moment().unwrap_or_else(|| self.now())
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
        let program = head.program.upgrade();
        let wakes_program = program.is_some_and(|program| program.arrive(&events));
        if attached.with_program && wakes_program {
            head.buffer.keep();
        }
        let mut append = append_of(live.id, expected, now, events.clone());
        let worker = self.worker.id();
        append.id = Some(self.worker.append_id());
        append.worker = Some(worker);
        let mut after = AfterCommit::new(live.clone(), events, now, attached.permit);
        // Where a run begins with it, they are that run's.
        append.pins = after.sort_effects(self, head, effects, &mut append, attached.pins);
        append.fence = head.lease.fence(worker);
        if let Some(id) = attached.settles {
            append.outbox.push(OutboxChange::Remove(id));
        }
        append.hooks = attached.hooks;
        append.row = changed_row(head);
        if append.row.as_ref().is_some_and(|row| !row.runnable && !row.parked) {
            head.lease.end();
        }
        append.claim = attached.claim.map(|(key, digest)| {
            let reply = recorded_reply(&reply);
            if head.claims.len() >= CLAIMS_MAX {
                // The store has the older ones by now.
                head.claims.clear();
            }
            head.claims.insert(key.clone(), (digest.clone(), reply.clone()));
            Claim { key, run: live.id, digest, reply }
        });
        let seq = expected + append.events.len() as Seq;
        if is_nothing(&append) {
            return Ordered { reply, seq, commit: None };
        }
        let commit = (attached.wants != Wants::Nothing).then(|| {
            let (answer, commit) = oneshot::channel();
            after.add_waiter(answer, attached.wants);
            commit
        });
        // Who submits a run waits for what its program does before its first effect as well.
        let urgent = commit.is_some() && expected > 0 && !attached.with_program;
        head.buffer.push(self, Order { append, after }, urgent);
        Ordered { reply, seq, commit }
    }

    /// Decides a command and waits until it is durable. A lost race is decided again on the newer log.
    pub(crate) async fn execute(
        self: &Arc<Self>,
        run: RunId,
        command: &Command,
        settles: Option<OutboxId>,
    ) -> Result<(Reply, Commit), Error> {
        let attach = || Attached { settles, wants: Wants::View, ..Attached::default() };
        self.execute_with(run, command, attach).await
    }

    /// The same, with what goes with it. Whoever calls it wants to hear of the commit at least.
    pub(crate) async fn execute_with(
        self: &Arc<Self>,
        run: RunId,
        command: &Command,
        attach: impl Fn() -> Attached,
    ) -> Result<(Reply, Commit), Error> {
        loop {
            let live = self.load(run).await?;
            let permit = Some(self.permit().await?);
            let ordered = {
                let mut head = live.head();
                if head.void {
                    continue;
                }
                let attached = Attached { permit, ..attach() };
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
            Ok(Err(
                AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_),
            )) => Ok(None),
            Ok(Err(error)) => Err(Error::append(&error)),
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

/// Folds events into the head.
pub(crate) fn fold(head: &mut Head, events: &[Event], now: Timestamp) -> Result<(), Refusal> {
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
pub(crate) fn changed_row(head: &mut Head) -> Option<RunRow> {
    let run = head.run.as_ref()?;
    let state = run.state.name();
    let parked = run.parked.is_some();
    let runnable = head.runnable && !state.is_terminal() && !parked;
    let marks = RowMarks { state, runnable, parked, status_at: head.status.at };
    if head.row.replace(marks) == Some(marks) {
        return None;
    }
    Some(row_of(run, marks))
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
        Reply::Delivered(Delivered::Answer { question, order, concurrent, primary, .. }) => {
            serde_json::json!({ "question": question, "order": order, "concurrent": concurrent,
                "primary": primary })
        }
        Reply::Done
        | Reply::Asked(_)
        | Reply::ChildStarted(_)
        | Reply::Guided(_)
        | Reply::Delivered(Delivered::Noted) => serde_json::Value::Null,
    }
}
