//! The command path: decide on the head, hand the append to the journal, and wait for the commit if the
//! caller needs it. What follows the commit is in `commit_handling`.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trackway_domain::{Event, RunCommand, RunId, Seq, Timestamp};
use trackway_engine::{
    CommandRefusal, CommandReply, Decision, DecisionEnv, MessageDeliveryOutcome, Run, StatusTime, decide,
};
use trackway_ports::{
    Append, AppendError, HookChange, MessageClaim, MessageClaimKey, OutboxChange, OutboxId, PinnedDefinition,
    RunRow,
};

use crate::{
    Error,
    append::{build_run_append, build_run_row},
    append_buffer::PendingAppend,
    commit_handling::{AfterCommitActions, CommitResult},
    live_run::{DecidedRunHead, DecisionDurability, LiveRunRef, RunRowStatus},
    runtime_core::RuntimeCore,
};

/// Messages remembered per run in memory, for repetitions that come before the first is committed. Far more
/// than can be in flight at one run.
/// Limit (Runtime): messages per run that are remembered until the first is committed.
const CLAIMS_MAX: usize = 1_024;

/// What is appended together with a command.
#[derive(Debug, Default)]
pub(crate) struct CommandAttachments {
    /// The message behind it: its key and digest.
    pub(crate) claim: Option<(MessageClaimKey, String)>,
    /// The errand that it carries out.
    pub(crate) settled_errand: Option<OutboxId>,
    /// The changes to the run's hooks.
    pub(crate) hooks: Vec<HookChange>,
    /// Definitions that the run needs to continue.
    pub(crate) pins: Vec<PinnedDefinition>,
    pub(crate) notify_on: CommitNotification,
    /// It can wait for what the run's program does next: both are one append then.
    pub(crate) waits_for_program: bool,
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// What the sender of a command wants to know about its commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CommitNotification {
    /// Nothing: a program continues, and a caller that shows a result waits for the run's log.
    #[default]
    Nothing,
    Commit,
    /// The commit and the run at the commit.
    View,
}

/// A command that is decided and appended, but perhaps not durable yet.
#[derive(Debug)]
pub(crate) struct PendingCommit {
    pub(crate) reply: CommandReply,
    /// The run's last event after it.
    pub(crate) seq: Seq,
    /// Absent if there was nothing to write, or if the sender does not wait.
    pub(crate) commit: Option<oneshot::Receiver<Result<CommitResult, AppendError>>>,
}

impl RuntimeCore {
    /// Decides a command and hands in its append. Returns before it is durable. The caller holds the head's
    /// lock, so the order of decisions is the order of the log.
    pub(crate) fn decide_and_append(
        self: &Arc<Self>,
        live: &LiveRunRef,
        head: &mut DecidedRunHead,
        command: RunCommand,
        context: CommandAttachments,
    ) -> Result<PendingCommit, CommandRefusal> {
        let now = self.decision_time(head);
        let ids = || self.options.ids.new_uuid();
        let env = DecisionEnv { now, ids: &ids, schemas: &self.options.registry.schemas };
        let decision = decide(head.run.as_ref(), command, env)?;
        let expected = head.run.as_ref().map_or(0, |run| run.seq);
        fold_events_into_head(head, &decision.events, now)?;
        Ok(self.append_decided_events(live, head, decision, context, expected, now))
    }

    /// Writes only the run's row: its program waits now.
    pub(crate) fn append_run_row(self: &Arc<Self>, live: &LiveRunRef, head: &mut DecidedRunHead) {
        let seq = head.run.as_ref().map_or(0, |run| run.seq);
        let now = self.decision_time(head);
        self.append_decided_events(live, head, Decision::default(), CommandAttachments::default(), seq, now);
    }

    /// Removes an errand, or changes a hook, without changing the run.
    pub(crate) fn append_without_events(
        self: &Arc<Self>,
        live: &LiveRunRef,
        head: &mut DecidedRunHead,
        context: CommandAttachments,
    ) -> PendingCommit {
        let seq = head.run.as_ref().map_or(0, |run| run.seq);
        let context = CommandAttachments { notify_on: CommitNotification::Commit, ..context };
        let now = self.decision_time(head);
        self.append_decided_events(live, head, Decision::default(), context, seq, now)
    }

