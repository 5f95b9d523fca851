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
use trackway_ports::{Append, AppendError, Done, Faults, Journal, PortFuture, Receipt};

use crate::{Life, tap::Tap};

/// After its process is dead, no append is accepted or answered, and no read returns.
pub struct Mortal {
    life: Life,
    /// Callbacks that are never called. They are kept, because dropping one would be an answer too.
    buried: Arc<Mutex<Vec<Done>>>,
}

impl Mortal {
    pub fn new(life: Life) -> Self {
        Self { life, buried: Arc::default() }
    }
}

impl fmt::Debug for Mortal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.life.fmt(f)
    }
}

impl Tap for Mortal {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
        if self.life.is_over() {
            locked(&self.buried).push(done);
            return;
        }
        let (life, buried) = (self.life.clone(), self.buried.clone());
        let told: Done = Box::new(move |result| {
            if life.is_over() {
                locked(&buried).push(done);
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
pub struct OwnThread {
    /// `None` after it is closed.
    thread: Mutex<Option<(mpsc::Sender<Job>, thread::JoinHandle<()>)>>,
}

type Job = (Arc<dyn Journal>, Append, Done);

impl OwnThread {
    pub fn new(faults: Arc<dyn Faults>) -> Self {
        let (inbox, jobs) = mpsc::channel();
        let thread = thread::spawn(move || work(&*faults, &jobs));
        Self { thread: Mutex::new(Some((inbox, thread))) }
    }
}

fn work(faults: &dyn Faults, jobs: &mpsc::Receiver<Job>) {
    for (journal, append, done) in jobs {
        let (tell, told) = mpsc::sync_channel::<Result<Receipt, AppendError>>(1);
        faults.reach("store:before-commit");
        journal.append(
            append,
            Box::new(move |result| {
                let _ = tell.send(result);
            }),
        );
        // A journal that pauses this append delays the others too, as a disk does.
        let Ok(result) = told.recv() else { continue };
        faults.reach("store:after-commit");
        done(result);
        faults.reach("store:after-done");
    }
}

impl Tap for OwnThread {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
        let job = (journal.clone(), append, done);
        if let Some((inbox, _)) = &*locked(&self.thread) {
            // A missing thread was ended by a fault point: no caller gets an answer any more.
            let _ = inbox.send(job);
            return;
        }
        thread::spawn(move || job.2(Err(AppendError::Closed)));
    }

    fn close(&self) {
        let thread = locked(&self.thread).take();
        if let Some((inbox, thread)) = thread {
            drop(inbox);
            // A thread that a fault point ended has also ended.
            let _ = thread.join();
        }
    }
}

/// Cannot write after a number of appends, like a full disk.
#[derive(Debug)]
pub struct Breaks {
    left: AtomicUsize,
}

impl Breaks {
    pub fn after(appends: usize) -> Self {
        Self { left: AtomicUsize::new(appends) }
    }
}

impl Tap for Breaks {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
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
pub struct Outage {
    lasts: AtomicBool,
    /// Appends that are accepted, and then refused, before the outage ends by itself.
    appends: Mutex<Option<(usize, usize)>>,
}

impl Outage {
    pub fn new() -> Self {
        Self::default()
    }

    /// An outage that accepts some appends, refuses the next ones, and ends.
    pub fn of_appends(taken: usize, refused: usize) -> Self {
        Self { appends: Mutex::new(Some((taken, refused))), ..Self::default() }
    }

    pub fn begin(&self) {
        self.lasts.store(true, Ordering::SeqCst);
    }

    pub fn end(&self) {
        self.lasts.store(false, Ordering::SeqCst);
    }

    fn refuses_append(&self) -> bool {
        if let Some((taken, refused)) = &mut *locked(&self.appends) {
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

impl Tap for Outage {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
        if !self.refuses_append() {
            return journal.append(append, done);
        }
        let reason = OUTAGE.to_owned();
        // Not on this thread, which may hold a lock that the answer needs.
        thread::spawn(move || done(Err(AppendError::Unavailable { reason })));
    }

    fn outage(&self) -> Option<String> {
        self.lasts.load(Ordering::SeqCst).then(|| OUTAGE.to_owned())
    }
}

const OUTAGE: &str = "too many open files";

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
