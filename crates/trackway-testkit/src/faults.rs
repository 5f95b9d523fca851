//! Ending a process at a chosen place, from inside.
//!
//! A process that dies at a fault point is dead as a whole: the thread that reached the point unwinds
//! there, every other thread unwinds at the next point it reaches, and the journal of that process
//! commits and acknowledges nothing more. Nothing is printed: the unwinding is not a panic.

use std::{
    any::Any,
    panic::resume_unwind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::sync::watch;
use trackway_ports::Faults;

use crate::taps::locked;

/// What a thread of a dead process unwinds with.
#[derive(Debug)]
struct Killed;

/// Whether one simulated process lives. Clones speak of the same process.
#[derive(Debug, Clone)]
pub struct Life {
    dead: Arc<AtomicBool>,
    told: watch::Sender<bool>,
}

impl Default for Life {
    fn default() -> Self {
        Self { dead: Arc::default(), told: watch::Sender::new(false) }
    }
}

impl Life {
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends it, as `kill -9` does.
    pub fn end(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.told.send_replace(true);
    }

    pub fn is_over(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// Resolves when it is over.
    pub async fn over(&self) {
        let mut told = self.told.subscribe();
        let _ = told.wait_for(|dead| *dead).await;
    }

    /// Whether a thread was ended by the death of its process.
    pub fn took(payload: &(dyn Any + Send)) -> bool {
        payload.is::<Killed>()
    }

    fn unwind(&self) {
        // While a value is dropped by an unwinding already under way, a second one would abort.
        if !thread::panicking() {
            resume_unwind(Box::new(Killed));
        }
    }
}

/// Ends the process when a fault point is reached for the `n`-th time, and lists what was reached.
#[derive(Debug)]
pub struct CrashAt {
    life: Life,
    /// Only this point counts; any where absent.
    point: Option<&'static str>,
    /// 1 for the first time; 0 for never.
    n: usize,
    reached: Mutex<Vec<&'static str>>,
}

impl CrashAt {
    /// Never ends it: records the points of a clean run.
    pub fn never() -> Self {
        Self::any(0)
    }

    /// At the `n`-th point, whichever it is.
    pub fn any(n: usize) -> Self {
        Self { life: Life::new(), point: None, n, reached: Mutex::default() }
    }

    /// At the `n`-th time that this point is reached.
    pub fn point(point: &'static str, n: usize) -> Self {
        Self { point: Some(point), ..Self::any(n) }
    }

    pub fn life(&self) -> &Life {
        &self.life
    }

    /// Every point reached so far, in order. After a crash the last one is where it happened.
    pub fn reached(&self) -> Vec<&'static str> {
        locked(&self.reached).clone()
    }

    /// Notes the point; true when it is the one.
    fn is_it(&self, point: &'static str) -> bool {
        let mut reached = locked(&self.reached);
        if self.life.is_over() {
            return false;
        }
        reached.push(point);
        let counts = |seen: &&&str| self.point.is_none_or(|wanted| wanted == **seen);
        let it = self.n > 0 && counts(&&point) && reached.iter().filter(counts).count() == self.n;
        if it {
            self.life.end();
        }
        it
    }
}

impl Faults for CrashAt {
    fn reach(&self, point: &'static str) {
        if self.is_it(point) || self.life.is_over() {
            self.life.unwind();
        }
    }
}
