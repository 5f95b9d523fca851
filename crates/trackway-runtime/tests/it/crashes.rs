//! A crash at every point of a start, an answer, a blocked answer and a note. After each, what was under
//! way is there as a whole and is told again, or is not there and can be done: never half.

use std::sync::{Arc, Mutex};

use serde_json::json;
use trackway_domain::Inputs;
use trackway_ports::RunFilter;
use trackway_runtime::{Guide, GuideError, Position};
use trackway_testkit::{CrashAt, Setup, World};

use crate::kit::{Library, access, advance, answer, begin, fitting, log, names, no_programs, seal};

/// Far more points than one process reaches; the sweep ends earlier.
const POINTS_MAX: usize = 1_000;

/// What the agent has been told, which outlasts the process.
#[derive(Debug, Default)]
struct Agent {
    told: Mutex<Vec<Position>>,
}

impl Agent {
    fn told(&self) -> Vec<Position> {
        self.told.lock().unwrap().clone()
    }

    /// The same calls from the beginning, in every life: a start only where none was answered. What was
    /// told once must be told again.
    async fn work(&self, guide: &Guide) {
        let told = self.told();
        let first = match told.first() {
            Some(first) => first.clone(),
            None => self.hear(0, alive(guide.start(&access(), begin("three", &json!({})))).await),
        };
        let second = self.answer(guide, 1, &first, fitting(&first, 1)).await;
        let blocked = self.answer(guide, 2, &second, Inputs::default()).await;
        assert!(blocked.blocked.is_some());
        let (me, node) = (access(), second.node);
        alive(guide.checkpoint(&me, first.run, node, "half way", seal())).await;
        let third = self.answer(guide, 3, &blocked, fitting(&blocked, 1)).await;
        let end = self.answer(guide, 4, &third, fitting(&third, 1)).await;
        assert_eq!(end.pending, None);
        alive(guide.checkpoint_session(&access(), &end.session, "all done")).await;
    }

    async fn answer(&self, guide: &Guide, place: usize, at: &Position, inputs: Inputs) -> Position {
        self.hear(place, alive(advance(guide, answer(at, inputs))).await)
    }

    fn hear(&self, place: usize, position: Position) -> Position {
        let mut told = self.told.lock().unwrap();
        match told.get(place) {
            Some(before) => assert_eq!(*before, position, "what was told is told again"),
            None => told.push(position.clone()),
        }
        position
    }
}

/// What a call comes to. In a process that is dying the store fails, and nobody hears of it.
async fn alive<T>(call: impl Future<Output = Result<T, GuideError>>) -> T {
    match call.await {
        Ok(result) => result,
        Err(GuideError::Store { .. }) => std::future::pending().await,
        Err(error) => panic!("{error:?}"),
    }
}

/// One life of the process. True where the agent got through.
fn live(world: &World, library: &Library, agent: &Agent, faults: &Arc<CrashAt>) -> bool {
    let setup = Setup::from(no_programs()).faults(faults.clone());
    let through = world.process(setup, async |process| {
        agent.work(&library.guide_in(world, &process)).await;
    });
    through.is_some()
}

/// Everything that is recorded: each run is whole, and the one that the agent knows holds each call once.
fn judge(world: &World, agent: &Agent, at: &str) {
    let run = agent.told()[0].run;
    world.look(async |journal| {
        let told = ["attempted", "attempted", "checkpointed", "attempted", "attempted"];
        let expected = [&["submitted", "started", "opened"], &told[..], &["completed"]].concat();
        assert_eq!(names(&log(&*journal, run).await), expected, "{at}");
        for row in journal.runs(RunFilter::default(), None, 10).await.unwrap() {
            let log = log(&*journal, row.id).await;
            let begins: &[&str] = match row.workflow.name.as_str() {
                "session-notes" => &["submitted", "started", "completed", "checkpointed"],
                // A start whose answer nobody heard: a run of its own, at its first step.
                _ => &["submitted", "started", "opened"],
            };
            assert_eq!(names(&log)[..begins.len()], *begins, "{at}");
            assert!(row.id == run || log.len() == begins.len(), "{at}: nothing more than that");
            assert!(!row.runnable && !row.parked, "{at}");
        }
    });
}

fn sweep(open: fn() -> World) {
    let library = Library::new();
    for point in 1..POINTS_MAX {
        let (world, agent) = (open(), Agent::default());
        let faults = Arc::new(CrashAt::any(point));
        let through = live(&world, &library, &agent, &faults);
        let at = format!("point {point}, {:?}", faults.reached().last());
        let last = Arc::new(CrashAt::never());
        assert!(live(&world, &library, &agent, &last), "{at}: without a fault it gets through");
        judge(&world, &agent, &at);
        if through {
            assert!(point > 20, "there are points to crash at: {:?}", faults.reached());
            return;
        }
    }
    panic!("it never gets through");
}

/// Proves T4: after a crash too.
#[test]
fn nothing_is_half_recorded_in_memory() {
    sweep(World::memory);
}

/// Proves T4: after a crash too.
#[test]
fn nothing_is_half_recorded_on_disk() {
    sweep(World::sqlite);
}
