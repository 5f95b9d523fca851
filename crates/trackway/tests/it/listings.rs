//! Listings by the time of the status: the position of a run matches the status that it shows.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::{Access, RunId};
use trackway_ports::RunQuery;
use trackway_testkit::{Process, World, at, runs_to_drive};

use crate::{
    kit::{Probe, answer, ended, settled, start},
    parking::{changes, original},
};

const SECOND: Duration = Duration::from_secs(1);

/// The runs in the order of the listing. Each entry must match the run's view.
async fn listed(process: &Process) -> Vec<RunId> {
    let query = RunQuery::new(Access::local(), 100);
    let page = process.runs_by_status(query).await.unwrap();
    assert_eq!(page.rows.len() as u64, page.total);
    for row in &page.rows {
        let view = process.view(&at(row.id)).await.unwrap();
        assert_eq!((row.state, row.status_at), (view.state, view.status_at), "{}", row.id);
    }
    page.rows.iter().map(|row| row.id).collect()
}

/// Proves L18: every status moves its run to the front, also where the state stays, and over restarts.
/// A program that does not fit does not move the run in the list while the run only waits.
#[test]
fn a_run_is_listed_at_the_time_of_the_status_it_shows() {
    for world in [World::memory(), World::sqlite()] {
        let probe = Probe::new();
        let (job, other) = world.run(original(&probe), async |process| {
            let job = start(&process, "job", Value::Null).await;
            settled(&process, job).await;
            process.clock.advance(SECOND);
            let other = start(&process, "other", Value::Null).await;
            settled(&process, other).await;
            process.quiet().await;
            assert_eq!(listed(&process).await, [other, job]);
            // Refused: the state stays, and the question is asked again.
            process.clock.advance(SECOND);
            answer(&process, job, "wrong", "no number").await.unwrap();
            assert_eq!(listed(&process).await, [job, other]);
            process.clock.advance(SECOND);
            answer(&process, other, "wrong too", "no number").await.unwrap();
            assert_eq!(listed(&process).await, [other, job]);
            (job, other)
        });
        world.clock.advance(SECOND);
        let (_, changed, ..) = changes(&probe).swap_remove(0);
        world.run(changed, async |process| {
            process.quiet().await;
            assert_eq!(listed(&process).await, [other, job]);
        });
        world.clock.advance(SECOND);
        world.run(original(&probe), async |process| {
            while !runs_to_drive(&*process.journal).await.is_empty() {
                tokio::task::yield_now().await;
            }
            process.quiet().await;
            assert_eq!(listed(&process).await, [other, job], "it shows its question again");
            process.clock.advance(SECOND);
            answer(&process, job, "right", 1).await.unwrap();
            ended(&process, job).await;
            process.quiet().await;
            assert_eq!(listed(&process).await, [job, other]);
        });
    }
}
