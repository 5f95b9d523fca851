//! A run in memory: its decided head, and its committed state, which may be shown.

use std::{
    collections::{HashMap, VecDeque},
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::sync::{Notify, OnceCell, watch};
use trackway_domain::{MessageId, QuestionId, RunId, Seq, StateName, Timestamp};
use trackway_engine::{Run, RunView, StatusTime};
use trackway_ports::{MessageClaimKey, StoredEvent};

use crate::{
    append_buffer::AppendBuffer, runtime_core::RuntimeCore, stage::StageInner, worker_lease::RunDriverLease,
};

/// Newest events kept in memory for watchers that keep up; others read from the store. A watcher
/// that falls further behind costs reads, never memory.
/// Limit (Runtime): newest events of a run kept in memory for watchers.
pub(crate) const TAIL_EVENTS_MAX: usize = 64;

/// Events after which tasks that wait for the run to become idle are woken, so that the events they have not
/// read are still in memory.
pub(crate) const NEWS_EVENTS: Seq = 16;

/// One run in memory. It stays while it has a user (a program, a watcher, a command) and is removed when the
/// last one is done.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) id: RunId,
    /// Filled by the first user; the others wait for it.
    pub(crate) loaded: OnceCell<()>,
    /// What has been decided, committed or not. A std mutex: sections are short and never await. The
    /// append is handed to the journal inside, so that the log has the order of the decisions.
    head: Mutex<DecidedRunHead>,
    /// What is committed. It is separate from the head, because no reader may see more than this.
    committed_state: Mutex<CommittedRunState>,
    /// Number of the last committed event.
    pub(crate) committed_seq: watch::Sender<Seq>,
    /// Messages on their way to this run, with the question that each is for.
    pub(crate) arriving: Mutex<Vec<(QuestionId, MessageId)>>,
    /// Signalled when a commit makes the run idle, or after many events. For tasks that only wait for the run
    /// to become idle: they need not be woken by each commit.
    pub(crate) news: Notify,
    /// Counts how often the program became idle.
    pub(crate) idle_count: watch::Sender<u64>,
    /// It is unknown whether one of its appends is in the store. What is committed after it cannot be folded
    /// in.
    pub(crate) has_unknown_append: AtomicBool,
    users: AtomicUsize,
}

#[derive(Debug, Default)]
pub(crate) struct DecidedRunHead {
    pub(crate) run: Option<Run>,
    /// The program that is being driven. Weak: the driver's task owns it.
    pub(crate) program: Weak<StageInner>,
    /// Which worker drives it.
    pub(crate) lease: RunDriverLease,
    /// The program must be driven after a crash.
    pub(crate) runnable: bool,
    /// The last attempt to drive it failed: it is impossible to know whether it has seen everything.
    pub(crate) is_undrivable: bool,
    /// When the status that the run will show was published.
    pub(crate) status: StatusTime,
    /// What the run's row says of it.
    pub(crate) row: Option<RunRowStatus>,
    /// Messages acted on since the run was loaded, with their digest and reply: a repetition that
    /// comes before the first is committed must find it.
    pub(crate) claims: HashMap<MessageClaimKey, (String, serde_json::Value)>,
    /// What the program appended and the journal has not received yet.
    pub(crate) buffer: AppendBuffer,
    /// Why the log cannot be read to its end: nothing may be decided on a part of it.
    pub(crate) damaged: Option<String>,
    /// Set when an append of this head was refused: what was decided on top of it is void, and the
    /// run must be loaded again.
    pub(crate) stale: bool,
    /// The run will be driven again for what this head lost.
    pub(crate) is_waking: bool,
}

/// What changes in a run's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunRowStatus {
    pub(crate) state: StateName,
    pub(crate) runnable: bool,
    pub(crate) parked: bool,
    pub(crate) status_at: Timestamp,
}

#[derive(Debug, Default)]
pub(crate) struct CommittedRunState {
    pub(crate) view: Option<RunView>,
    /// Number of the last event that made the run idle; of the last event that was read if the run was
    /// loaded.
    pub(crate) rested: Seq,
    pub(crate) tail: VecDeque<StoredEvent>,
}

impl CommittedRunState {
    /// The whole log up to this event, if it is in memory.
    pub(crate) fn log_in_memory_up_to(&self, seq: Seq) -> Option<impl Iterator<Item = &StoredEvent>> {
        let is_whole = self.tail.front().is_some_and(|first| first.seq == 1)
            && self.tail.back().is_some_and(|last| last.seq >= seq);
        is_whole.then(|| self.tail.iter().take_while(move |stored| stored.seq <= seq))
    }
}

