//! The handle that doors hold.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use trackway_domain::{
    Caller, Event, MessageId, Part, Position, Question, RunCommand, RunId, Seq, SessionId, StateName,
    Timestamp,
};
use trackway_engine::{RunView, SchemaChecker, VisibleUpdate, input_from_parts, visible_update};
use trackway_ports::{Hook, HookChange, RunFilter, RunPage, RunRow, StatusTimeQuery};

use crate::{
    DeliverMessageRequest, DeliverMessageResponse, Error, NewHook, Options, ProgramRegistry, ReplayVerdict,
    RunAddress, RunWatch, SubmitRunRequest, SubmitRunResponse, TaskSupervisor,
    commit_handling::ExternalAppend, hook_queue, live_run::is_run_idle, replay_check::replay_with_timeout,
    runtime_core::RuntimeCore, timers, worker_lease,
};

/// A running Trackway engine. Cheap to clone; every door holds one.
#[derive(Debug, Clone)]
pub struct Runtime {
    core: Arc<RuntimeCore>,
}

impl Runtime {
    /// Starts the engine on the current tokio runtime. Runs that an earlier process left unfinished continue
    /// in the background, unless the options say otherwise.
    pub fn start(options: Options) -> Self {
        let core = RuntimeCore::new(options);
        tokio::spawn(timers::run_timer_loop(core.clone()));
        if let Some(messenger) = core.options.messenger.clone() {
            tokio::spawn(hook_queue::run_hook_delivery_loop(core.clone(), messenger));
        }
        tokio::spawn(worker_lease::run_lease_renewal_loop(core.clone()));
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
    pub fn new_uuid(&self) -> uuid::Uuid {
        self.core.options.ids.new_uuid()
    }

    /// Starts a run. Returns when the run is durable; its program continues in the background.
    pub async fn submit_run(&self, submit: SubmitRunRequest) -> Result<SubmitRunResponse, Error> {
        self.core.submit_run(submit).await
    }

    /// Delivers a message to a run: an answer to its question, or a message for the history.
    pub async fn deliver_message(
        &self,
        deliver: DeliverMessageRequest,
    ) -> Result<DeliverMessageResponse, Error> {
        self.core.deliver_message(deliver, None).await
    }

    /// Runs of the session that wait for an answer; at most two, because a caller only needs to know whether
    /// there is exactly one.
    pub async fn list_waiting_runs_of_session(
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
        let key = self.core.message_claim_key(caller, message);
        Ok(self.core.options.journal.find_message_claim(key).await?.map(|claim| claim.run))
    }

    /// Cancels a run, and what still runs below it. The returned view shows it canceled; its program stops at
    /// its next await. A run that has ended stays as it is, and the request is refused if nothing below it
    /// runs.
    pub async fn cancel_run(&self, address: &RunAddress) -> Result<RunView, Error> {
        self.core.open_run_for_write(address).await?;
        match self.core.execute_command(address.run, &RunCommand::Cancel, None).await {
            Ok((_, commit)) => {
                // Turns below it that have ended may have left workflows running.
                self.core.cancel_running_descendants(address.run).await?;
                commit.view.ok_or(Error::Stopping)
            }
            Err(error @ Error::Ended { .. }) => {
                match self.core.cancel_running_descendants(address.run).await? {
                    true => self.current_run_view(address).await,
                    false => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Takes responsibility for an imported run: it continues from here. A run of this store is left as it
    /// is. An imported log is not trusted, so it is replayed first: a run whose values the program here
    /// cannot read is refused.
    pub async fn adopt_imported_run(&self, address: &RunAddress) -> Result<RunView, Error> {
        let live = self.core.open_run_for_write(address).await?;
        let imported = live.lock_head().run.as_ref().and_then(|run| {
            let is_driven = run.imported && !run.submission.guided;
            is_driven.then(|| run.submission.workflow.clone())
        });
        if let Some(workflow) = imported
            && let Some(program) = self.core.load_program_of_workflow(&workflow).await?
        {
            let log = self.core.load_run_log(address.run).await?;
            let log: Vec<Event> = log.into_iter().map(|stored| stored.event).collect();
            if let ReplayVerdict::Nondeterminism(evidence) = replay_with_timeout(&program, &log).await {
                return Err(Error::CannotAdopt { run: address.run, evidence });
            }
        }
        let (_, commit) = self.core.execute_command(address.run, &RunCommand::Adopt, None).await?;
        commit.view.ok_or(Error::Stopping)
    }

    /// The question that the run was last resumed from, if it has continued since, and its current state.
    pub async fn last_answered_question(
        &self,
        address: &RunAddress,
    ) -> Result<Option<(Question, StateName)>, Error> {
        let live = self.core.open_run_for_read(address).await?;
        let head = live.lock_head();
        let Some(run) = &head.run else { return Ok(None) };
        let last = run.last_question.and_then(|last| run.questions.get(&last));
        let answered = last.filter(|asked| asked.answered);
        Ok(answered.map(|asked| (asked.question.clone(), run.state.name())))
    }

    /// Whether these parts satisfy the schema.
    pub fn parts_satisfy_schema(&self, schema: &Value, parts: &[Part]) -> bool {
        let schemas = &self.registry().schemas;
        input_from_parts(schema, parts)
            .is_ok_and(|input| schemas.check_against_schema(schema, &input).is_empty())
    }

    /// Forks the run: another run begins with everything up to one of this run's events. Without an event, it
    /// forks at the last point where the run could continue. The fork joins `session`, or stays in that of
    /// the original. In another session, a run that has ended is copied whole, so that a conversation can
    /// begin with it.
    pub async fn fork_run(
        &self,
        address: &RunAddress,
        after_seq: Option<Seq>,
        session: Option<SessionId>,
    ) -> Result<RunView, Error> {
        self.core.fork_run(address, after_seq, session).await
    }

    /// The definition that the run is pinned to, in its normal form; none if a program runs it.
    pub async fn load_run_definition(&self, address: &RunAddress) -> Result<Option<String>, Error> {
        let version = self.current_run_view(address).await?.submission.workflow.version.clone();
        Ok(self.core.options.journal.find_pinned_definition(version).await?)
    }

    /// The run at the newest commit.
    pub async fn current_run_view(&self, address: &RunAddress) -> Result<RunView, Error> {
        let live = self.core.open_run_for_read(address).await?;
        let view = live.lock_committed_state().view.clone();
        view.ok_or(Error::Stopping)
    }

    /// Everything after that position, in order, without gaps or repetitions. A finished run works too.
    pub async fn watch_run(&self, address: &RunAddress, after: Position) -> Result<RunWatch, Error> {
        Ok(RunWatch::watch_after_position(self.core.open_run_for_read(address).await?, after))
    }

    /// The run at the first event after `view` that interrupts, ends or parks it, or reports that a run below
    /// it waits for a person; `view` itself if the run is already in such a state.
    pub async fn wait_until_run_idle(&self, mut view: RunView) -> Result<RunView, Error> {
        self.update_view_until_idle(&mut view).await?;
        Ok(view)
    }

    /// The same with a timeout. After the timeout it returns the run as it is then.
    pub async fn wait_until_run_idle_or_timeout(
        &self,
        mut view: RunView,
        limit: Duration,
    ) -> Result<RunView, Error> {
        let late = self.core.options.clock.sleep_until(self.core.now() + limit);
        tokio::select! {
            biased;
            settled = self.update_view_until_idle(&mut view) => settled?,
            () = late => {}
        }
        Ok(view)
    }

    /// Updates the view up to there. Dropping the future leaves it at an earlier event.
    async fn update_view_until_idle(&self, view: &mut RunView) -> Result<(), Error> {
        if is_run_idle(view) {
            return Ok(());
        }
        let live = self.core.load_run_for_write(view.submission.run).await?;
        let mut watch = RunWatch::watch_after_seq(live, view.seq);
        while let Some(stored) = watch.next_event_once_idle().await? {
            let rested = matches!(visible_update(&stored.event), Some(VisibleUpdate::Status(status))
                if status.last || status.interrupts || status.parked.is_some());
            view.apply_event(&stored.event, stored.at, stored.pos);
            if rested || view.waiting_descendant_runs().next().is_some() {
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
    pub async fn list_runs_by_status_time(&self, query: StatusTimeQuery) -> Result<RunPage, Error> {
        Ok(self.core.options.journal.list_runs_by_status_time(query).await?)
    }

    /// Sets a hook that receives the run's updates from now on. A hook of the same name gets the new target,
    /// and what was not delivered to the old one.
    pub async fn set_hook(&self, address: &RunAddress, hook: NewHook) -> Result<Hook, Error> {
        self.core.set_hook(address, hook).await
    }

    pub async fn find_hook(&self, address: &RunAddress, id: &str) -> Result<Option<Hook>, Error> {
        let _live = self.core.open_run_for_read(address).await?;
        Ok(self.core.options.journal.find_hook(address.run, id.to_owned()).await?)
    }

    /// The run's hooks in the order in which they were set.
    pub async fn list_hooks(&self, address: &RunAddress) -> Result<Vec<Hook>, Error> {
        let _live = self.core.open_run_for_read(address).await?;
        Ok(self.core.options.journal.list_hooks(address.run).await?)
    }

    /// Removing a missing hook is no error. An update in delivery may still arrive.
    pub async fn remove_hook(&self, address: &RunAddress, id: &str) -> Result<(), Error> {
        let _live = self.core.open_run_for_write(address).await?;
        let remove = |_| HookChange::Remove { id: id.to_owned() };
        self.core.append_hook_change(address.run, remove).await.map(drop)
    }

    /// Another writer has appended to the run's log: watchers see that, and new decisions are made on the
    /// newer log.
    ///
    /// Calls `folded` when the run in memory has the append, and at once if there is none.
    pub(crate) fn on_external_append(&self, append: ExternalAppend, folded: impl FnOnce() + Send + 'static) {
        let core = self.core.clone();
        // Not on this thread: it may be one that hands in an append and holds a run's lock.
        if append.events.is_some() {
            self.core.tokio.spawn(async move {
                core.on_external_append(append);
                folded();
            });
        } else {
            folded();
            self.core.tokio.spawn(async move { core.on_external_append(append) });
        }
    }

    pub(crate) fn is_run_in_memory(&self, run: RunId) -> bool {
        self.core.live_runs.find_live_run(run).is_some()
    }

    /// Runs in memory at the moment: those that are active or watched.
    pub fn count_runs_in_memory(&self) -> usize {
        self.core.live_runs.live_run_count()
    }

    /// Why the store cannot write any more, if so.
    pub fn store_failure_reason(&self) -> Option<String> {
        self.core.store_failure.borrow().clone()
    }

    /// Names of the background work that fails at the moment and is retried.
    pub fn failing_background_tasks(&self) -> Vec<&'static str> {
        self.core.health.failing_background_tasks()
    }

    /// Resolves when that work has this state: failing or not.
    pub async fn wait_for_task_health(&self, name: &str, is_failing: bool) {
        let mut failing = self.core.health.subscribe_to_failing_tasks();
        let _ = failing.wait_for(|failing| failing.contains_key(name) == is_failing).await;
    }

    /// Whether the store can be read at this moment.
    pub async fn check_store_readable(&self) -> Result<(), Error> {
        self.core.options.journal.newest_event_time().await?;
        Ok(())
    }

    /// Background work of that name, in addition to the runtime's own.
    pub fn supervise_background_task(&self, name: &'static str) -> TaskSupervisor {
        TaskSupervisor::new(&self.core, name)
    }

    /// Resolves when the store cannot write any more.
    pub async fn wait_for_store_failure(&self) {
        let mut broken = self.core.store_failure.subscribe();
        let _ = broken.wait_for(Option::is_some).await;
    }

    /// Resolves when this process holds its lease, so that it may drive runs, or when it is stopping.
    pub async fn wait_for_worker_lease(&self) {
        // The only error is that the runtime stops.
        let _ = self.core.wait_for_worker_lease().await;
    }

    /// Stops accepting commands, ends every watch, stops the programs at their next await, and closes the
    /// store. What was acknowledged is durable; the rest continues at the next start.
    pub async fn stop_runtime(&self) {
        self.core.stopping.send_replace(true);
        self.core.release_worker_lease().await;
        self.core.options.journal.close_store().await;
    }

    /// Resolves when [`Runtime::stop_runtime`] was called.
    pub async fn wait_for_stop(&self) {
        let mut stopping = self.core.stopping.subscribe();
        let _ = stopping.wait_for(|stop| *stop).await;
    }
}
