//! Sends the commands, kills the processes, and remembers the answers.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::FutureExt;
use serde_json::{Value, json};
use trackway_domain::{Event, Message, RunId};
use trackway_engine::MessageDeliveryOutcome;
use trackway_ports::{Journal, StoredEvent};
use trackway_runtime::{Error, ProgramRegistry};
use trackway_testkit::{
    CrashAt, ProcessLife, ProcessSetup, TestProcess, TestWorld, assert_one_lifecycle, load_full_log,
    local_run_address, mix_bits,
};

use crate::support::{Probe, answer, start_as};

const COMMANDS: usize = 40;

pub(super) struct Chaos {
    world: TestWorld,
    dice: Dice,
    probe: Probe,
    memory: Arc<Mutex<Acknowledged>>,
    /// Steps recorded when each process died, and how much had been done.
    recorded: Vec<(HashSet<String>, usize)>,
}

/// What was acknowledged and seen.
#[derive(Default)]
struct Acknowledged {
    runs: Vec<RunId>,
    /// Starts that were acknowledged, by message id.
    starts: HashMap<String, RunId>,
    /// Acknowledged messages, with the answer to their sender.
    told: HashMap<String, (RunId, MessageDeliveryOutcome)>,
    canceled: Vec<RunId>,
    failures: Vec<String>,
    /// What watchers saw, each from a run's beginning.
    seen: Vec<(RunId, Arc<Mutex<Vec<StoredEvent>>>)>,
}

#[derive(Clone, Copy)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix_bits(self.0) % sides
    }
}

impl Chaos {
    pub(super) fn new(world: TestWorld, seed: u64) -> Self {
        let dice = Dice(mix_bits(seed));
        Self { world, dice, probe: Probe::new(), memory: Arc::default(), recorded: Vec::new() }
    }

    /// Sends random commands to a process until a fault kills it or all commands are sent.
    pub(super) fn process(&mut self, registry: impl Fn(Probe) -> ProgramRegistry) {
        let crash = self.dice.roll(3) * self.dice.roll(400);
        let faults = Arc::new(CrashAt::at_any_point(usize::try_from(crash).unwrap()));
        let setup = ProcessSetup::from(registry(self.probe.clone())).with_faults(faults);
        let (mut dice, memory) = (self.dice, self.memory.clone());
        self.dice.roll(2);
        self.world.run_process(setup, async |process| {
            for _ in 0..COMMANDS {
                let dice = Dice(mix_bits(dice.roll(u64::MAX)));
                // Some commands are awaited, others run concurrently with the next.
                let sent = tokio::spawn(run_command(process.clone(), memory.clone(), dice));
                if !dice.0.is_multiple_of(3) {
                    let _ = sent.await;
                }
            }
        });
        let logs = self.world.inspect_store(async |journal| logs(&*journal).await);
        self.recorded.push((steps(&logs), self.probe.marks().len()));
    }

    /// The last process completes every run; then the logs are compared with the answers.
    pub(super) fn end(&self, registry: impl Fn(Probe) -> ProgramRegistry) {
        self.world.run_to_completion(registry(self.probe.clone()), async |process| finish(&process).await);
        let logs = self.world.inspect_store(async |journal| logs(&*journal).await);
        for (run, log) in &logs {
            assert_one_lifecycle(*run, log);
        }
        let done = self.probe.marks();
        for (steps, before) in &self.recorded {
            let again = done[*before..].iter().find(|key| steps.contains(*key));
            assert_eq!(again, None, "a recorded step was done again");
        }
        self.memory.lock().unwrap().compare(&logs);
    }
}

impl Acknowledged {
    fn compare(&self, logs: &BTreeMap<RunId, Vec<StoredEvent>>) {
        assert!(self.failures.is_empty(), "{:#?}", self.failures);
        for (id, run) in &self.starts {
            let started: Vec<_> = logs.iter().filter(|(_, log)| was_started_by(log, id)).collect();
            assert_eq!(started.len(), 1, "{id} started one run");
            assert_eq!(started[0].0, run, "{id} was told which");
        }
        for (id, (run, told)) in &self.told {
            let taken = logs[run]
                .iter()
                .filter(|stored| caller_message(&stored.event).is_some_and(|m| m.id.as_str() == id));
            assert_eq!(taken.count(), 1, "{id} was acknowledged as {told:?}");
        }
        for run in &self.canceled {
            let canceled = logs[run].iter().any(|stored| stored.event == Event::Canceled);
            assert!(canceled, "{run} was told to be canceled");
        }
        for (run, seen) in &self.seen {
            let seen = seen.lock().unwrap();
            assert_eq!(**seen, logs[run][..seen.len()], "{run} showed something else");
        }
    }
}

fn was_started_by(log: &[StoredEvent], id: &str) -> bool {
    let Event::Submitted(submission) = &log[0].event else { panic!("a log begins with its submission") };
    submission.message.as_ref().is_some_and(|message| message.id.as_str() == id)
}

/// The caller's message in an event.
fn caller_message(event: &Event) -> Option<&Message> {
    match event {
        Event::Refused { request, .. } | Event::Resumed { request, .. } => Some(&request.message),
        Event::LateAnswer(late) => Some(&late.request.message),
        Event::Noted { message } => Some(message),
        _ => None,
    }
}

