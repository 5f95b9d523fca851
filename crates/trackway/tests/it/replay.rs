//! Checks a program against a log without side effects.

use std::sync::Arc;

use serde_json::Value;
use trackway_domain::{Event, RunId};
use trackway_runtime::{Program, Registry, ReplayVerdict, replay};
use trackway_testkit::World;

use crate::{
    kit::{Probe, answer, ended, log, settled, start},
    parking::{changes, original},
};

fn program(registry: &Registry) -> Option<Arc<dyn Program>> {
    registry.get("job")
}

async fn events(process: &trackway_testkit::Process, run: RunId) -> Vec<Event> {
    log(process, run).await.into_iter().map(|stored| stored.event).collect()
}

/// Proves X2.
#[test]
fn a_replay_finds_every_change_and_nothing_else() {
    let (world, probe) = (World::memory(), Probe::new());
    world.run(original(&probe), async |process| {
        let run = start(&process, "job", Value::Null).await;
        settled(&process, run).await;
        answer(&process, run, "a", 4).await.unwrap();
        ended(&process, run).await;
        let log = events(&process, run).await;
        let fits = program(&original(&probe)).unwrap();
        // At every point at which the process could have stopped.
        for length in 1..=log.len() {
            let verdict = replay(&fits, &log[..length]).await;
            assert_eq!(verdict, ReplayVerdict::Fits, "the first {length} events");
        }
        for (what, registry, asked, recorded) in changes(&probe) {
            let Some(program) = program(&registry).filter(|program| program.info().version == "1")
            else {
                continue;
            };
            let ReplayVerdict::Misfit(evidence) = replay(&program, &log).await else {
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
    let program = program(&original(&Probe::new())).unwrap();
    World::memory().run(original(&Probe::new()), async |_| {
        for log in [vec![], vec![Event::Started]] {
            assert!(matches!(replay(&program, &log).await, ReplayVerdict::Misfit(_)));
        }
    });
}
