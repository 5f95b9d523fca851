//! Listings by the time of the status: the position of a run matches the status that it shows.

use std::time::Duration;

use serde_json::Value;
use trackway_domain::{Access, RunId};
use trackway_ports::StatusTimeQuery;
use trackway_testkit::{TestProcess, TestWorld, list_runs_to_drive, local_run_address};

use crate::{
    parking::{changed_registries, original_registry},
    support::{Probe, answer, start, wait_until_ended, wait_until_idle},
};

const SECOND: Duration = Duration::from_secs(1);

/// The runs in the order of the listing. Each entry must match the run's view.
async fn listed(process: &TestProcess) -> Vec<RunId> {
    let query = StatusTimeQuery::new(Access::local_without_auth(), 100);
    let page = process.list_runs_by_status_time(query).await.unwrap();
    assert_eq!(page.rows.len() as u64, page.total);
    for row in &page.rows {
        let view = process.current_run_view(&local_run_address(row.id)).await.unwrap();
        assert_eq!((row.state, row.status_at), (view.state, view.status_at), "{}", row.id);
    }
    page.rows.iter().map(|row| row.id).collect()
}

/// Proves L18: every status moves its run to the front, even if the state stays, and over restarts.
/// A program that does not fit does not move the run in the list while the run only waits.
#[test]
fn a_run_is_listed_at_the_time_of_the_status_it_shows() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let probe = Probe::new();
        let (job, other) = world.run_to_completion(original_registry(&probe), async |process| {
            let job = start(&process, "job", Value::Null).await;
            wait_until_idle(&process, job).await;
            process.clock.advance(SECOND);
            let other = start(&process, "other", Value::Null).await;
            wait_until_idle(&process, other).await;
            process.wait_until_quiet().await;
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
        let (_, changed, ..) = changed_registries(&probe).swap_remove(0);
        world.run_to_completion(changed, async |process| {
            process.wait_until_quiet().await;
            assert_eq!(listed(&process).await, [other, job]);
        });
        world.clock.advance(SECOND);
        world.run_to_completion(original_registry(&probe), async |process| {
            while !list_runs_to_drive(&*process.journal).await.is_empty() {
                tokio::task::yield_now().await;
            }
            process.wait_until_quiet().await;
            assert_eq!(listed(&process).await, [other, job], "it shows its question again");
            process.clock.advance(SECOND);
            answer(&process, job, "right", 1).await.unwrap();
            wait_until_ended(&process, job).await;
            process.wait_until_quiet().await;
            assert_eq!(listed(&process).await, [job, other]);
        });
    }
}
