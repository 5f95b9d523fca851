//! What every part of the runtime shares: the ports, the live runs, the limits, the state of the store.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use trackway_domain::{Caller, Event, MessageId, RunId, Seq, Timestamp, WorkflowRef};
use trackway_engine::{Run, RunView};
use trackway_ports::{MessageClaimKey, StoredEvent, StoredRun};

use crate::{
    Error, Options, Program,
    child_limits::DescendantCounts,
    commit_handling::ExternalAppend,
    errand_runner::ErrandLocks,
    hook_queue::HookDeliveryQueue,
    live_run::{DecisionDurability, LiveRun, LiveRunRef, LiveRunTable, RunRowStatus, TAIL_EVENTS_MAX},
    step_note_release::RELEASES_MAX,
    task_supervisor::BackgroundTaskHealth,
    timers::TimerAlarm,
    worker_lease::ProcessWorker,
};

/// Events read from the store at once while a run is loaded.
const LOAD_PAGE_EVENTS: usize = 1_024;

#[derive(Debug)]
pub(crate) struct RuntimeCore {
    pub(crate) options: Options,
    pub(crate) live_runs: LiveRunTable,
    pub(crate) append_permits: Arc<Semaphore>,
    pub(crate) program_permits: Arc<Semaphore>,
    /// Why the store cannot write any more, if so.
    pub(crate) store_failure: watch::Sender<Option<String>>,
    /// True once the runtime is stopping.
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) alarm: TimerAlarm,
    pub(crate) errand_locks: ErrandLocks,
    /// Releases of steps' notes that may be under way at once.
    pub(crate) release_slots: Semaphore,
    pub(crate) hooks: HookDeliveryQueue,
    pub(crate) descendants: DescendantCounts,
    pub(crate) health: BackgroundTaskHealth,
    pub(crate) worker: ProcessWorker,
    /// Effects run on this tokio runtime, whichever thread announces a commit.
    pub(crate) tokio: tokio::runtime::Handle,
}

