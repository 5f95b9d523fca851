//! A crash at every point of a start, an answer, a blocked answer and a note. After each crash, a call that
//! was in progress is either complete and gets the same response again, or is absent and can be made: never
//! half.

use std::sync::{Arc, Mutex};

use serde_json::json;
use trackway_domain::AttemptInputs;
use trackway_ports::RunFilter;
use trackway_runtime::{GuidedNodeView, GuidedRunError, GuidedRuns};
use trackway_testkit::{CrashAt, ProcessSetup, TestWorld};

use crate::support::{
    DefinitionFolder, access, advance, answer_request, event_names, load_events, no_programs, render_stamp,
    start_request, valid_inputs,
};

/// Far more points than one process reaches; the sweep ends earlier.
const POINTS_MAX: usize = 1_000;

/// The responses that the agent has received, which outlive the process.
#[derive(Debug, Default)]
struct ScriptedAgent {
    told: Mutex<Vec<GuidedNodeView>>,
}

impl ScriptedAgent {
    fn received_views(&self) -> Vec<GuidedNodeView> {
        self.told.lock().unwrap().clone()
    }

    /// The same calls from the beginning, in every process: a start only if none was answered. A response
    /// that was received once must come again.
    async fn run_to_end(&self, guide: &GuidedRuns) {
        let told = self.received_views();
        let first = match told.first() {
            Some(first) => first.clone(),
            None => self.record_view(
                0,
                until_crash(guide.start_guided_run(&access(), start_request("three", &json!({})))).await,
            ),
        };
        let second = self.answer_once(guide, 1, &first, valid_inputs(&first, 1)).await;
        let blocked = self.answer_once(guide, 2, &second, AttemptInputs::default()).await;
        assert!(blocked.blocked.is_some());
        let (me, node) = (access(), second.node);
        until_crash(guide.record_node_checkpoint(&me, first.run, node, "half way", render_stamp())).await;
        let third = self.answer_once(guide, 3, &blocked, valid_inputs(&blocked, 1)).await;
        let end = self.answer_once(guide, 4, &third, valid_inputs(&third, 1)).await;
        assert_eq!(end.pending, None);
        until_crash(guide.record_session_notes(&access(), &end.session, "all done")).await;
    }

    async fn answer_once(
        &self,
        guide: &GuidedRuns,
        place: usize,
        at: &GuidedNodeView,
        inputs: AttemptInputs,
    ) -> GuidedNodeView {
        self.record_view(place, until_crash(advance(guide, answer_request(at, inputs))).await)
    }

    fn record_view(&self, place: usize, position: GuidedNodeView) -> GuidedNodeView {
        let mut told = self.told.lock().unwrap();
        match told.get(place) {
            Some(before) => assert_eq!(*before, position, "what was told is told again"),
            None => told.push(position.clone()),
        }
        position
    }
}

/// The result of a call. In a process that crashes the store fails, and no result arrives.
async fn until_crash<T>(call: impl Future<Output = Result<T, GuidedRunError>>) -> T {
    match call.await {
        Ok(result) => result,
        Err(GuidedRunError::Store { .. }) => std::future::pending().await,
        Err(error) => panic!("{error:?}"),
    }
}

/// One process until its crash. True if the agent completed its calls.
fn run_until_crash(
    world: &TestWorld,
    library: &DefinitionFolder,
    agent: &ScriptedAgent,
    faults: &Arc<CrashAt>,
) -> bool {
    let setup = ProcessSetup::from(no_programs()).with_faults(faults.clone());
    let through = world.run_process(setup, async |process| {
        agent.run_to_end(&library.guided_runs_in(world, &process)).await;
    });
    through.is_some()
}

/// Everything that is recorded: each run is whole, and the one that the agent knows holds each call once.
fn check_log(world: &TestWorld, agent: &ScriptedAgent, at: &str) {
    let run = agent.received_views()[0].run;
    world.inspect_store(async |journal| {
        let told = ["attempted", "attempted", "checkpointed", "attempted", "attempted"];
        let expected = [&["submitted", "started", "opened"], &told[..], &["completed"]].concat();
        assert_eq!(event_names(&load_events(&*journal, run).await), expected, "{at}");
        for row in journal.list_runs(RunFilter::default(), None, 10).await.unwrap() {
            let log = load_events(&*journal, row.id).await;
            let begins: &[&str] = match row.workflow.name.as_str() {
                "session-notes" => &["submitted", "started", "completed", "checkpointed"],
                // A start whose response was lost: a separate run, at its first step.
                _ => &["submitted", "started", "opened"],
            };
            assert_eq!(event_names(&log)[..begins.len()], *begins, "{at}");
            assert!(row.id == run || log.len() == begins.len(), "{at}: nothing more than that");
            assert!(!row.runnable && !row.parked, "{at}");
        }
    });
}

fn crash_sweep(open: fn() -> TestWorld) {
    let library = DefinitionFolder::new();
    for point in 1..POINTS_MAX {
        let (world, agent) = (open(), ScriptedAgent::default());
        let faults = Arc::new(CrashAt::at_any_point(point));
        let through = run_until_crash(&world, &library, &agent, &faults);
        let at = format!("point {point}, {:?}", faults.reached_points().last());
        let last = Arc::new(CrashAt::never_crash());
        assert!(run_until_crash(&world, &library, &agent, &last), "{at}: without a fault it gets through");
        check_log(&world, &agent, &at);
        if through {
            assert!(point > 20, "there are points to crash at: {:?}", faults.reached_points());
            return;
        }
    }
    panic!("it never gets through");
}

/// Proves T4: after a crash too.
#[test]
fn nothing_is_half_recorded_in_memory() {
    crash_sweep(TestWorld::with_memory_store);
}

/// Proves T4: after a crash too.
#[test]
fn nothing_is_half_recorded_on_disk() {
    crash_sweep(TestWorld::with_sqlite_store);
}
