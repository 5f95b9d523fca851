//! The crash sweep: each program runs once without a fault, and then once for every fault point that it
//! reached, with a crash exactly there. The process is opened again, its client repeats its actions,
//! and in the end everything must look as if nothing had happened.
//!
//! A failure names the program, the store and the crash, and has the same number the next time.

mod judge;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    sync::Arc,
};

use tempfile::TempDir;
use trackway_runtime::Registry;

use self::judge::{Ending, Recorded};
use crate::{CrashAt, Guest, Postbox, Setup, Visit, World, scatter};

pub use judge::one_life;

/// The subject of a sweep: a client, and the programs that it uses.
///
/// A program writes a line to `ledger.txt` in the given folder for each side effect; the last word of a
/// line is the step's idempotency key.
#[derive(Debug)]
pub struct Subject {
    pub guest: Guest,
    pub programs: fn(&Path) -> Registry,
    /// Whether children give the same result in every run. They do not if they race with a cancel; then
    /// all of them must be canceled in the end.
    pub children_alike: bool,
}

impl Subject {
    pub fn new(guest: Guest, programs: fn(&Path) -> Registry) -> Self {
        Self { guest, programs, children_alike: true }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Store {
    Memory,
    Sqlite,
}

/// Where a process dies: at the `n`-th time that a point is reached, or at the `n`-th point of any
/// name.
#[derive(Debug, Clone, Copy)]
enum Crash {
    At(&'static str, usize),
    Any(usize),
}

/// One world with a list of crashes.
struct Journey<'a> {
    subject: &'a Subject,
    world: World,
    /// Outlives the processes, like the outside world: files, services.
    outside: TempDir,
    visit: Visit,
    /// Receives the client's updates, if it wants them.
    postbox: Arc<Postbox>,
    /// The recorded state at each crash.
    recorded: Vec<Recorded>,
    /// The point of each crash.
    points: Vec<&'static str>,
}

impl<'a> Journey<'a> {
    fn new(subject: &'a Subject, store: Store) -> Self {
        let world = match store {
            Store::Memory => World::memory(),
            Store::Sqlite => World::sqlite(),
        };
        Self {
            subject,
            world,
            outside: tempfile::tempdir().expect("a folder for side effects"),
            visit: Visit::new(),
            postbox: Arc::default(),
            recorded: Vec::new(),
            points: Vec::new(),
        }
    }

    fn setup(&self) -> Setup {
        let setup: Setup = (self.subject.programs)(self.outside.path()).into();
        match self.subject.guest.is_hooked() {
            true => setup.messenger(self.postbox.clone()),
            false => setup,
        }
    }

    /// Runs one process. True if the client finished.
    fn live(&mut self, faults: &Arc<CrashAt>) -> bool {
        let setup = self.setup().faults(faults.clone());
        let (guest, visit) = (&self.subject.guest, &self.visit);
        let through = self.world.process(setup, async |process| {
            guest.visit(&process, visit).await;
        });
        through.is_some()
    }

    /// The process dies at that point. False if it finished without reaching it.
    fn crash(&mut self, crash: Crash) -> bool {
        let faults = Arc::new(match crash {
            Crash::At(point, n) => CrashAt::point(point, n),
            Crash::Any(n) => CrashAt::any(n),
        });
        if self.live(&faults) {
            return false;
        }
        self.points.extend(faults.reached().last());
        self.recorded.push(judge::recorded(&self.world, &self.done()));
        true
    }

    /// Side effects so far, by idempotency key.
    fn done(&self) -> Vec<String> {
        let ledger = std::fs::read_to_string(self.outside.path().join("ledger.txt"));
        let key = |line: &str| line.split(' ').next_back().map(str::to_owned);
        ledger.unwrap_or_default().lines().filter_map(key).collect()
    }

    /// The last process, without a fault; then everything is read.
    fn end(&mut self) -> (Ending, Vec<&'static str>) {
        let faults = Arc::new(CrashAt::never());
        assert!(self.live(&faults), "without a fault it gets through");
        let ending = judge::ending(&self.world, self.subject.children_alike);
        judge::nothing_taken_back(&self.visit, &ending);
        judge::nothing_done_again(&self.recorded, &self.done());
        if self.subject.guest.is_hooked() {
            judge::everything_told(&self.postbox, &ending);
        }
        (ending, faults.reached())
    }
}

/// Runs one sweep; a failure names it.
#[expect(clippy::print_stderr, reason = "a test says where it failed")]
fn journey(
    subject: &Subject,
    store: Store,
    crashes: &[Crash],
) -> (Ending, Vec<&'static str>, Vec<&'static str>) {
    let mut journey = Journey::new(subject, store);
    let went = catch_unwind(AssertUnwindSafe(|| {
        for crash in crashes {
            if !journey.crash(*crash) {
                break;
            }
        }
        journey.end()
    }));
    match went {
        Ok((ending, reached)) => (ending, reached, journey.points),
        Err(panic) => {
            eprintln!(
                "{:?} on {store:?}, crashes {crashes:?} at {:?}",
                subject.guest, journey.points
            );
            resume_unwind(panic)
        }
    }
}

fn same(subject: &Subject, store: Store, crashes: &[Crash], clean: &Ending) -> Vec<&'static str> {
    let (ending, _, points) = journey(subject, store, crashes);
    let place = || format!("{:?} on {store:?}, crashes {crashes:?} at {points:?}", subject.guest);
    assert_eq!(ending.plain.len(), clean.plain.len(), "{}: as many runs", place());
    for (run, (after, before)) in ending.plain.iter().zip(&clean.plain).enumerate() {
        assert_eq!(after, before, "{}: run {run}", place());
    }
    points
}

/// Crashes at every point, one after the other.
pub fn sweep(subject: &Subject, store: Store) {
    let (clean, reached, _) = journey(subject, store, &[]);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    for point in &reached {
        let n = seen.entry(point).or_default();
        *n += 1;
        if same(subject, store, &[Crash::At(point, *n)], &clean).is_empty() {
            missed.push((*point, *n));
        }
    }
    // The grouping of commits depends on timing: a busy machine makes fewer, and the last point may
    // come after the client has left. Some crashes therefore never happen. If most did not happen, the
    // sweep would prove nothing. This check does not apply if children race with a cancel: their
    // progress is not predictable.
    let few = missed.len() * 2 <= reached.len();
    assert!(few || !subject.children_alike, "{:?} missed {missed:?}", subject.guest);
}

/// Crashes up to three times, at points derived from a seed.
pub fn sweep_again(subject: &Subject, store: Store, seeds: std::ops::Range<u64>) {
    let (clean, reached, _) = journey(subject, store, &[]);
    let draw =
        |seed: u64, round: u64| 1 + (scatter(seed * 7 + round) % reached.len() as u64) as usize;
    for seed in seeds {
        // The crash in the middle comes early, while the process is still recovering.
        let crashes = [draw(seed, 1), 1 + draw(seed, 2) % 12, draw(seed, 3)].map(Crash::Any);
        same(subject, store, &crashes, &clean);
    }
}
