//! The handle that doors hold.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use trackway_domain::{
    Caller, Command, Event, MessageId, Part, Position, Question, RunId, Seq, SessionId, StateName, Timestamp,
};
use trackway_engine::{RunView, SchemaChecker, Update, input_from_parts, visible_update};
use trackway_ports::{Hook, HookChange, RunFilter, RunPage, RunRow, StatusTimeQuery};

use crate::{
    DeliverRequest, DeliverResponse, Error, NewHook, Options, ProgramRegistry, ReplayVerdict, RunAddress,
    RunWatch, SubmitRequest, SubmitResponse, TaskSupervisor, commit::ExternalAppend, core::Core, hooks,
    lease, live_run::rests, replay::replay_with_timeout, timers,
};

/// A running Trackway engine. Cheap to clone; every door holds one.
#[derive(Debug, Clone)]
pub struct Runtime {
    core: Arc<Core>,
}

impl Runtime {
    /// Starts the engine on the current tokio runtime. Runs that an earlier process left unfinished continue
    /// in the background, unless the options say otherwise.
    pub fn start(options: Options) -> Self {
        let core = Core::new(options);
        tokio::spawn(timers::run_timer_loop(core.clone()));
        if let Some(messenger) = core.options.messenger.clone() {
            tokio::spawn(hooks::run_hook_loop(core.clone(), messenger));
        }
        tokio::spawn(lease::run_lease_loop(core.clone()));
        core.listen_for_wakeups();
        Self { core }
    }

    pub fn registry(&self) -> &ProgramRegistry {
        &self.core.options.registry
    }

    /// The engine's current time.
    pub fn now(&self) -> Timestamp {
        self.core.now()
    }

    /// A fresh id; ids made later sort later.
    pub fn fresh_id(&self) -> uuid::Uuid {
        self.core.options.ids.new_uuid()
    }

    /// Starts a run. Returns when the run is durable; its program continues in the background.
    pub async fn submit(&self, submit: SubmitRequest) -> Result<SubmitResponse, Error> {
        self.core.submit(submit).await
    }

    /// Delivers a message to a run: an answer to its question, or a message for the history.
    pub async fn deliver(&self, deliver: DeliverRequest) -> Result<DeliverResponse, Error> {
        self.core.deliver(deliver, None).await
    }

    /// Runs of the session that wait for an answer; at most two, because a caller only needs to know whether
    /// there is exactly one.
    pub async fn list_waiting_runs(
        &self,
        caller: &Caller,
        session: &SessionId,
        workflow: Option<&str>,
    ) -> Result<Vec<RunId>, Error> {
        let workflow = workflow.map(str::to_owned);
        let journal = &self.core.options.journal;
        Ok(journal.list_waiting_runs(caller.clone(), session.clone(), workflow, 2).await?)
    }

    /// The run that a message of this caller started or was delivered to.
    pub async fn find_run_by_message(
        &self,
        caller: &Caller,
        message: &MessageId,
    ) -> Result<Option<RunId>, Error> {
        let key = self.core.claim_key(caller, message);
        Ok(self.core.options.journal.find_message_claim(key).await?.map(|claim| claim.run))
    }

