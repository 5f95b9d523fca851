//! Interceptors: a journal that dies with its process, answers from its own thread, or breaks.

use std::{
    fmt, future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use trackway_domain::RunId;
use trackway_ports::{
    Append, AppendCallback, AppendError, AppendReceipt, FaultInjector, Journal, PortFuture,
};

use crate::{ProcessLife, interceptor::JournalInterceptor};

/// After its process is dead, no append is accepted or answered, and no read returns.
pub struct ProcessLifeInterceptor {
    life: ProcessLife,
    /// Callbacks that are never called. They are kept, because dropping one would be an answer too.
    unanswered_callers: Arc<Mutex<Vec<AppendCallback>>>,
}

impl ProcessLifeInterceptor {
    pub fn new(life: ProcessLife) -> Self {
        Self { life, unanswered_callers: Arc::default() }
    }
}

impl fmt::Debug for ProcessLifeInterceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.life.fmt(f)
    }
}

impl JournalInterceptor for ProcessLifeInterceptor {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        if self.life.is_over() {
            lock_ignoring_poison(&self.unanswered_callers).push(done);
            return;
        }
        let (life, buried) = (self.life.clone(), self.unanswered_callers.clone());
        let told: AppendCallback = Box::new(move |result| {
            if life.is_over() {
                lock_ignoring_poison(&buried).push(done);
            } else {
                done(result);
            }
        });
        journal.append(append, told);
    }

    fn before_read(&self, _run: Option<RunId>) -> PortFuture<'_, ()> {
        Box::pin(async {
            if self.life.is_over() {
                future::pending().await
            }
        })
    }
}

/// Gives a journal that answers on its caller's thread its own thread, with the fault points of a
/// store on disk.
#[derive(Debug)]
pub struct OwnThreadInterceptor {
    /// `None` after it is closed.
    thread: Mutex<Option<(mpsc::Sender<AppendJob>, thread::JoinHandle<()>)>>,
}

type AppendJob = (Arc<dyn Journal>, Append, AppendCallback);

impl OwnThreadInterceptor {
    pub fn new(faults: Arc<dyn FaultInjector>) -> Self {
        let (inbox, jobs) = mpsc::channel();
        let thread = thread::spawn(move || run_append_thread(&*faults, &jobs));
        Self { thread: Mutex::new(Some((inbox, thread))) }
    }
}

fn run_append_thread(faults: &dyn FaultInjector, jobs: &mpsc::Receiver<AppendJob>) {
    for (journal, append, done) in jobs {
        let (tell, told) = mpsc::sync_channel::<Result<AppendReceipt, AppendError>>(1);
        faults.reach_fault_point("store:before-commit");
        journal.append(
            append,
            Box::new(move |result| {
                let _ = tell.send(result);
            }),
        );
        // A journal that pauses this append delays the others too, as a disk does.
        let Ok(result) = told.recv() else { continue };
        faults.reach_fault_point("store:after-commit");
        done(result);
        faults.reach_fault_point("store:after-done");
    }
}

impl JournalInterceptor for OwnThreadInterceptor {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        let job = (journal.clone(), append, done);
        if let Some((inbox, _)) = &*lock_ignoring_poison(&self.thread) {
            // A missing thread was ended by a fault point: no caller gets an answer any more.
            let _ = inbox.send(job);
            return;
        }
        thread::spawn(move || job.2(Err(AppendError::Closed)));
    }

    fn before_close(&self) {
        let thread = lock_ignoring_poison(&self.thread).take();
        if let Some((inbox, thread)) = thread {
            drop(inbox);
            // A thread that a fault point ended has also ended.
            let _ = thread.join();
        }
    }
}

/// Cannot write after a number of appends, like a full disk.
#[derive(Debug)]
pub struct BrokenAfterAppends {
    left: AtomicUsize,
}

impl BrokenAfterAppends {
    pub fn after_appends(appends: usize) -> Self {
        Self { left: AtomicUsize::new(appends) }
    }
}

impl JournalInterceptor for BrokenAfterAppends {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        let less = |left: usize| left.checked_sub(1);
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
        if left.is_ok() {
            journal.append(append, done);
            return;
        }
        let reason = "the disk is full".to_owned();
        // Not on this thread, which may hold a lock that the answer needs.
        thread::spawn(move || done(Err(AppendError::Broken { reason })));
    }
}

/// Neither reads nor writes while it lasts, as without a file descriptor. It loses nothing.
#[derive(Debug, Default)]
pub struct OutageInterceptor {
    lasts: AtomicBool,
    /// Appends that are accepted, and then refused, before the outage ends by itself.
    appends: Mutex<Option<(usize, usize)>>,
}

impl OutageInterceptor {
    pub fn new() -> Self {
        Self::default()
    }

    /// An outage that accepts some appends, refuses the next ones, and ends.
    pub fn for_appends(taken: usize, refused: usize) -> Self {
        Self { appends: Mutex::new(Some((taken, refused))), ..Self::default() }
    }

    pub fn begin_outage(&self) {
        self.lasts.store(true, Ordering::SeqCst);
    }

    pub fn end_outage(&self) {
        self.lasts.store(false, Ordering::SeqCst);
    }

    fn refuses_append(&self) -> bool {
        if let Some((taken, refused)) = &mut *lock_ignoring_poison(&self.appends) {
            match (*taken, *refused) {
                (1.., _) => *taken -= 1,
                (0, 1..) => {
                    *refused -= 1;
                    return true;
                }
                (0, 0) => {}
            }
        }
        self.lasts.load(Ordering::SeqCst)
    }
}

impl JournalInterceptor for OutageInterceptor {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        if !self.refuses_append() {
            return journal.append(append, done);
        }
        let reason = OUTAGE_REASON.to_owned();
        // Not on this thread, which may hold a lock that the answer needs.
        thread::spawn(move || done(Err(AppendError::Unavailable { reason })));
    }

    fn outage_reason(&self) -> Option<String> {
        self.lasts.load(Ordering::SeqCst).then(|| OUTAGE_REASON.to_owned())
    }
}

const OUTAGE_REASON: &str = "too many open files";

pub(crate) fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
