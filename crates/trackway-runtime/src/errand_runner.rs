//! Errands: what one run owes to another, carried out after the commit that owes it.
//!
//! An errand stays in the outbox until the append that carries it out removes it. Carrying one out twice
//! changes nothing, so a crash in between only repeats the attempt.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use futures_util::future::join_all;
use tokio::sync::{Mutex, MutexGuard};
use trackway_domain::{CrossRunErrand, RunCommand, RunId, RunSubmission};
use trackway_ports::OutboxId;

use crate::{
    Error, Program,
    append::{self, build_errand_removal},
    command_execution::{CommandAttachments, CommitNotification},
    runtime_core::RuntimeCore,
    step_note_release::UnreleasedNote,
    task_supervisor::TaskSupervisor,
};

/// More locks than errands are usually in flight; two children that share one only wait for each other.
const ERRAND_LOCKS: usize = 64;

/// Errands about one child run one after the other.
#[derive(Debug)]
pub(crate) struct ErrandLocks([Mutex<()>; ERRAND_LOCKS]);

impl Default for ErrandLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl ErrandLocks {
    async fn lock_child_errands(&self, child: RunId) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        child.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % ERRAND_LOCKS as u64).unwrap_or(0);
        self.0[index].lock().await
    }
}

impl RuntimeCore {
    /// Carries errands out in the background. They come from one commit and often go to one run, which can
    /// record them in one append.
    pub(crate) fn run_errands_in_background(self: &Arc<Self>, errands: Vec<(OutboxId, CrossRunErrand)>) {
        let core = self.clone();
        self.tokio.spawn(async move {
            let core = &core;
            join_all(errands.into_iter().map(|(id, errand)| core.run_errand_with_retry(id, errand))).await;
        });
    }

    /// An errand that cannot be carried out now is carried out later.
    pub(crate) async fn run_errand_with_retry(self: &Arc<Self>, id: OutboxId, errand: CrossRunErrand) {
        let mut supervisor = TaskSupervisor::new(self, "errands");
        loop {
            match self.try_run_errand(id, errand.clone()).await {
                (_, Ok(()) | Err(Error::Stopping)) => return,
                (_, Err(error)) if error.is_transient() => {
                    if supervisor.back_off_after_failure(&error).await.is_break() {
                        return;
                    }
                }
                // The row stays, and the next start tries again.
                (child, Err(error)) => {
                    return tracing::warn!(%child, %error, "an errand could not be carried out");
                }
            }
        }
    }

    /// One attempt, and the run that it is about.
    async fn try_run_errand(
        self: &Arc<Self>,
        id: OutboxId,
        errand: CrossRunErrand,
    ) -> (RunId, Result<(), Error>) {
        self.reach_fault_point("effect:errand");
        match errand {
            CrossRunErrand::RunExit { exit, .. } => (exit, self.start_exit_steps_run(id, errand).await),
            CrossRunErrand::ReleaseStepNote { run, op, owner, note, ended_at } => {
                self.release_step_note_in_background(id, UnreleasedNote { run, op, owner, note, ended_at });
                (run, Ok(()))
            }
            CrossRunErrand::CancelChild { child } => (child, self.cancel_child_for_errand(id, child).await),
            CrossRunErrand::NotifyParent { parent, child, outcome } => {
                let command = RunCommand::ReceiveChildOutcome { child, outcome };
                (child, self.notify_run_about_other_run(id, parent, command).await)
            }
            CrossRunErrand::NotifyWaiting { to, run, report_seq, waiting } => (
                run,
                self.notify_run_about_other_run(
                    id,
                    to,
                    RunCommand::UpdateWaitingRun { run, report_seq, waiting },
                )
                .await,
            ),
            CrossRunErrand::DeliverFirstAnswer { to, from, reply_to, answer } => (
                from,
                self.notify_run_about_other_run(
                    id,
                    to,
                    RunCommand::ReceiveFirstAnswer { from, reply_to, answer },
                )
                .await,
            ),
        }
    }

