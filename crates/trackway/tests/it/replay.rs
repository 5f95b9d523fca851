//! Checks a program against a log without side effects.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::{Event, RunId};
use trackway_runtime::{Program, ProgramRegistry, ReplayVerdict, replay_program_on_log};
use trackway_testkit::TestWorld;

use crate::{
    parking::{changed_registries, original_registry},
    support::{Probe, answer, load_log, start, wait_until_ended, wait_until_idle},
};

fn program(registry: &ProgramRegistry) -> Option<Arc<dyn Program>> {
    registry.current_program("job")
}

async fn events(process: &trackway_testkit::TestProcess, run: RunId) -> Vec<Event> {
    load_log(process, run).await.into_iter().map(|stored| stored.event).collect()
}

/// Proves X2.
#[test]
fn a_replay_finds_every_change_and_nothing_else() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    world.run_to_completion(original_registry(&probe), async |process| {
        let run = start(&process, "job", Value::Null).await;
        wait_until_idle(&process, run).await;
        answer(&process, run, "a", 4).await.unwrap();
        wait_until_ended(&process, run).await;
        let log = events(&process, run).await;
        let fits = program(&original_registry(&probe)).unwrap();
        // At every point at which the process could have stopped.
        for length in 1..=log.len() {
            let verdict = replay_program_on_log(&fits, &log[..length]).await;
            assert_eq!(verdict, ReplayVerdict::Matches, "the first {length} events");
        }
        for (what, registry, asked, recorded) in changed_registries(&probe) {
            let Some(program) = program(&registry).filter(|program| program.info().version == "1") else {
                continue;
            };
            let ReplayVerdict::Nondeterminism(evidence) = replay_program_on_log(&program, &log).await else {
                panic!("{what} was not found");
            };
            if !asked.is_empty() {
                assert_eq!(evidence.asked.as_deref(), Some(asked), "{what}: {evidence:?}");
            }
            if !recorded.is_empty() {
                assert_eq!(evidence.recorded.as_deref(), Some(recorded), "{what}: {evidence:?}");
            }
        }
    });
    assert_eq!(probe.marks(), ["one", "two"], "a replay does no step");
}

/// Proves X5.
#[test]
fn a_log_without_a_beginning_fits_nothing() {
    let program = program(&original_registry(&Probe::new())).unwrap();
    TestWorld::with_memory_store().run_to_completion(original_registry(&Probe::new()), async |_| {
        for log in [vec![], vec![Event::Started]] {
            assert!(matches!(replay_program_on_log(&program, &log).await, ReplayVerdict::Nondeterminism(_)));
        }
    });
}
