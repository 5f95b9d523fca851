//! Errands: what one run owes to another, carried out after the commit that owes it.
//!
//! An errand stands in the outbox until the append that carries it out strikes it. Carrying one out
//! twice changes nothing, so a crash in between only repeats the attempt.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use futures_util::future::join_all;
use tokio::sync::{Mutex, MutexGuard};
use trackway_domain::{Command, Errand, RunId, Submission};
use trackway_ports::OutboxId;

use crate::{
    Error, Program,
    append::{self, settle_errand},
    command::{Attached, Wants},
    core::Core,
    supervise::Supervisor,
};

/// More locks than errands are usually under way; two children sharing one only wait for each other.
const ERRAND_LOCKS: usize = 64;

/// Errands about one child are done one after the other.
#[derive(Debug)]
pub(crate) struct ErrandLocks([Mutex<()>; ERRAND_LOCKS]);

impl Default for ErrandLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl ErrandLocks {
    async fn of(&self, child: RunId) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        child.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % ERRAND_LOCKS as u64).unwrap_or(0);
        self.0[index].lock().await
    }
}

impl Core {
    /// Carries errands out in the background. They come from one commit, and often go to one run, which
    /// can take them in one append.
    pub(crate) fn send_errands(self: &Arc<Self>, errands: Vec<(OutboxId, Errand)>) {
        let core = self.clone();
        self.tokio.spawn(async move {
            let core = &core;
            join_all(errands.into_iter().map(|(id, errand)| core.do_errand(id, errand))).await;
        });
    }

    /// An errand that cannot be carried out now is carried out later.
    pub(crate) async fn do_errand(self: &Arc<Self>, id: OutboxId, errand: Errand) {
        let mut supervisor = Supervisor::new(self, "errands");
        loop {
            match self.try_errand(id, errand.clone()).await {
                (_, Ok(()) | Err(Error::Stopping)) => return,
                (_, Err(error)) if error.is_transient() => {
                    if supervisor.failed(&error).await.is_break() {
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
    async fn try_errand(
        self: &Arc<Self>,
        id: OutboxId,
        errand: Errand,
    ) -> (RunId, Result<(), Error>) {
        self.reach("effect:errand");
        match errand {
            Errand::RunExit { exit, .. } => (exit, self.run_exit(id, errand).await),
            Errand::CancelChild { child } => (child, self.cancel_child(id, child).await),
            Errand::TellParent { parent, child, outcome } => {
                let command = Command::EndChild { child, outcome };
                (child, self.tell(id, parent, command).await)
            }
            Errand::TellWaiting { to, run, number, waits } => {
                (run, self.tell(id, to, Command::TakeWaiting { run, number, waits }).await)
            }
            Errand::TellAnswer { to, from, reply_to, answer } => {
                (from, self.tell(id, to, Command::TakeAnswer { from, reply_to, answer }).await)
            }
        }
    }

    /// Starts what a run wanted to have run at its end.
    async fn run_exit(self: &Arc<Self>, id: OutboxId, errand: Errand) -> Result<(), Error> {
        let Errand::RunExit { of, exit, session, caller, workflow, input } = errand else {
            return Ok(());
        };
        let Some(program) = self.program(&workflow).await? else {
            tracing::warn!(run = %of, workflow = workflow.name, "nothing here can run its exit steps");
            return self.settle(of, id).await;
        };
        let deadline = program.info().deadline.map(|span| self.now() + span);
        let submission = Submission::new(exit, session, workflow, caller, input);
        let submission = Submission { deadline, ..submission };
        self.create_owed(id, submission, &*program).await
    }

    /// Creates a run that an errand owes, and strikes the errand with it.
    async fn create_owed(
        self: &Arc<Self>,
        id: OutboxId,
        submission: Submission,
        program: &dyn Program,
    ) -> Result<(), Error> {
        let run = submission.run;
        let pins = program.pin().into_iter().collect();
        let wants = Wants::Commit;
        let attached = Attached { settles: Some(id), pins, wants, ..Attached::default() };
        match self.create(submission, attached).await {
            Ok(_) => Ok(()),
            // An earlier attempt got as far as the start.
            Err(crate::submit::NotCreated::Exists) => self.settle(run, id).await,
            Err(crate::submit::NotCreated::Claimed(_)) => Ok(()),
            Err(crate::submit::NotCreated::Failed(error)) => Err(error),
        }
    }

    async fn cancel_child(self: &Arc<Self>, id: OutboxId, child: RunId) -> Result<(), Error> {
        let _turn = self.errands.of(child).await;
        match self.execute(child, &Command::Cancel, Some(id)).await {
            Ok(_) => Ok(()),
            // A turn that is over may have left workflows behind, which belong to the same tree.
            Err(Error::Ended { .. }) => {
                self.cancel_below(child).await?;
                self.settle(child, id).await
            }
            // It was removed.
            Err(Error::UnknownRun { .. }) => self.strike(id).await,
            Err(error) => Err(error),
        }
    }

    /// Tells a run what another one came to or said.
    async fn tell(
        self: &Arc<Self>,
        id: OutboxId,
        run: RunId,
        command: Command,
    ) -> Result<(), Error> {
        // Its program goes on by it, and nobody else waits for it.
        let attach = || Attached {
            settles: Some(id),
            wants: Wants::Commit,
            with_program: true,
            ..Attached::default()
        };
        match self.execute_with(run, &command, attach).await {
            Ok(_) => Ok(()),
            Err(Error::UnknownRun { .. }) => self.strike(id).await,
            Err(error) => Err(error),
        }
    }

    /// Strikes an errand that needs nothing else, in the log of a run that exists.
    async fn settle(self: &Arc<Self>, run: RunId, id: OutboxId) -> Result<(), Error> {
        loop {
            let live = self.load(run).await?;
            let permit = Some(self.permit().await?);
            let ordered = {
                let mut head = live.head();
                if head.void {
                    continue;
                }
                let attached = Attached { settles: Some(id), permit, ..Attached::default() };
                self.order_rows(&live, &mut head, attached)
            };
            if self.durable(&live, ordered).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Strikes an errand about a run that does not exist: there is no log to do it in.
    async fn strike(&self, id: OutboxId) -> Result<(), Error> {
        let _permit = self.permit().await?;
        let append = settle_errand(id, self.now());
        match append::commit(&*self.options.journal, append).await {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::append(&error)),
        }
    }
}
