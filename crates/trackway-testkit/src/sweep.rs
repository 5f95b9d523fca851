//! The crash sweep: each program runs once without a fault, and then once for every fault point that it
//! reached, with a crash exactly there. The process is opened again, its client repeats its actions,
//! and in the end everything must look as if nothing had happened.
//!
//! A failure names the program, the store and the crash, and has the same number the next time.

mod artifact_checks;
mod sweep_checks;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    sync::Arc,
};

use tempfile::TempDir;
use trackway_runtime::ProgramRegistry;

use self::sweep_checks::{RecordedSteps, SweepOutcome};
use crate::{ClientHistory, CrashAt, ProcessSetup, RecordingMessenger, ScriptedClient, TestWorld, mix_bits};

pub use sweep_checks::assert_one_lifecycle;

/// The subject of a sweep: a client, and the programs that it uses.
///
/// A program writes a line to `ledger.txt` in the given folder for each side effect; the last word of a
/// line is the step's idempotency key.
#[derive(Debug)]
pub struct SweepSubject {
    pub client: ScriptedClient,
    pub programs: fn(&Path) -> ProgramRegistry,
    /// Whether children give the same result in every run. They do not if they race with a cancel; then
    /// all of them must be canceled in the end.
    pub has_deterministic_children: bool,
}