    /// When a command is decided. Everything in one append has the same time.
    fn decision_time(&self, head: &DecidedRunHead) -> Timestamp {
        head.buffer.pending_append_time().unwrap_or_else(|| self.now())
    }

    fn append_decided_events(
        self: &Arc<Self>,
        live: &LiveRunRef,
        head: &mut DecidedRunHead,
        decision: Decision,
        context: CommandAttachments,
        expected_seq: Seq,
        now: Timestamp,
    ) -> PendingCommit {
        let Decision { events, effects, reply } = decision;
        let program = head.program.upgrade();
        let wakes_program = program.is_some_and(|program| program.on_appended_events(&events));
        if context.waits_for_program && wakes_program {
            head.buffer.start_buffering();
        }
        let submission = head.run.as_ref().map(|run| &*run.submission);
        let mut append = build_run_append(live.id, submission, expected_seq, now, events.clone());
        let worker = self.worker.worker_id();
        append.id = Some(self.worker.next_append_id());
        append.worker = Some(worker);
        let mut after = AfterCommitActions::new(live.clone(), events, now, context.permit);
        // If a run begins with it, the pins are that run's.
        append.pins = after.record_and_schedule_effects(self, head, effects, &mut append, context.pins);
        append.fence = head.lease.next_append_fence(worker);
        if let Some(id) = context.settled_errand {
            append.outbox_changes.push(OutboxChange::Remove(id));
        }
        append.hook_changes = context.hooks;
        append.row = take_changed_run_row(head);
        if append.row.as_ref().is_some_and(|row| !row.runnable && !row.parked) {
            head.lease.clear_run_driver();
        }
        append.message_claim = context.claim.map(|(key, digest)| {
            let reply = encode_claim_reply(&reply);
            if head.claims.len() >= CLAIMS_MAX {
                // The store has the older ones by now.
                head.claims.clear();
            }
            head.claims.insert(key.clone(), (digest.clone(), reply.clone()));
            MessageClaim { key, run: live.id, digest, reply }
        });
        let seq = expected_seq + append.events.len() as Seq;
        if is_empty_append(&append) {
            return PendingCommit { reply, seq, commit: None };
        }
        let commit = (context.notify_on != CommitNotification::Nothing).then(|| {
            let (answer, commit) = oneshot::channel();
            after.add_commit_waiter(answer, context.notify_on);
            commit
        });
        // The caller that submits a run also waits for what its program does before its first effect.
        let urgent = commit.is_some() && expected_seq > 0 && !context.waits_for_program;
        head.buffer.push_append(self, PendingAppend { append, after }, urgent);
        PendingCommit { reply, seq, commit }
    }

    /// Decides a command and waits until it is durable. After a lost race it decides again on the newer log.
    pub(crate) async fn execute_command(
        self: &Arc<Self>,
        run: RunId,
        command: &RunCommand,
        settles: Option<OutboxId>,
    ) -> Result<(CommandReply, CommitResult), Error> {
        let attach = || CommandAttachments {
            settled_errand: settles,
            notify_on: CommitNotification::View,
            ..CommandAttachments::default()
        };
        self.execute_command_with_attachments(run, command, attach).await
    }

    /// The same, with what goes with it. The caller waits for the commit at least.
    pub(crate) async fn execute_command_with_attachments(
        self: &Arc<Self>,
        run: RunId,
        command: &RunCommand,
        attach: impl Fn() -> CommandAttachments,
    ) -> Result<(CommandReply, CommitResult), Error> {
        loop {
            let live = self.load_run_for_write(run).await?;
            let permit = Some(self.acquire_append_permit().await?);
            let pending = {
                let mut head = live.lock_head();
                if head.stale {
                    continue;
                }
                let context = CommandAttachments { permit, ..attach() };
                self.decide_and_append(&live, &mut head, command.clone(), context)
            };
            let pending = match pending {
                Ok(pending) => pending,
                Err(refusal) => match self.refuse_after_commit(&live, &refusal).await {
                    Some(error) => return Err(error),
                    None => continue,
                },
            };
            match self.wait_for_commit(&live, pending).await? {
                Some(done) => return Ok(done),
                None => continue,
            }
        }
    }

