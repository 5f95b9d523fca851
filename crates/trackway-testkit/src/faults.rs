//! Ends a process at a chosen point, from inside.
//!
//! If a process dies at a fault point, all of it is dead: the thread that reached the point unwinds
//! there, every other thread unwinds at the next point that it reaches, and the journal of that
//! process commits and acknowledges nothing more. Nothing is printed: the unwinding is not a panic.

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
use trackway_ports::FaultInjector;

use crate::interceptors::lock_ignoring_poison;

/// The payload with which a thread of a dead process unwinds.
#[derive(Debug)]
struct ProcessKilled;

/// Whether one simulated process is alive. Clones refer to the same process.
#[derive(Debug, Clone)]
pub struct ProcessLife {
    dead: Arc<AtomicBool>,
    ended: watch::Sender<bool>,
}

impl Default for ProcessLife {
    fn default() -> Self {
        Self { dead: Arc::default(), ended: watch::Sender::new(false) }
    }
}

impl ProcessLife {
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the process, as `kill -9` does.
    pub fn end_process(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.ended.send_replace(true);
    }

    pub fn is_over(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// Resolves when the process is dead.
    pub async fn wait_until_over(&self) {
        let mut told = self.ended.subscribe();
        let _ = told.wait_for(|dead| *dead).await;
    }

    /// Whether the death of its process ended a thread.
    pub fn ended_thread(payload: &(dyn Any + Send)) -> bool {
        payload.is::<ProcessKilled>()
    }

    fn unwind_current_thread(&self) {
        // A second unwinding while a value is dropped by the first would abort.
        if !thread::panicking() {
            resume_unwind(Box::new(ProcessKilled));
        }
    }
}

/// Ends the process when a fault point is reached for the `n`-th time, and records the reached
/// points.
#[derive(Debug)]
pub struct CrashAt {
    life: ProcessLife,
    /// Only this point counts; `None` means any.
    point: Option<&'static str>,
    /// 1 for the first time; 0 for never.
    n: usize,
    reached: Mutex<Vec<&'static str>>,
}

impl CrashAt {
    /// Never ends the process: records the points of a clean run.
    pub fn never_crash() -> Self {
        Self::at_any_point(0)
    }

    /// At the `n`-th point of any name.
    pub fn at_any_point(n: usize) -> Self {
        Self { life: ProcessLife::new(), point: None, n, reached: Mutex::default() }
    }

    /// When this point is reached for the `n`-th time.
    pub fn at_point(point: &'static str, n: usize) -> Self {
        Self { point: Some(point), ..Self::at_any_point(n) }
    }

    pub fn process_life(&self) -> &ProcessLife {
        &self.life
    }

    /// Every point reached so far, in order. After a crash the last one is where it happened.
    pub fn reached_points(&self) -> Vec<&'static str> {
        lock_ignoring_poison(&self.reached).clone()
    }

    /// Records the point; true if the process must die here.
    fn should_crash_at(&self, point: &'static str) -> bool {
        let mut reached = lock_ignoring_poison(&self.reached);
        if self.life.is_over() {
            return false;
        }
        reached.push(point);
        let counts = |seen: &&&str| self.point.is_none_or(|wanted| wanted == **seen);
        let it = self.n > 0 && counts(&&point) && reached.iter().filter(counts).count() == self.n;
        if it {
            self.life.end_process();
        }
        it
    }
}

impl FaultInjector for CrashAt {
    fn reach_fault_point(&self, point: &'static str) {
        if self.should_crash_at(point) || self.life.is_over() {
            self.life.unwind_current_thread();
        }
    }
}