impl LiveRun {
    fn new(id: RunId) -> Self {
        Self {
            id,
            loaded: OnceCell::new(),
            head: Mutex::default(),
            committed_state: Mutex::default(),
            committed_seq: watch::Sender::new(0),
            arriving: Mutex::default(),
            news: Notify::new(),
            idle_count: watch::Sender::new(0),
            has_unknown_append: AtomicBool::new(false),
            users: AtomicUsize::new(0),
        }
    }

    pub(crate) fn lock_head(&self) -> MutexGuard<'_, DecidedRunHead> {
        self.head.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program has seen everything and waits, or is not driven any more.
    pub(crate) fn notify_program_idle(&self) {
        self.idle_count.send_modify(|rests| *rests += 1);
    }

    pub(crate) fn lock_arriving_answers(&self) -> MutexGuard<'_, Vec<(QuestionId, MessageId)>> {
        self.arriving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn lock_committed_state(&self) -> MutexGuard<'_, CommittedRunState> {
        self.committed_state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing more happens to the run until a caller acts on it, or on a run below it.
pub(crate) fn is_run_idle(view: &RunView) -> bool {
    view.state.is_terminal()
        || view.state.is_interrupted()
        || view.parked.is_some()
        || view.waiting_descendant_runs().next().is_some()
}

/// A use of a live run. The last one to go evicts it.
#[derive(Debug)]
pub(crate) struct LiveRunRef {
    live: Arc<LiveRun>,
    pub(crate) core: Arc<RuntimeCore>,
}

impl LiveRunRef {
    /// Waits until the run's first `seq` events are durable.
    pub(crate) async fn wait_until_seq_committed(&self, seq: Seq) -> DecisionDurability {
        let mut committed = self.live.committed_seq.subscribe();
        let mut broken = self.core.store_failure.subscribe();
        let there = committed.wait_for(|now| *now >= seq || self.live.lock_head().stale);
        tokio::select! {
            biased;
            there = there => match there {
                Ok(now) if *now >= seq => DecisionDurability::Durable,
                Ok(_) | Err(_) => DecisionDurability::Stale,
            },
            _ = broken.wait_for(Option::is_some) => DecisionDurability::StoreFailed,
        }
    }
}

/// Whether what was decided is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecisionDurability {
    Durable,
    /// It never will be: an append before it was refused.
    Stale,
    /// The store has failed.
    StoreFailed,
}

impl Deref for LiveRunRef {
    type Target = LiveRun;

    fn deref(&self) -> &LiveRun {
        &self.live
    }
}

impl Clone for LiveRunRef {
    fn clone(&self) -> Self {
        self.live.users.fetch_add(1, Ordering::Relaxed);
        Self { live: self.live.clone(), core: self.core.clone() }
    }
}

impl Drop for LiveRunRef {
    fn drop(&mut self) {
        if self.live.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.core.live_runs.evict_if_unused(&self.live);
        }
    }
}

/// The runs in memory.
#[derive(Debug, Default)]
pub(crate) struct LiveRunTable {
    runs: Mutex<HashMap<RunId, Arc<LiveRun>>>,
}

impl LiveRunTable {
    /// The live run of that id, loaded or not.
    pub(crate) fn get_or_create_live_run(&self, core: &Arc<RuntimeCore>, id: RunId) -> LiveRunRef {
        let mut runs = self.lock_live_runs();
        let live = runs.entry(id).or_insert_with(|| Arc::new(LiveRun::new(id))).clone();
        live.users.fetch_add(1, Ordering::Relaxed);
        LiveRunRef { live, core: core.clone() }
    }

    /// The run, if it is in memory. Does not count as a user.
    pub(crate) fn find_live_run(&self, id: RunId) -> Option<Arc<LiveRun>> {
        self.lock_live_runs().get(&id).cloned()
    }

    pub(crate) fn list_live_runs(&self) -> Vec<Arc<LiveRun>> {
        self.lock_live_runs().values().cloned().collect()
    }

    /// Removes a void run, so that the next user loads it again.
    pub(crate) fn remove_stale_run(&self, live: &LiveRun) {
        let mut runs = self.lock_live_runs();
        if runs.get(&live.id).is_some_and(|known| std::ptr::eq(&**known, live)) {
            runs.remove(&live.id);
        }
    }

    fn evict_if_unused(&self, live: &Arc<LiveRun>) {
        let mut runs = self.lock_live_runs();
        // A new user may have entered between the last drop and this lock.
        let idle = live.users.load(Ordering::Acquire) == 0;
        if idle && runs.get(&live.id).is_some_and(|known| Arc::ptr_eq(known, live)) {
            runs.remove(&live.id);
        }
    }

    pub(crate) fn live_run_count(&self) -> usize {
        self.lock_live_runs().len()
    }

    fn lock_live_runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<LiveRun>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