/// Runs a command and reports its failure at the end. Being killed with its process is not a
/// failure.
async fn run_command(process: TestProcess, memory: Arc<Mutex<Acknowledged>>, dice: Dice) {
    let sent = AssertUnwindSafe(command(process, memory.clone(), dice)).catch_unwind().await;
    if let Err(panic) = sent
        && !ProcessLife::ended_thread(&*panic)
    {
        let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        memory.lock().unwrap_or_else(PoisonError::into_inner).failures.push(text);
    }
}

async fn command(process: TestProcess, memory: Arc<Mutex<Acknowledged>>, mut dice: Dice) {
    let known = {
        let memory = memory.lock().unwrap();
        let runs = memory.runs.len() as u64;
        (runs > 0).then(|| memory.runs[dice.roll(runs) as usize])
    };
    let Some(run) = known.filter(|_| dice.roll(4) > 0) else {
        return start_random_run(&process, &memory, dice).await;
    };
    match dice.roll(8) {
        0 => process.clock.advance(Duration::from_secs(dice.roll(40))),
        1 => match process.pending_if_process_died(process.cancel_run(&local_run_address(run)).await).await {
            Ok(_) => memory.lock().unwrap().canceled.push(run),
            Err(error) => assert_expected_error(&error),
        },
        2 => watch(&process, &memory, run).await,
        _ => {
            // Few ids, so that some are sent twice; the content follows from the id.
            let number = dice.roll(12);
            let id = format!("{run}-{number}");
            let value = if number.is_multiple_of(3) { json!(true) } else { json!(number) };
            match process.pending_if_process_died(answer(&process, run, &id, value).await).await {
                Ok(answered) => {
                    let told = (run, answered.delivered);
                    let before = memory.lock().unwrap().told.insert(id.clone(), told.clone());
                    if let Some(before) = before {
                        assert!(before == told, "{id} was told {before:?} and {told:?}");
                    }
                }
                Err(error) => assert_expected_error(&error),
            }
        }
    }
}

async fn start_random_run(process: &TestProcess, memory: &Mutex<Acknowledged>, mut dice: Dice) {
    let number = dice.roll(30);
    let id = format!("start-{number}");
    let mut plan = Dice(mix_bits(number));
    let steps = plan.roll(6);
    let plan: Value = (0..steps).map(|_| json!(plan.roll(1_000))).collect();
    match process.pending_if_process_died(start_as(process, &id, "wild", plan).await).await {
        Ok(submitted) => {
            let mut memory = memory.lock().unwrap();
            let run = submitted.view.submission.run;
            let before = memory.starts.insert(id.clone(), run);
            assert!(before.is_none_or(|before| before == run), "{id} started two runs");
            if !memory.runs.contains(&run) {
                memory.runs.push(run);
            }
        }
        Err(error) => assert_expected_error(&error),
    }
}

async fn watch(process: &TestProcess, memory: &Mutex<Acknowledged>, run: RunId) {
    let Ok(mut watch) = process.watch_run(&local_run_address(run), 0).await else { return };
    let seen = Arc::new(Mutex::new(Vec::new()));
    memory.lock().unwrap().seen.push((run, seen.clone()));
    tokio::spawn(async move {
        while let Ok(Some(stored)) = watch.next_event().await {
            seen.lock().unwrap().push(stored);
        }
    });
}

/// Errors that a caller may get for an existing run.
fn assert_expected_error(error: &Error) {
    let fine = matches!(error, Error::Ended { .. } | Error::Stopping);
    assert!(fine, "{error}");
}

/// Answers and waits until every run has ended.
async fn finish(process: &TestProcess) {
    for round in 0_u64.. {
        let mut rows = process.list_runs(Default::default(), None, usize::MAX).await.unwrap();
        rows.retain(|row| !row.state.is_terminal());
        if rows.is_empty() {
            break;
        }
        for row in rows.iter().filter(|row| row.state.is_interrupted()) {
            for value in [json!(true), json!(1)] {
                let answered =
                    answer(process, row.id, &format!("{}-end-{round}-{value}", row.id), value).await;
                answered.map_or_else(|error| assert_expected_error(&error), drop);
            }
        }
        process.clock.advance(Duration::from_secs(3_600));
        tokio::task::yield_now().await;
    }
    process.wait_until_quiet().await;
}

async fn logs(journal: &dyn Journal) -> BTreeMap<RunId, Vec<StoredEvent>> {
    let mut logs = BTreeMap::new();
    for row in journal.list_runs(Default::default(), None, usize::MAX).await.unwrap() {
        logs.insert(row.id, load_full_log(journal, row.id).await.unwrap());
    }
    logs
}

fn steps(logs: &BTreeMap<RunId, Vec<StoredEvent>>) -> HashSet<String> {
    let mut steps = HashSet::new();
    for (run, log) in logs {
        for stored in log {
            if let Event::StepDone { op, .. } = &stored.event {
                steps.insert(format!("{run}/{op}"));
            }
        }
    }
    steps
}
