//! Several nodes on one store: one node drives a run, and another takes over when that node is lost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use trackway_domain::{RunId, StateName};
use trackway_ports::{
    Append, AppendCallback, AppendError, Clock as _, InProcessWakeups, Journal, PortFuture,
};
use trackway_runtime::Error;
use trackway_testkit::{
    JournalInterceptor, OutageInterceptor, ProcessSetup, TestProcess, TestWorld, local_run_address,
};

use crate::support::{Probe, answer, event_names, start, start_as, wait_until_ended, wait_until_idle};

const LEASE: Duration = Duration::from_secs(30);

workflow!(Works, "works", |probe, ctx, _input: Value| -> () {
    let _at_work = probe.guard("stopped");
    ctx.step("work", |_| async {
        probe.wait_at_gate("work").await;
        Ok::<_, std::io::Error>(())
    })
    .await?;
    ctx.ask::<()>("Enough?").await;
    probe.mark("answered");
    Ok(())
});

/// Two nodes, each with its own probe.
struct TwoNodes {
    wakeups: Arc<InProcessWakeups>,
    probes: [Probe; 2],
}

impl TwoNodes {
    fn new() -> Self {
        Self { wakeups: Arc::default(), probes: [Probe::new(), Probe::new()] }
    }

    /// The second node, once it holds its lease: before that its runs can be claimed by the first.
    async fn start_second(world: &TestWorld, setup: ProcessSetup) -> TestProcess {
        let node = world.start_second_process(setup);
        node.wait_for_worker_lease().await;
        node
    }

    fn setup(&self, number: usize) -> ProcessSetup {
        let registry = registry![Works(self.probes[number].clone())];
        ProcessSetup::from(registry).as_node_with_lease(LEASE, self.wakeups.clone())
    }
}

/// Cuts a node off from the answers of the store, like a paused process; its appends still reach the
/// store.
#[derive(Debug, Default)]
struct PausedReads(AtomicBool);

impl JournalInterceptor for PausedReads {
    fn before_read(&self, _run: Option<RunId>) -> PortFuture<'_, ()> {
        Box::pin(async {
            if self.0.load(Ordering::Acquire) {
                std::future::pending().await
            }
        })
    }
}

/// Advances the clock past a lease, in steps that let the other nodes renew theirs.
async fn wait_past_lease(world: &TestWorld, other: &TestProcess) {
    for _ in 0..8 {
        let next = world.clock.now() + LEASE / 3;
        world.clock.wait_for_sleeper(next).await;
        world.clock.advance_to(next);
        other.check_store_readable().await.unwrap();
    }
}

/// Proves X3, X2: the runs of a dead node continue on another, which repeats the steps without a record.
#[test]
fn the_runs_of_a_lost_node_go_on_at_another() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let nodes = TwoNodes::new();
        world.run_to_completion(nodes.setup(0), async |stays| {
            let setup = nodes.setup(1);
            let life = setup.faults.process_life().clone();
            let lost = TwoNodes::start_second(&world, setup).await;
            let run = start(&lost, "works", Value::Null).await;
            nodes.probes[1].wait_for_mark("at work", 1).await;
            life.end_process();
            wait_past_lease(&world, &stays).await;
            nodes.probes[0].wait_for_mark("at work", 1).await;
            nodes.probes[0].open_gate("work");
            assert_eq!(wait_until_idle(&stays, run).await.state, StateName::InputRequired);
            answer(&stays, run, "a", Value::Null).await.unwrap();
            assert_eq!(wait_until_ended(&stays, run).await.state, StateName::Completed);
        });
    }
}

