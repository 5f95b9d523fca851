//! What every part of the runtime shares: the ports, the live runs, the bounds, the state of the store.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use trackway_domain::{Caller, Event, MessageId, RunId, Seq, Timestamp, WorkflowRef};
use trackway_engine::{Run, RunView};
use trackway_ports::{ClaimKey, Stored, StoredRun};

use crate::{
    Error, Options, Program,
    ancestry::Descendants,
    commit::Appended,
    errand::ErrandLocks,
    hooks::Hooks,
    lease::Worker,
    live::{Durable, Live, LiveRef, Lives, RowMarks, TAIL_EVENTS_MAX},
    supervise::Health,
    timers::Alarm,
};

/// Events read from the store at once while a run is loaded.
const LOAD_PAGE_EVENTS: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) options: Options,
    pub(crate) lives: Lives,
    pub(crate) appends: Arc<Semaphore>,
    pub(crate) programs: Arc<Semaphore>,
    /// Why the store cannot write any more.
    pub(crate) broken: watch::Sender<Option<String>>,
    /// True once the runtime is stopping.
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) alarm: Alarm,
    pub(crate) errands: ErrandLocks,
    pub(crate) hooks: Hooks,
    pub(crate) descendants: Descendants,
    pub(crate) health: Health,
    pub(crate) worker: Worker,
    /// Effects are carried out on this tokio runtime, whatever thread a commit is announced on.
    pub(crate) tokio: tokio::runtime::Handle,
}