    /// Waits for the commit. `None`: the race was lost, decide again.
    pub(crate) async fn wait_for_commit(
        &self,
        live: &LiveRunRef,
        pending: PendingCommit,
    ) -> Result<Option<(CommandReply, CommitResult)>, Error> {
        let Some(commit) = pending.commit else {
            if !self.wait_until_seq_durable(live, pending.seq).await? {
                return Ok(None);
            }
            let view = live.lock_committed_state().view.clone();
            let before = view.as_ref().map_or(0, |view| view.pos);
            return Ok(Some((pending.reply, CommitResult { view, last_position: before, hooks: false })));
        };
        match commit.await {
            Ok(Ok(commit)) => Ok(Some((pending.reply, commit))),
            Ok(Err(AppendError::Conflict { .. } | AppendError::Fenced { .. } | AppendError::Claimed(_))) => {
                Ok(None)
            }
            Ok(Err(error)) => Err(Error::from_append_error(&error)),
            Err(_) => Err(Error::Stopping),
        }
    }

    /// A refusal is an answer too: what it was decided on must be durable before it is returned. `None`: it
    /// will never be durable, so decide again.
    pub(crate) async fn refuse_after_commit(
        &self,
        live: &LiveRunRef,
        refusal: &CommandRefusal,
    ) -> Option<Error> {
        let seq = live.lock_head().run.as_ref().map_or(0, |run| run.seq);
        match self.wait_until_seq_durable(live, seq).await {
            Ok(true) => Some(Error::from_refusal(live.id, refusal)),
            Ok(false) => None,
            Err(error) => Some(error),
        }
    }

    /// False: the head is void.
    async fn wait_until_seq_durable(&self, live: &LiveRunRef, seq: Seq) -> Result<bool, Error> {
        match live.wait_until_seq_committed(seq).await {
            DecisionDurability::Durable => Ok(true),
            DecisionDurability::Stale => Ok(false),
            DecisionDurability::StoreFailed => {
                let reason = self.store_failure.borrow().clone().unwrap_or_default();
                Err(Error::Store { reason })
            }
        }
    }
}

/// Folds events into the head.
pub(crate) fn fold_events_into_head(
    head: &mut DecidedRunHead,
    events: &[Event],
    now: Timestamp,
) -> Result<(), CommandRefusal> {
    for event in events {
        match (&mut head.run, event) {
            (Some(run), event) => {
                run.apply_event(event)?;
                head.status.apply_event(event, now);
            }
            (run @ None, Event::Submitted(submission)) => {
                *run = Some(Run::from_submission(submission.clone(), now));
                head.status = StatusTime::from_submission_time(now);
            }
            (None, _) => return Err(CommandRefusal::NotSubmitted),
        }
    }
    Ok(())
}

/// The run's row, if it differs from the one written last.
pub(crate) fn take_changed_run_row(head: &mut DecidedRunHead) -> Option<RunRow> {
    let run = head.run.as_ref()?;
    let state = run.state.name();
    let parked = run.parked.is_some();
    let runnable = head.runnable && !state.is_terminal() && !parked;
    let marks = RunRowStatus { state, runnable, parked, status_at: head.status.at };
    if head.row.replace(marks) == Some(marks) {
        return None;
    }
    Some(build_run_row(run, marks))
}

fn is_empty_append(append: &Append) -> bool {
    append.events.is_empty()
        && append.row.is_none()
        && append.timer_changes.is_empty()
        && append.outbox_changes.is_empty()
        && append.hook_changes.is_empty()
        && append.message_claim.is_none()
}

/// The answer to a repetition of the message, as stored with its claim.
fn encode_claim_reply(reply: &CommandReply) -> serde_json::Value {
    match reply {
        CommandReply::Delivered(MessageDeliveryOutcome::Answer {
            question,
            order,
            concurrent,
            primary,
            ..
        }) => {
            serde_json::json!({ "question": question, "order": order, "concurrent": concurrent,
                "primary": primary })
        }
        CommandReply::Done
        | CommandReply::Asked(_)
        | CommandReply::ChildStarted(_)
        | CommandReply::Guided(_)
        | CommandReply::Delivered(MessageDeliveryOutcome::Noted) => serde_json::Value::Null,
    }
}