/// Proves X3: what a node decides that was paused beyond its lease is not written.
#[test]
fn a_paused_node_writes_nothing_after_its_lease() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let nodes = TwoNodes::new();
        world.run_to_completion(nodes.setup(0), async |stays| {
            let pause = Arc::new(PausedReads::default());
            let paused = TwoNodes::start_second(&world, nodes.setup(1).with_interceptor(pause.clone())).await;
            let run = start(&paused, "works", Value::Null).await;
            nodes.probes[1].wait_for_mark("at work", 1).await;
            pause.0.store(true, Ordering::Release);
            wait_past_lease(&world, &stays).await;
            nodes.probes[0].wait_for_mark("at work", 1).await;
            // It wakes up in the middle of its step, and is first to record it.
            nodes.probes[1].open_gate("work");
            nodes.probes[1].wait_for_mark("stopped", 1).await;
            nodes.probes[0].open_gate("work");
            wait_until_idle(&stays, run).await;
            let names = event_names(&stays, run).await;
            let done = names.iter().filter(|name| **name == "step-done").count();
            assert_eq!(done, 1, "{names:?}");
        });
    }
}

/// Proves X3: a node that cannot renew its lease stops before others take over, and continues later.
#[test]
fn a_node_that_cannot_renew_its_lease_stops_driving() {
    let (world, nodes) = (TestWorld::with_memory_store(), TwoNodes::new());
    let outage = Arc::new(OutageInterceptor::new());
    world.run_to_completion(nodes.setup(0).with_interceptor(outage.clone()), async |process| {
        let probe = &nodes.probes[0];
        process.wait_for_worker_lease().await;
        let run = start(&process, "works", Value::Null).await;
        probe.wait_for_mark("at work", 1).await;
        world.clock.wait_for_sleeper(world.clock.now() + LEASE / 3).await;
        outage.begin_outage();
        // Another worker would take over at the end of the lease; the clock stops before it.
        world.clock.advance(LEASE * 3 / 4);
        probe.wait_for_mark("stopped", 1).await;
        outage.end_outage();
        advance_time_until(&world, probe.wait_for_mark("at work", 2)).await;
        probe.open_gate("work");
        assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
    });
}

/// Proves X3: a lease that was renewed late, but in time, continues.
#[test]
fn a_lease_that_is_renewed_late_is_not_ended() {
    let (world, nodes) = (TestWorld::with_memory_store(), TwoNodes::new());
    let outage = Arc::new(OutageInterceptor::new());
    world.run_to_completion(nodes.setup(0).with_interceptor(outage.clone()), async |process| {
        let probe = &nodes.probes[0];
        process.wait_for_worker_lease().await;
        let begin = world.clock.now();
        let run = start(&process, "works", Value::Null).await;
        probe.wait_for_mark("at work", 1).await;
        world.clock.wait_for_sleeper(begin + LEASE / 3).await;
        outage.begin_outage();
        world.clock.advance_to(begin + LEASE * 2 / 3);
        process.wait_for_task_health("lease", true).await;
        outage.end_outage();
        // Its pause begins after it was marked as failing.
        let renewed = begin + LEASE * 2 / 3 + Duration::from_millis(100);
        world.clock.wait_for_sleeper(renewed).await;
        world.clock.advance_to(renewed);
        process.wait_for_task_health("lease", false).await;
        // The end of the first lease, and later the time to renew the second.
        world.clock.advance_to(begin + LEASE * 3 / 4);
        world.clock.wait_for_sleeper(renewed + LEASE / 3).await;
        world.clock.advance_to(renewed + LEASE / 3);
        world.clock.wait_for_sleeper(renewed + LEASE / 3 + LEASE / 3).await;
        assert_eq!(probe.count("stopped"), 0, "it was driven all the time");
        probe.open_gate("work");
        assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
    });
}

/// Proves X3: any node takes an answer and drives the run on, and a watcher at another sees it.
#[test]
fn an_answer_at_another_node_drives_the_run_there() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let nodes = TwoNodes::new();
        world.run_to_completion(nodes.setup(0), async |first| {
            let second = TwoNodes::start_second(&world, nodes.setup(1)).await;
            nodes.probes[0].open_gate("work");
            first.wait_for_worker_lease().await;
            let run = start(&first, "works", Value::Null).await;
            wait_until_idle(&first, run).await;
            let watched = wait_until_ended(&first, run);
            let answered = async { answer(&second, run, "a", Value::Null).await.unwrap() };
            let (view, _) = tokio::join!(watched, answered);
            assert_eq!(view.state, StateName::Completed);
            assert_eq!(nodes.probes[1].count("answered"), 1);
            assert_eq!(nodes.probes[0].count("answered"), 0);
            second.stop_runtime().await;
        });
    }
}