impl Core {
    pub(crate) fn new(options: Options) -> Arc<Self> {
        Arc::new(Self {
            appends: Arc::new(Semaphore::new(options.appends_max)),
            programs: Arc::new(Semaphore::new(options.programs_max)),
            worker: Worker::new(&*options.ids, options.lease),
            options,
            lives: Lives::default(),
            broken: watch::Sender::new(None),
            stopping: watch::Sender::new(false),
            alarm: Alarm::default(),
            errands: ErrandLocks::default(),
            hooks: Hooks::default(),
            descendants: Descendants::default(),
            health: Health::default(),
            tokio: tokio::runtime::Handle::current(),
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// What a message is recognised by.
    pub(crate) fn claim_key(&self, caller: &Caller, message: &MessageId) -> ClaimKey {
        let message = if self.options.recognise_messages {
            message.clone()
        } else {
            MessageId::made(self.options.ids.uuid())
        };
        ClaimKey { caller: caller.clone(), message }
    }

    /// The program that a run began with: a registered one, or a definition that the store keeps.
    pub(crate) async fn program(
        &self,
        workflow: &WorkflowRef,
    ) -> Result<Option<Arc<dyn Program>>, Error> {
        let registry = &self.options.registry;
        if let Some(program) = registry.pinned(workflow) {
            return Ok(Some(program));
        }
        let Some(body) = self.options.journal.pinned(workflow.version.clone()).await? else {
            return Ok(None);
        };
        registry.keep_pinned(workflow, &body, &self.options.tools);
        Ok(registry.pinned(workflow))
    }

    /// Returns at that moment, if any.
    pub(crate) async fn sleep_until(&self, moment: Option<Timestamp>) {
        match moment {
            Some(moment) => self.options.clock.sleep_until(moment).await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn reach(&self, point: &'static str) {
        self.options.faults.reach(point);
    }

    /// Leave to have one append under way.
    pub(crate) async fn permit(&self) -> Result<OwnedSemaphorePermit, Error> {
        if *self.stopping.borrow() {
            return Err(Error::Stopping);
        }
        // Never closed, so acquiring fails only if that changes.
        self.appends.clone().acquire_owned().await.map_err(|_| Error::Stopping)
    }

    /// The same, where nobody has to be waited for.
    pub(crate) fn permit_now(&self) -> Option<OwnedSemaphorePermit> {
        if self.is_stopping() { None } else { self.appends.clone().try_acquire_owned().ok() }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// The run in memory, to decide something about it.
    pub(crate) async fn load(self: &Arc<Self>, id: RunId) -> Result<LiveRef, Error> {
        let live = self.load_to_read(id).await?;
        let damaged = live.head().damaged.clone();
        match damaged {
            None => Ok(live),
            Some(reason) => Err(Error::Damaged { run: id, reason }),
        }
    }

    /// The run in memory, read from the store where it is not; a damaged one up to the damage.
    pub(crate) async fn load_to_read(self: &Arc<Self>, id: RunId) -> Result<LiveRef, Error> {
        loop {
            let live = self.lives.enter(self, id);
            self.ensure_loaded(&live).await?;
            // A run that is being created is not there before its first commit.
            let creating = *live.committed.borrow() == 0;
            if creating && live.until_committed(1).await == Durable::Broken {
                return Err(Error::Store {
                    reason: self.broken.borrow().clone().unwrap_or_default(),
                });
            }
            if !live.head().void {
                return Ok(live);
            }
            self.lives.forget(&live);
        }
    }

    /// Reads the run once. On a task of its own: whoever asked for it may stop polling in the middle, as a
    /// stream does whose client reads nothing, and must not keep the others from the run.
    async fn ensure_loaded(self: &Arc<Self>, live: &LiveRef) -> Result<(), Error> {
        if live.loaded.initialized() {
            return Ok(());
        }
        let (core, live) = (self.clone(), live.clone());
        let reading = self
            .tokio
            .spawn(async move { live.loaded.get_or_try_init(|| core.read(&live)).await.copied() });
        reading.await.unwrap_or(Err(Error::Stopping))
    }

    /// The run's log has gone on without its head here. Where that is as old as the append, it takes the
    /// events in; else it is void, and the next user loads the run again.
    pub(crate) fn on_append(&self, appended: Appended) {
        self.publish(appended.run, appended.last);
        if let Some(live) = self.lives.find(appended.run)
            && !appended.fold_into(&live)
        {
            self.invalidate(&live);
        }
        self.hooks.ring();
    }

    /// Nothing may be decided on this head any more, and its program stops; the next user loads the run
    /// again. True where a program was at work on it.
    pub(crate) fn invalidate(&self, live: &Live) -> bool {
        let program = {
            let mut head = live.head();
            head.void = true;
            std::mem::take(&mut head.program).upgrade()
        };
        self.lives.forget(live);
        // Whoever waits on this head must look again.
        live.committed.send_modify(|_| {});
        live.news.notify_waiters();
        live.came_to_rest();
        if let Some(program) = &program {
            program.stop();
        }
        program.is_some()
    }

    /// Folds the run's events into its head and its view.
    async fn read(&self, live: &LiveRef) -> Result<(), Error> {
        let stored = self.options.journal.stored_run(live.id, LOAD_PAGE_EVENTS).await?;
        let mut folded: Option<(Run, RunView)> = None;
        let damaged = match self.fold_all(live.id, &stored, &mut folded).await {
            Ok(()) => None,
            Err(Error::Damaged { reason, .. }) if folded.is_some() => Some(reason),
            Err(error) => return Err(error),
        };
        let (run, mut view) =
            folded.ok_or_else(|| Error::UnknownRun { run: live.id.to_string() })?;
        if let Some(reason) = &damaged {
            tracing::warn!(run = %live.id, reason, "the log of a run is damaged; it can only be read");
            view.damage(reason.clone());
        }
        // The stored row may say that the run only waits; taking it for runnable is always safe. Whether an
        // answer can be taken at once depends on it. A guided run has no program.
        let runnable = match run.state.question() {
            _ if run.submission.guided => false,
            None => true,
            Some(_) => stored.row?.is_none_or(|row| row.runnable),
        };
        let lease = if run.submission.guided { None } else { stored.lease? };
        live.committed.send_replace(run.seq);
        {
            let mut head = live.head();
            head.lease.set(lease.unwrap_or_default());
            head.runnable = runnable;
            head.status = view.status_time();
            head.row = Some(RowMarks {
                state: run.state.name(),
                runnable: head.runnable && !run.state.name().is_terminal() && run.parked.is_none(),
                parked: run.parked.is_some(),
                status_at: head.status.at,
            });
            head.run = Some(run);
            head.damaged = damaged;
        }
        let mut shown = live.shown();
        shown.rested = view.seq;
        shown.view = Some(view);
        // A short log is at hand for who watches the run or drives it.
        if stored.is_whole && stored.events.len() <= TAIL_EVENTS_MAX {
            shown.tail = stored.events.into();
        }
        Ok(())
    }

    /// The run as of that event.
    pub(crate) async fn view_at(&self, id: RunId, seq: Seq) -> Result<RunView, Error> {
        let mut folded: Option<(Run, RunView)> = None;
        let mut after = 0;
        while after < seq {
            let page = self.options.journal.events(id, after, LOAD_PAGE_EVENTS).await?;
            let Some(last) = page.last() else {
                let reason = format!("event {} is missing", after + 1);
                return Err(Error::Damaged { run: id, reason });
            };
            after = last.seq;
            for stored in page.iter().filter(|stored| stored.seq <= seq) {
                fold(&mut folded, stored, id)?;
            }
        }
        let view = folded.map(|(_, view)| view);
        view.ok_or_else(|| Error::UnknownRun { run: id.to_string() })
    }

    async fn fold_all(
        &self,
        id: RunId,
        stored: &StoredRun,
        folded: &mut Option<(Run, RunView)>,
    ) -> Result<(), Error> {
        stored.events.iter().try_for_each(|stored| fold(folded, stored, id))?;
        let mut after = stored.events.last().map_or(0, |stored| stored.seq);
        while !stored.is_whole {
            let page = self.options.journal.events(id, after, LOAD_PAGE_EVENTS).await?;
            // Only an empty page is the end: a short one may stop before a damaged event.
            let Some(last) = page.last() else { break };
            after = last.seq;
            page.iter().try_for_each(|stored| fold(folded, stored, id))?;
        }
        Ok(())
    }
}

fn fold(folded: &mut Option<(Run, RunView)>, stored: &Stored, id: RunId) -> Result<(), Error> {
    match folded {
        Some((run, view)) => {
            run.apply(&stored.event)
                .map_err(|illegal| Error::Damaged { run: id, reason: illegal.to_string() })?;
            view.apply(&stored.event, stored.at, stored.pos);
        }
        None => {
            let Event::Submitted(submission) = &stored.event else {
                let reason = "its first event is not `submitted`".to_owned();
                return Err(Error::Damaged { run: id, reason });
            };
            let view = RunView::begin(Arc::new((**submission).clone()), stored.at, stored.pos);
            *folded = Some((Run::begin(submission.clone(), stored.at), view));
        }
    }
    Ok(())
}