impl RuntimeCore {
    pub(crate) fn new(options: Options) -> Arc<Self> {
        Arc::new(Self {
            append_permits: Arc::new(Semaphore::new(options.appends_max)),
            program_permits: Arc::new(Semaphore::new(options.programs_max)),
            release_slots: Semaphore::new(RELEASES_MAX),
            worker: ProcessWorker::new(&*options.ids, options.lease),
            options,
            live_runs: LiveRunTable::default(),
            store_failure: watch::Sender::new(None),
            stopping: watch::Sender::new(false),
            alarm: TimerAlarm::default(),
            errand_locks: ErrandLocks::default(),
            hooks: HookDeliveryQueue::default(),
            descendants: DescendantCounts::default(),
            health: BackgroundTaskHealth::default(),
            tokio: tokio::runtime::Handle::current(),
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// The key that recognises a repeated message.
    pub(crate) fn message_claim_key(&self, caller: &Caller, message: &MessageId) -> MessageClaimKey {
        let message = if self.options.deduplicate_messages {
            message.clone()
        } else {
            MessageId::from_uuid(self.options.ids.new_uuid())
        };
        MessageClaimKey { caller: caller.clone(), message }
    }

    /// The program that a run began with: a registered one, or one from a definition that the store keeps.
    pub(crate) async fn load_program_of_workflow(
        &self,
        workflow: &WorkflowRef,
    ) -> Result<Option<Arc<dyn Program>>, Error> {
        let registry = &self.options.registry;
        if let Some(program) = registry.find_program_version(workflow) {
            return Ok(Some(program));
        }
        let Some(body) = self.options.journal.find_pinned_definition(workflow.version.clone()).await? else {
            return Ok(None);
        };
        registry.register_pinned_program(workflow, &body, &self.options.tools);
        Ok(registry.find_program_version(workflow))
    }

    /// Returns at that moment; never if there is none.
    pub(crate) async fn sleep_until(&self, moment: Option<Timestamp>) {
        match moment {
            Some(moment) => self.options.clock.sleep_until(moment).await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn reach_fault_point(&self, point: &'static str) {
        self.options.faults.reach_fault_point(point);
    }

    /// A permit to have one append in flight.
    pub(crate) async fn acquire_append_permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        if *self.stopping.borrow() {
            return Err(Error::Stopping);
        }
        // Never closed, so acquiring fails only if that changes.
        self.append_permits.clone().acquire_owned().await.map_err(|_| Error::Stopping)
    }

    /// The same, if a permit is free now.
    pub(crate) fn try_acquire_append_permit(&self) -> Option<OwnedSemaphorePermit> {
        if self.is_stopping() { None } else { self.append_permits.clone().try_acquire_owned().ok() }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// The run in memory, to decide something about it.
    pub(crate) async fn load_run_for_write(self: &Arc<Self>, id: RunId) -> Result<LiveRunRef, Error> {
        let live = self.load_run_for_read(id).await?;
        let damaged = live.lock_head().damaged.clone();
        match damaged {
            None => Ok(live),
            Some(reason) => Err(Error::Damaged { run: id, reason }),
        }
    }

    /// The run in memory, read from the store if it is not there. A damaged run is read up to the damage.
    pub(crate) async fn load_run_for_read(self: &Arc<Self>, id: RunId) -> Result<LiveRunRef, Error> {
        loop {
            let live = self.live_runs.get_or_create_live_run(self, id);
            self.ensure_run_loaded(&live).await?;
            // A run that is being created does not exist before its first commit.
            let creating = *live.committed_seq.borrow() == 0;
            if creating && live.wait_until_seq_committed(1).await == DecisionDurability::StoreFailed {
                return Err(Error::Store { reason: self.store_failure.borrow().clone().unwrap_or_default() });
            }
            if !live.lock_head().stale {
                return Ok(live);
            }
            self.live_runs.remove_stale_run(&live);
        }
    }

    /// Reads the run once, on its own task. A caller may stop polling in the middle, as a stream does when
    /// its client reads nothing, and must not block the other users of the run.
    async fn ensure_run_loaded(self: &Arc<Self>, live: &LiveRunRef) -> Result<(), Error> {
        if live.loaded.initialized() {
            return Ok(());
        }
        let (core, live) = (self.clone(), live.clone());
        let reading = self.tokio.spawn(async move {
            live.loaded.get_or_try_init(|| core.load_run_from_store(&live)).await.copied()
        });
        reading.await.unwrap_or(Err(Error::Stopping))
    }

    /// The run's log has grown without its head here. If the head is as old as the append, the events are
    /// folded into it; otherwise it is void, and the next user loads the run again.
    pub(crate) fn on_external_append(&self, appended: ExternalAppend) {
        self.publish_wakeup(appended.run, appended.last);
        if let Some(live) = self.live_runs.find_live_run(appended.run)
            && !appended.fold_into_live_run(&live)
        {
            self.invalidate_live_run(&live);
        }
        self.hooks.signal_hook_due();
    }

    /// Nothing may be decided on this head any more, and its program stops. The next user loads the run
    /// again. True if a program was driven on it.
    pub(crate) fn invalidate_live_run(&self, live: &LiveRun) -> bool {
        let program = {
            let mut head = live.lock_head();
            head.stale = true;
            std::mem::take(&mut head.program).upgrade()
        };
        self.live_runs.remove_stale_run(live);
        // A caller that waits on this head must look again.
        live.committed_seq.send_modify(|_| {});
        live.news.notify_waiters();
        live.notify_program_idle();
        if let Some(program) = &program {
            program.stop_program();
        }
        program.is_some()
    }

    /// Folds the run's events into its head and its view.
    async fn load_run_from_store(&self, live: &LiveRunRef) -> Result<(), Error> {
        let stored = self.options.journal.load_stored_run(live.id, LOAD_PAGE_EVENTS).await?;
        let mut folded: Option<(Run, RunView)> = None;
        let damaged = match self.fold_stored_run(live.id, &stored, &mut folded).await {
            Ok(()) => None,
            Err(Error::Damaged { reason, .. }) if folded.is_some() => Some(reason),
            Err(error) => return Err(error),
        };
        let (run, mut view) = folded.ok_or_else(|| Error::UnknownRun { run: live.id.to_string() })?;
        if let Some(reason) = &damaged {
            tracing::warn!(run = %live.id, reason, "the log of a run is damaged; it can only be read");
            view.mark_log_damaged(reason.clone());
        }
        // The stored row may say that the run only waits, but it is always safe to treat it as runnable.
        // Whether an answer can be accepted at once depends on it. A guided run has no program.
        let runnable = match run.state.open_question() {
            _ if run.submission.guided => false,
            None => true,
            Some(_) => stored.row?.is_none_or(|row| row.runnable),
        };
        let lease = if run.submission.guided { None } else { stored.lease? };
        live.committed_seq.send_replace(run.seq);
        {
            let mut head = live.lock_head();
            head.lease.update_driver_from_store(lease.unwrap_or_default());
            head.runnable = runnable;
            head.status = view.status_time();
            head.row = Some(RunRowStatus {
                state: run.state.name(),
                runnable: head.runnable && !run.state.name().is_terminal() && run.parked.is_none(),
                parked: run.parked.is_some(),
                status_at: head.status.at,
            });
            head.run = Some(run);
            head.damaged = damaged;
        }
        let mut shown = live.lock_committed_state();
        shown.rested = view.seq;
        shown.view = Some(view);
        // Keeps a short log in memory for watchers and drivers of the run.
        if stored.is_whole && stored.events.len() <= TAIL_EVENTS_MAX {
            shown.tail = stored.events.into();
        }
        Ok(())
    }

    /// The run at that event.
    pub(crate) async fn load_view_at_seq(&self, id: RunId, seq: Seq) -> Result<RunView, Error> {
        let mut folded: Option<(Run, RunView)> = None;
        let mut after = 0;
        while after < seq {
            let page = self.options.journal.list_events(id, after, LOAD_PAGE_EVENTS).await?;
            let Some(last) = page.last() else {
                let reason = format!("event {} is missing", after + 1);
                return Err(Error::Damaged { run: id, reason });
            };
            after = last.seq;
            for stored in page.iter().filter(|stored| stored.seq <= seq) {
                fold_stored_event(&mut folded, stored, id)?;
            }
        }
        let view = folded.map(|(_, view)| view);
        view.ok_or_else(|| Error::UnknownRun { run: id.to_string() })
    }

    async fn fold_stored_run(
        &self,
        id: RunId,
        stored: &StoredRun,
        folded: &mut Option<(Run, RunView)>,
    ) -> Result<(), Error> {
        stored.events.iter().try_for_each(|stored| fold_stored_event(folded, stored, id))?;
        if stored.is_whole {
            return Ok(());
        }
        let mut after = stored.events.last().map_or(0, |stored| stored.seq);
        loop {
            let page = self.options.journal.list_events(id, after, LOAD_PAGE_EVENTS).await?;
            // Only an empty page is the end: a short one may stop before a damaged event.
            let Some(last) = page.last() else { return Ok(()) };
            after = last.seq;
            page.iter().try_for_each(|stored| fold_stored_event(folded, stored, id))?;
        }
    }
}

fn fold_stored_event(
    folded: &mut Option<(Run, RunView)>,
    stored: &StoredEvent,
    id: RunId,
) -> Result<(), Error> {
    match folded {
        Some((run, view)) => {
            run.apply_event(&stored.event)
                .map_err(|illegal| Error::Damaged { run: id, reason: illegal.to_string() })?;
            view.apply_event(&stored.event, stored.at, stored.pos);
        }
        None => {
            let Event::Submitted(submission) = &stored.event else {
                let reason = "its first event is not `submitted`".to_owned();
                return Err(Error::Damaged { run: id, reason });
            };
            let view = RunView::from_submission(Arc::new((**submission).clone()), stored.at, stored.pos);
            *folded = Some((Run::from_submission(submission.clone(), stored.at), view));
        }
    }
    Ok(())
}