impl SweepSubject {
    pub fn new(guest: ScriptedClient, programs: fn(&Path) -> ProgramRegistry) -> Self {
        Self { client: guest, programs, has_deterministic_children: true }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum StoreKind {
    Memory,
    Sqlite,
}

/// Where a process dies: at the `n`-th time that a point is reached, or at the `n`-th point of any
/// name.
#[derive(Debug, Clone, Copy)]
enum CrashPoint {
    At(&'static str, usize),
    Any(usize),
}

/// One world with a list of crashes.
struct SweepRun<'a> {
    subject: &'a SweepSubject,
    world: TestWorld,
    /// Outlives the processes, like the outside world: files, services.
    outside: TempDir,
    visit: ClientHistory,
    /// Receives the client's updates, if it wants them.
    postbox: Arc<RecordingMessenger>,
    /// The recorded state at each crash.
    recorded: Vec<RecordedSteps>,
    /// The point of each crash.
    points: Vec<&'static str>,
}

impl<'a> SweepRun<'a> {
    fn new(subject: &'a SweepSubject, store: StoreKind) -> Self {
        let world = match store {
            StoreKind::Memory => TestWorld::with_memory_store(),
            StoreKind::Sqlite => TestWorld::with_sqlite_store(),
        };
        Self {
            subject,
            world,
            outside: tempfile::tempdir().expect("a folder for side effects"),
            visit: ClientHistory::new(),
            postbox: Arc::default(),
            recorded: Vec::new(),
            points: Vec::new(),
        }
    }

    fn process_setup(&self) -> ProcessSetup {
        let setup: ProcessSetup = (self.subject.programs)(self.outside.path()).into();
        match self.subject.client.has_hook() {
            true => setup.with_messenger(self.postbox.clone()),
            false => setup,
        }
    }

    /// Runs one process. True if the client finished.
    fn run_process(&mut self, faults: &Arc<CrashAt>) -> bool {
        let setup = self.process_setup().with_faults(faults.clone());
        let (guest, visit) = (&self.subject.client, &self.visit);
        let through = self.world.run_process(setup, async |process| {
            guest.run_client(&process, visit).await;
        });
        through.is_some()
    }

    /// The process dies at that point. False if it finished without reaching it.
    fn run_until_crash(&mut self, crash: CrashPoint) -> bool {
        let faults = Arc::new(match crash {
            CrashPoint::At(point, n) => CrashAt::at_point(point, n),
            CrashPoint::Any(n) => CrashAt::at_any_point(n),
        });
        if self.run_process(&faults) {
            return false;
        }
        self.points.extend(faults.reached_points().last());
        self.recorded.push(sweep_checks::load_recorded_steps(&self.world, &self.completed_effects()));
        true
    }

    /// Side effects so far, by idempotency key.
    fn completed_effects(&self) -> Vec<String> {
        let ledger = std::fs::read_to_string(self.outside.path().join("ledger.txt"));
        let key = |line: &str| line.split(' ').next_back().map(str::to_owned);
        ledger.unwrap_or_default().lines().filter_map(key).collect()
    }

    /// The last process, without a fault; then everything is read.
    fn finish_and_check(&mut self) -> (SweepOutcome, Vec<&'static str>) {
        let faults = Arc::new(CrashAt::never_crash());
        assert!(self.run_process(&faults), "without a fault it gets through");
        let ending = sweep_checks::load_outcome(&self.world, self.subject.has_deterministic_children);
        sweep_checks::assert_watchers_saw_prefix(&self.visit, &ending);
        sweep_checks::assert_no_step_repeated(&self.recorded, &self.completed_effects());
        if self.subject.client.has_hook() {
            sweep_checks::assert_all_updates_delivered(&self.postbox, &ending);
        }
        (ending, faults.reached_points())
    }
}

/// Runs one sweep; a failure names it.
#[expect(clippy::print_stderr, reason = "a test says where it failed")]
fn run_with_crashes(
    subject: &SweepSubject,
    store: StoreKind,
    crashes: &[CrashPoint],
) -> (SweepOutcome, Vec<&'static str>, Vec<&'static str>) {
    let mut journey = SweepRun::new(subject, store);
    let went = catch_unwind(AssertUnwindSafe(|| {
        for crash in crashes {
            if !journey.run_until_crash(*crash) {
                break;
            }
        }
        journey.finish_and_check()
    }));
    match went {
        Ok((ending, reached)) => (ending, reached, journey.points),
        Err(panic) => {
            eprintln!("{:?} on {store:?}, crashes {crashes:?} at {:?}", subject.client, journey.points);
            resume_unwind(panic)
        }
    }
}

fn assert_same_outcome(
    subject: &SweepSubject,
    store: StoreKind,
    crashes: &[CrashPoint],
    clean: &SweepOutcome,
) -> Vec<&'static str> {
    let (ending, _, points) = run_with_crashes(subject, store, crashes);
    let place = || format!("{:?} on {store:?}, crashes {crashes:?} at {points:?}", subject.client);
    assert_eq!(ending.normalized.len(), clean.normalized.len(), "{}: as many runs", place());
    for (run, (after, before)) in ending.normalized.iter().zip(&clean.normalized).enumerate() {
        assert_eq!(after, before, "{}: run {run}", place());
    }
    points
}

/// Crashes at every point, one after the other.
pub fn crash_sweep(subject: &SweepSubject, store: StoreKind) {
    let (clean, reached, _) = run_with_crashes(subject, store, &[]);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    for point in &reached {
        let n = seen.entry(point).or_default();
        *n += 1;
        if assert_same_outcome(subject, store, &[CrashPoint::At(point, *n)], &clean).is_empty() {
            missed.push((*point, *n));
        }
    }
    // The grouping of commits depends on timing: a busy machine makes fewer, and the last point may
    // come after the client has left. Some crashes therefore never happen. If most did not happen, the
    // sweep would prove nothing. This check does not apply if children race with a cancel: their
    // progress is not predictable.
    let few = missed.len() * 2 <= reached.len();
    assert!(few || !subject.has_deterministic_children, "{:?} missed {missed:?}", subject.client);
}

/// Crashes up to three times, at points derived from a seed.
pub fn seeded_crash_sweep(subject: &SweepSubject, store: StoreKind, seeds: std::ops::Range<u64>) {
    let (clean, reached, _) = run_with_crashes(subject, store, &[]);
    let draw = |seed: u64, round: u64| 1 + (mix_bits(seed * 7 + round) % reached.len() as u64) as usize;
    for seed in seeds {
        // The crash in the middle comes early, while the process is still recovering.
        let crashes = [draw(seed, 1), 1 + draw(seed, 2) % 12, draw(seed, 3)].map(CrashPoint::Any);
        assert_same_outcome(subject, store, &crashes, &clean);
    }
}