    /// Starts the workflow that a run requested for its end.
    async fn start_exit_steps_run(
        self: &Arc<Self>,
        id: OutboxId,
        errand: CrossRunErrand,
    ) -> Result<(), Error> {
        let CrossRunErrand::RunExit { of, exit, session, caller, workflow, input, call_chain } = errand
        else {
            return Ok(());
        };
        let Some(program) = self.load_program_of_workflow(&workflow).await? else {
            tracing::warn!(run = %of, workflow = workflow.name, "nothing here can run its exit steps");
            return self.remove_errand(of, id).await;
        };
        let deadline = program.info().deadline.map(|span| self.now() + span);
        let submission = RunSubmission::new(exit, session, workflow, caller, input);
        let submission = RunSubmission { deadline, call_chain, ..submission };
        self.create_run_for_errand(id, submission, &*program).await
    }

    /// Creates the run that an errand owes, and removes the errand in the same append.
    async fn create_run_for_errand(
        self: &Arc<Self>,
        id: OutboxId,
        submission: RunSubmission,
        program: &dyn Program,
    ) -> Result<(), Error> {
        let run = submission.run;
        let pins = program.pinned_source().into_iter().collect();
        let wants = CommitNotification::Commit;
        let attached = CommandAttachments {
            settled_errand: Some(id),
            pins,
            notify_on: wants,
            ..CommandAttachments::default()
        };
        match self.create_run(submission, attached).await {
            Ok(_) => Ok(()),
            // An earlier attempt already started it.
            Err(crate::run_submission::CreateRunError::Exists) => self.remove_errand(run, id).await,
            Err(crate::run_submission::CreateRunError::Claimed(_)) => Ok(()),
            Err(crate::run_submission::CreateRunError::Failed(error)) => Err(error),
        }
    }

    async fn cancel_child_for_errand(self: &Arc<Self>, id: OutboxId, child: RunId) -> Result<(), Error> {
        let _turn = self.errand_locks.lock_child_errands(child).await;
        match self.execute_command(child, &RunCommand::Cancel, Some(id)).await {
            Ok(_) => Ok(()),
            // A turn that has ended may have left workflows running, which belong to the same tree.
            Err(Error::Ended { .. }) => {
                self.cancel_running_descendants(child).await?;
                self.remove_errand(child, id).await
            }
            // The run was removed.
            Err(Error::UnknownRun { .. }) => self.remove_errand_without_run(id).await,
            Err(error) => Err(error),
        }
    }

    /// Records in a run the result or the answer of another run.
    async fn notify_run_about_other_run(
        self: &Arc<Self>,
        id: OutboxId,
        run: RunId,
        command: RunCommand,
    ) -> Result<(), Error> {
        // Only the run's program continues with it; no other caller waits for it.
        let attach = || CommandAttachments {
            settled_errand: Some(id),
            notify_on: CommitNotification::Commit,
            waits_for_program: true,
            ..CommandAttachments::default()
        };
        match self.execute_command_with_attachments(run, &command, attach).await {
            Ok(_) => Ok(()),
            Err(Error::UnknownRun { .. }) => self.remove_errand_without_run(id).await,
            Err(error) => Err(error),
        }
    }

    /// Removes an errand that needs nothing else, in the log of a run that exists.
    async fn remove_errand(self: &Arc<Self>, run: RunId, id: OutboxId) -> Result<(), Error> {
        loop {
            let live = self.load_run_for_write(run).await?;
            let permit = Some(self.acquire_append_permit().await?);
            let ordered = {
                let mut head = live.lock_head();
                if head.stale {
                    continue;
                }
                let attached =
                    CommandAttachments { settled_errand: Some(id), permit, ..CommandAttachments::default() };
                self.append_without_events(&live, &mut head, attached)
            };
            if self.wait_for_commit(&live, ordered).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Removes an errand about a run that does not exist: there is no log to record it in.
    pub(crate) async fn remove_errand_without_run(&self, id: OutboxId) -> Result<(), Error> {
        let _permit = self.acquire_append_permit().await?;
        let append = build_errand_removal(id, self.now());
        match append::append_and_wait(&*self.options.journal, append).await {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::from_append_error(&error)),
        }
    }
}
