//! Guided runs and the engine: it shows them and can cancel them, and never drives them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use trackway_domain::{AttemptInputs, Part, RunId, StateName};
use trackway_ports::{PortFuture, RunFilter};
use trackway_runtime::{DeliverMessageRequest, GuidedRunError, RunAddress};
use trackway_testkit::{JournalInterceptor, ProcessSetup, TestWorld, user_message};

use crate::support::{
    DefinitionFolder, access, advance, advance_to_end, answer_request, event_names, load_events, no_programs,
    output_inputs, render_stamp, start_three,
};

fn address(run: RunId) -> RunAddress {
    RunAddress { run, access: access(), workflow: None }
}

/// A canceled run accepts no more answers; a repeated answer gets the same response, and the run can be
/// inspected.
#[test]
fn a_canceled_run_is_over_and_stays_so() {
    let (library, world) = (DefinitionFolder::new(), TestWorld::with_memory_store());
    let (first, second, noted) = world.run_to_completion(no_programs(), async |process| {
        let guide = library.guided_runs_in(&world, &process);
        let first = start_three(&guide).await;
        let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
        let noted = guide
            .record_node_checkpoint(&access(), first.run, first.node, "n", render_stamp())
            .await
            .unwrap();
        let view = process.cancel_run(&address(first.run)).await.unwrap();
        assert_eq!(view.state, StateName::Canceled);
        (first, second, noted)
    });
    assert!(!noted.is_repeat);
    world.run_to_completion(no_programs(), async |process| {
        let guide = library.guided_runs_in(&world, &process);
        let ended = GuidedRunError::Ended { run: first.run, state: StateName::Canceled };
        let sent = answer_request(&second, output_inputs(json!({ "n": 1 })));
        assert_eq!(advance(&guide, sent).await, Err(ended.clone()));
        assert_eq!(
            advance(&guide, answer_request(&first, AttemptInputs::default())).await,
            Ok(second.clone())
        );
        let look = guide.inspect_node(&access(), second.run, second.node, render_stamp()).await.unwrap();
        assert_eq!((&look.pending, look.ack), (&second.pending, None), "there is no answering it");
        let over = look.blocked.unwrap();
        assert_eq!(over.code, "run-ended");
        assert!(over.message.contains("was canceled"), "{over:?}");
        let fresh = guide.record_node_checkpoint(&access(), first.run, first.node, "m", render_stamp()).await;
        assert_eq!(fresh, Err(ended.clone()));
        let known = guide.record_node_checkpoint(&access(), first.run, first.node, "n", render_stamp()).await;
        assert!(known.unwrap().is_repeat);
        assert_eq!(guide.migrate_to_current_definition(&access(), first.run).await, Err(ended));
    });
}

/// Through restarts, messages and reads of the engine, only the agent's answers are recorded, and no row ever
/// says that there is a program to drive.
#[test]
fn the_engine_never_drives_a_guided_run() {
    let (library, world) = (DefinitionFolder::new(), TestWorld::with_memory_store());
    let rows = async |process: &trackway_testkit::TestProcess| {
        process.list_runs(RunFilter::default(), None, 10).await.unwrap()
    };
    let second = world.run_to_completion(no_programs(), async |process| {
        let guide = library.guided_runs_in(&world, &process);
        let first = start_three(&guide).await;
        let second = advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap();
        let view = process.current_run_view(&address(first.run)).await.unwrap();
        assert_eq!(view.state, StateName::Working);
        let deliver = DeliverMessageRequest {
            to: address(first.run),
            session: None,
            message: user_message("m1", Part::text("how is it going?")),
            question: None,
            hook: None,
        };
        process.deliver_message(deliver).await.unwrap();
        second
    });
    for _ in 0..2 {
        world.run_to_completion(no_programs(), async |process| {
            process.current_run_view(&address(second.run)).await.unwrap();
            for row in rows(&process).await {
                assert_eq!((row.state, row.runnable), (StateName::Working, false));
                assert!(!row.parked);
            }
            assert!(!process.faults.reached_points().contains(&"effect:drive"));
            assert!(!process.faults.reached_points().contains(&"recovery:run"));
        });
    }
    world.run_to_completion(no_programs(), async |process| {
        let guide = library.guided_runs_in(&world, &process);
        advance_to_end(&guide, second.clone()).await;
        let view = process.current_run_view(&address(second.run)).await.unwrap();
        assert_eq!(view.state, StateName::Completed);
        assert_eq!(rows(&process).await[0].state, StateName::Completed);
        let log = load_events(&*process.journal, second.run).await;
        let told = ["opened", "attempted", "noted", "attempted", "attempted", "completed"];
        assert_eq!(event_names(&log)[2..], told);
    });
}

/// Counts how often the events of a run are read.
#[derive(Debug, Default)]
struct EventReads(AtomicUsize);

impl JournalInterceptor for EventReads {
    fn before_read(&self, run: Option<RunId>) -> PortFuture<'_, ()> {
        self.0.fetch_add(usize::from(run.is_some()), Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

/// A watcher in the engine of the same process sees what a guide records. The engine takes it from the
/// append, and reads nothing for it.
#[test]
fn watcher_of_a_guided_run_gets_every_event() {
    let (library, world) = (DefinitionFolder::new(), TestWorld::with_memory_store());
    let reads = Arc::new(EventReads::default());
    world.run_to_completion(
        ProcessSetup::from(no_programs()).with_interceptor(reads.clone()),
        async |process| {
            let guide = library.guided_runs_in(&world, &process);
            let first = start_three(&guide).await;
            let mut watch = process.watch_run(&address(first.run), 0).await.unwrap();
            let mut seen = Vec::new();
            let mut next = async |count: usize| {
                for _ in 0..count {
                    let stored = watch.next_event().await.unwrap().expect("the run goes on");
                    seen.push(stored.event.event_name());
                }
                seen.clone()
            };
            assert_eq!(next(3).await, ["submitted", "started", "opened"]);
            reads.0.store(0, Ordering::SeqCst);
            // The watcher waits while the guide records.
            let (seen, second) = tokio::join!(next(1), async {
                tokio::task::yield_now().await;
                advance(&guide, answer_request(&first, AttemptInputs::default())).await.unwrap()
            });
            assert_eq!(seen.last(), Some(&"attempted"));
            advance_to_end(&guide, second).await;
            assert_eq!(next(3).await[4..], ["attempted", "attempted", "completed"]);
            assert_eq!(watch.next_event().await.unwrap(), None);
            assert_eq!(reads.0.load(Ordering::SeqCst), 3, "the guide reads for each of three answers");
            let view = process.current_run_view(&address(first.run)).await.unwrap();
            assert_eq!((view.state, view.seq), (StateName::Completed, 7));
        },
    );
}