/// Proves X3, L10: a cancel at one node stops the program at another.
#[test]
fn a_cancel_at_another_node_stops_the_program() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let nodes = TwoNodes::new();
        world.run_to_completion(nodes.setup(0), async |first| {
            let second = TwoNodes::start_second(&world, nodes.setup(1)).await;
            first.wait_for_worker_lease().await;
            let run = start(&first, "works", Value::Null).await;
            nodes.probes[0].wait_for_mark("at work", 1).await;
            let view = second.cancel_run(&local_run_address(run)).await.unwrap();
            assert_eq!(view.state, StateName::Canceled);
            nodes.probes[0].wait_for_mark("stopped", 1).await;
            assert_eq!(wait_until_ended(&first, run).await.state, StateName::Canceled);
            second.stop_runtime().await;
        });
    }
}

/// Commits or does not commit, and loses the answer, for this many appends from this one on.
#[derive(Debug)]
struct LostCommitAnswers {
    commits: bool,
    from: usize,
    count: usize,
    seen: AtomicUsize,
}

impl JournalInterceptor for LostCommitAnswers {
    fn intercept_append(&self, journal: &Arc<dyn Journal>, append: Append, done: AppendCallback) {
        let number = self.seen.fetch_add(1, Ordering::SeqCst);
        if !(self.from..self.from + self.count).contains(&number) {
            return journal.append(append, done);
        }
        let lost = || Err(AppendError::Unknown { reason: "the connection was cut".to_owned() });
        match self.commits {
            true => journal.append(append, Box::new(move |_| done(lost()))),
            false => done(lost()),
        }
    }
}

/// Proves X2: what was committed is answered so though the answer of the store was lost, and done once.
#[test]
fn a_commit_whose_answer_was_lost_is_looked_up() {
    for commits in [true, false] {
        for from in 0..6 {
            for count in [1, 2] {
                lose_answers(commits, from, count);
            }
        }
    }
}

fn lose_answers(commits: bool, from: usize, count: usize) {
    let case = format!("{count} from {from}, committed: {commits}");
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    probe.open_gate("work");
    let tap = LostCommitAnswers { commits, from, count, seen: AtomicUsize::new(0) };
    let setup = ProcessSetup::from(registry![Works(probe.clone())]).with_interceptor(Arc::new(tap));
    world.run_to_completion(setup, async |process| {
        let again = |error: &Error| matches!(error, Error::Unavailable { .. });
        let mut tries = 0;
        let run = loop {
            tries += 1;
            match start_as(&process, "m", "works", Value::Null).await {
                Ok(submitted) => break submitted.view.submission.run,
                Err(error) => assert!(again(&error) && tries < 5, "{case}: {error}"),
            }
        };
        advance_time_until(&world, wait_until_idle(&process, run)).await;
        let mut tries = 0;
        loop {
            tries += 1;
            match advance_time_until(&world, answer(&process, run, "a", Value::Null)).await {
                Ok(_) => break,
                Err(error) => assert!(again(&error) && tries < 5, "{case}: {error}"),
            }
        }
        let view = advance_time_until(&world, wait_until_ended(&process, run)).await;
        assert_eq!(view.state, StateName::Completed, "{case}");
        let runs = process.list_runs(Default::default(), None, 9).await.unwrap();
        assert_eq!(runs.len(), 1, "{case}");
        if commits {
            assert_eq!(probe.count("at work"), 1, "{case}: a step with a record was repeated");
        }
    });
}

/// Advances the clock during the work, because failed work is retried after a pause.
async fn advance_time_until<T>(world: &TestWorld, work: impl Future<Output = T>) -> T {
    let passes = async {
        loop {
            world.clock.advance(Duration::from_millis(100));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        done = work => done,
        never = passes => never,
    }
}