    /// Cancels a run, and what still runs below it. The returned view shows it canceled; its program stops at
    /// its next await. A run that has ended stays as it is, and the request is refused if nothing below it
    /// runs.
    pub async fn cancel(&self, address: &RunAddress) -> Result<RunView, Error> {
        self.core.open_for_write(address).await?;
        match self.core.execute(address.run, &Command::Cancel, None).await {
            Ok((_, commit)) => {
                // Turns below it that have ended may have left workflows running.
                self.core.cancel_descendants(address.run).await?;
                commit.view.ok_or(Error::Stopping)
            }
            Err(error @ Error::Ended { .. }) => match self.core.cancel_descendants(address.run).await? {
                true => self.view(address).await,
                false => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Takes responsibility for an imported run: it continues from here. A run of this store is left as it
    /// is. An imported log is not trusted, so it is replayed first: a run whose values the program here
    /// cannot read is refused.
    pub async fn adopt(&self, address: &RunAddress) -> Result<RunView, Error> {
        let live = self.core.open_for_write(address).await?;
        let imported = live.head().run.as_ref().and_then(|run| {
            let is_driven = run.imported && !run.submission.guided;
            is_driven.then(|| run.submission.workflow.clone())
        });
        if let Some(workflow) = imported
            && let Some(program) = self.core.load_program(&workflow).await?
        {
            let log = self.core.load_log(address.run).await?;
            let log: Vec<Event> = log.into_iter().map(|stored| stored.event).collect();
            if let ReplayVerdict::Nondeterminism(evidence) = replay_with_timeout(&program, &log).await {
                return Err(Error::CannotAdopt { run: address.run, evidence });
            }
        }
        let (_, commit) = self.core.execute(address.run, &Command::Adopt, None).await?;
        commit.view.ok_or(Error::Stopping)
    }

    /// The question that the run was last resumed from, if it has continued since, and its current state.
    pub async fn last_answered_question(
        &self,
        address: &RunAddress,
    ) -> Result<Option<(Question, StateName)>, Error> {
        let live = self.core.open_for_read(address).await?;
        let head = live.head();
        let Some(run) = &head.run else { return Ok(None) };
        let last = run.last_question.and_then(|last| run.questions.get(&last));
        let answered = last.filter(|asked| asked.answered);
        Ok(answered.map(|asked| (asked.question.clone(), run.state.name())))
    }

    /// Whether these parts satisfy the schema.
    pub fn satisfies_schema(&self, schema: &Value, parts: &[Part]) -> bool {
        let schemas = &self.registry().schemas;
        input_from_parts(schema, parts).is_ok_and(|input| schemas.check(schema, &input).is_empty())
    }

    /// Forks the run: another run begins with everything up to one of this run's events. Without an event, it
    /// forks at the last point where the run could continue. The fork joins `session`, or stays in that of
    /// the original. In another session, a run that has ended is copied whole, so that a conversation can
    /// begin with it.
    pub async fn fork(
        &self,
        address: &RunAddress,
        at: Option<Seq>,
        session: Option<SessionId>,
    ) -> Result<RunView, Error> {
        self.core.fork(address, at, session).await
    }

    /// The definition that the run is pinned to, in its normal form; none if a program runs it.
    pub async fn load_definition(&self, address: &RunAddress) -> Result<Option<String>, Error> {
        let version = self.view(address).await?.submission.workflow.version.clone();
        Ok(self.core.options.journal.find_definition(version).await?)
    }

    /// The run at the newest commit.
    pub async fn view(&self, address: &RunAddress) -> Result<RunView, Error> {
        let live = self.core.open_for_read(address).await?;
        let view = live.committed_state().view.clone();
        view.ok_or(Error::Stopping)
    }

    /// Everything after that position, in order, without gaps or repetitions. A finished run works too.
    pub async fn watch(&self, address: &RunAddress, after: Position) -> Result<RunWatch, Error> {
        Ok(RunWatch::after_position(self.core.open_for_read(address).await?, after))
    }

    /// The run at the first event after `view` that interrupts, ends or parks it, or reports that a run below
    /// it waits for a person; `view` itself if the run is already in such a state.
    pub async fn wait_until_idle(&self, mut view: RunView) -> Result<RunView, Error> {
        self.follow_until_idle(&mut view).await?;
        Ok(view)
    }

    /// The same with a timeout. After the timeout it returns the run as it is then.
    pub async fn wait_until_idle_or_timeout(
        &self,
        mut view: RunView,
        limit: Duration,
    ) -> Result<RunView, Error> {
        let late = self.core.options.clock.sleep_until(self.core.now() + limit);
        tokio::select! {
            biased;
            settled = self.follow_until_idle(&mut view) => settled?,
            () = late => {}
        }
        Ok(view)
    }

    /// Updates the view up to there. Dropping the future leaves it at an earlier event.
    async fn follow_until_idle(&self, view: &mut RunView) -> Result<(), Error> {
        if rests(view) {
            return Ok(());
        }
        let live = self.core.load(view.submission.run).await?;
        let mut watch = RunWatch::after_seq(live, view.seq);
        while let Some(stored) = watch.next_news().await? {
            let rested = matches!(visible_update(&stored.event), Some(Update::Status(status))
                if status.last || status.interrupts || status.parked.is_some());
            view.apply(&stored.event, stored.at, stored.pos);
            if rested || view.waiting_runs().next().is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Runs that match, newest first.
    pub async fn list_runs(
        &self,
        filter: RunFilter,
        before: Option<RunId>,
        limit: usize,
    ) -> Result<Vec<RunRow>, Error> {
        Ok(self.core.options.journal.list_runs(filter, before, limit).await?)
    }

    /// A page of one tenant's runs, ordered by the time of their published status, newest first, and how many
    /// match in all.
    pub async fn runs_by_status_time(&self, query: StatusTimeQuery) -> Result<RunPage, Error> {
        Ok(self.core.options.journal.list_runs_by_status_time(query).await?)
    }

    /// Sets a hook that receives the run's updates from now on. A hook of the same name gets the new target,
    /// and what was not delivered to the old one.
    pub async fn set_hook(&self, address: &RunAddress, hook: NewHook) -> Result<Hook, Error> {
        self.core.set_hook(address, hook).await
    }

    pub async fn find_hook(&self, address: &RunAddress, id: &str) -> Result<Option<Hook>, Error> {
        let _live = self.core.open_for_read(address).await?;
        Ok(self.core.options.journal.find_hook(address.run, id.to_owned()).await?)
    }

    /// The run's hooks in the order in which they were set.
    pub async fn list_hooks(&self, address: &RunAddress) -> Result<Vec<Hook>, Error> {
        let _live = self.core.open_for_read(address).await?;
        Ok(self.core.options.journal.list_hooks(address.run).await?)
    }

    /// Removing a missing hook is no error. An update in delivery may still arrive.
    pub async fn remove_hook(&self, address: &RunAddress, id: &str) -> Result<(), Error> {
        let _live = self.core.open_for_write(address).await?;
        let remove = |_| HookChange::Remove { id: id.to_owned() };
        self.core.change_hook(address.run, remove).await.map(drop)
    }

    /// Another writer has appended to the run's log: watchers see that, and new decisions are made on the
    /// newer log.
    pub(crate) fn on_external_append(&self, appended: ExternalAppend) {
        let core = self.core.clone();
        // Not on this thread: it may be one that hands in an append and holds a run's lock.
        self.core.tokio.spawn(async move { core.on_external_append(appended) });
    }

    pub(crate) fn is_in_memory(&self, run: RunId) -> bool {
        self.core.live_runs.find(run).is_some()
    }

    /// Runs in memory at the moment: those that are active or watched.
    pub fn runs_in_memory(&self) -> usize {
        self.core.live_runs.count()
    }

    /// Why the store cannot write any more, if so.
    pub fn store_failure(&self) -> Option<String> {
        self.core.store_failure.borrow().clone()
    }

    /// Names of the background work that fails at the moment and is retried.
    pub fn failing_tasks(&self) -> Vec<&'static str> {
        self.core.health.failing_tasks()
    }

    /// Resolves when that work has this state: failing or not.
    pub async fn wait_for_task_health(&self, name: &str, fails: bool) {
        let mut failing = self.core.health.subscribe();
        let _ = failing.wait_for(|failing| failing.contains_key(name) == fails).await;
    }

    /// Whether the store can be read at this moment.
    pub async fn check_store(&self) -> Result<(), Error> {
        self.core.options.journal.newest_event_time().await?;
        Ok(())
    }

    /// Background work of that name, in addition to the runtime's own.
    pub fn supervise(&self, name: &'static str) -> TaskSupervisor {
        TaskSupervisor::new(&self.core, name)
    }

    /// Resolves when the store cannot write any more.
    pub async fn wait_for_store_failure(&self) {
        let mut broken = self.core.store_failure.subscribe();
        let _ = broken.wait_for(Option::is_some).await;
    }

    /// Resolves when this process holds its lease, so that it may drive runs, or when it is stopping.
    pub async fn wait_for_lease(&self) {
        // The only error is that the runtime stops.
        let _ = self.core.wait_for_lease().await;
    }

    /// Stops accepting commands, ends every watch, stops the programs at their next await, and closes the
    /// store. What was acknowledged is durable; the rest continues at the next start.
    pub async fn stop(&self) {
        self.core.stopping.send_replace(true);
        self.core.release_lease().await;
        self.core.options.journal.close().await;
    }

    /// Resolves when [`Runtime::stop`] was called.
    pub async fn wait_for_stop(&self) {
        let mut stopping = self.core.stopping.subscribe();
        let _ = stopping.wait_for(|stop| *stop).await;
    }
}
