//! Taps: a journal that dies with its process, answers from its own thread, withholds, or breaks.

use std::{
    collections::HashSet,
    fmt, future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use tokio::sync::watch;
use trackway_domain::RunId;
use trackway_ports::{Append, AppendError, Done, Faults, Journal, PortFuture, Receipt};

use crate::{Life, tap::Tap};

/// Once its process is dead, nothing is taken in, nobody is answered, and no read returns.
pub struct Mortal {
    life: Life,
    /// Callers that are never answered. Kept, since dropping one would be an answer too.
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

/// Gives a journal that answers on its caller's thread one of its own, with the fault points that a
/// store on disk has.
#[derive(Debug)]
pub struct OwnThread {
    /// Gone once it is closed.
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
        // A journal that withholds this one holds up the others too, as a disk does.
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
            // A thread that is gone was ended by a fault point: nobody is answered any more.
            let _ = inbox.send(job);
            return;
        }
        let reason = "it has been closed".to_owned();
        thread::spawn(move || job.2(Err(AppendError::Broken { reason })));
    }

    fn close(&self) {
        let thread = locked(&self.thread).take();
        if let Some((inbox, thread)) = thread {
            drop(inbox);
            // One that was ended by a fault point has ended too.
            let _ = thread.join();
        }
    }
}

type Chooser = Box<dyn Fn(&Append) -> bool + Send>;

/// Withholds appends, or reads of a run's events, until they are released.
#[derive(Default)]
pub struct Gate {
    withheld: Mutex<Withheld>,
    count: watch::Sender<usize>,
    reads: watch::Sender<HashSet<RunId>>,
    readers: watch::Sender<usize>,
    answers: Arc<watch::Sender<Vec<Answer>>>,
}

type Answer = Box<dyn FnOnce() + Send + Sync>;

#[derive(Default)]
struct Withheld {
    choose: Option<Chooser>,
    appends: Vec<(Arc<dyn Journal>, Append, Done)>,
    choose_answers: Option<Chooser>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Withholds every append that is chosen, and whatever follows it in the same run.
    pub fn hold(&self, choose: impl Fn(&Append) -> bool + Send + 'static) {
        locked(&self.withheld).choose = Some(Box::new(choose));
    }

    /// Hands on what was withheld, in order, and withholds nothing more.
    pub fn release(&self) {
        let mut withheld = locked(&self.withheld);
        withheld.choose = None;
        for (journal, append, done) in std::mem::take(&mut withheld.appends) {
            journal.append(append, done);
        }
    }

    /// Lets chosen appends be committed, and withholds that they were.
    pub fn hold_answers(&self, choose: impl Fn(&Append) -> bool + Send + 'static) {
        locked(&self.withheld).choose_answers = Some(Box::new(choose));
    }

    /// Resolves when this many answers are withheld.
    pub async fn unanswered(&self, answers: usize) {
        let _ = self.answers.subscribe().wait_for(|held| held.len() >= answers).await;
    }

    /// Gives the answers that were withheld, and withholds no more.
    pub fn release_answers(&self) {
        locked(&self.withheld).choose_answers = None;
        for answer in self.answers.send_replace(Vec::new()) {
            answer();
        }
    }

    /// Looks into the appends that are withheld; the first thing found.
    pub fn peek<T>(&self, look: impl Fn(&Append) -> Option<T>) -> Option<T> {
        let withheld = locked(&self.withheld);
        withheld.appends.iter().find_map(|(_, append, _)| look(append))
    }

    /// Resolves when this many appends in all were withheld.
    pub async fn withheld(&self, appends: usize) {
        let _ = self.count.subscribe().wait_for(|n| *n >= appends).await;
    }

    /// Withholds reads of this run's events.
    pub fn hold_reads(&self, run: RunId) {
        self.reads.send_modify(|held| {
            held.insert(run);
        });
    }

    pub fn release_reads(&self) {
        self.reads.send_modify(HashSet::clear);
    }

    /// Resolves when this many reads in all were withheld.
    pub async fn reading(&self, reads: usize) {
        let _ = self.readers.subscribe().wait_for(|n| *n >= reads).await;
    }
}

impl Gate {
    /// The same answer, given when answers are released.
    fn later(&self, done: Done) -> Done {
        let answers = self.answers.clone();
        // Only ever called by one thread, which the compiler cannot know.
        let done = Mutex::new(Some(done));
        Box::new(move |result| {
            let answer = move || {
                if let Some(done) = locked(&done).take() {
                    done(result);
                }
            };
            answers.send_modify(|held| held.push(Box::new(answer)));
        })
    }
}

impl Tap for Gate {
    fn append(&self, journal: &Arc<dyn Journal>, append: Append, done: Done) {
        let mut withheld = locked(&self.withheld);
        let quiet = withheld.choose_answers.as_ref().is_some_and(|choose| choose(&append));
        let done = if quiet { self.later(done) } else { done };
        let behind = withheld.appends.iter().any(|(_, other, _)| other.run == append.run);
        let chosen = withheld.choose.as_ref().is_some_and(|choose| choose(&append));
        if behind || chosen {
            withheld.appends.push((journal.clone(), append, done));
            self.count.send_modify(|count| *count += 1);
        } else {
            journal.append(append, done);
        }
    }

    fn before_read(&self, run: Option<RunId>) -> PortFuture<'_, ()> {
        Box::pin(async move {
            let Some(run) = run else { return };
            if self.reads.borrow().contains(&run) {
                self.readers.send_modify(|count| *count += 1);
                let _ = self.reads.subscribe().wait_for(|held| !held.contains(&run)).await;
            }
        })
    }
}

/// Cannot write any more after a number of appends, as a full disk.
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
        // Not on this thread, which may hold what the answer needs.
        thread::spawn(move || done(Err(AppendError::Broken { reason })));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
