//! Decisions that the store refuses after they were made: no caller hangs, and nothing is lost.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use trackway_domain::RunId;
use trackway_runtime::{DeliverMessageResponse, Error};
use trackway_testkit::{PausingInterceptor, ProcessSetup, TestProcess, TestWorld, local_run_address};

use crate::support::{Probe, answer, event_names, start, wait_for_event, wait_until_ended, wait_until_idle};

const MINUTE: Duration = Duration::from_secs(60);

workflow!(Listens, "listens", |_probe, ctx, _input: Value| -> u32 {
    let answer: u32 = ctx.ask("Well?").await;
    // A decision after the answer finds a run that continues.
    ctx.step("think", |_| async { Ok::<_, std::io::Error>(()) }).await?;
    Ok(answer)
});

/// Proves L8, L13, X5.
///
/// The same message id sent to two runs at once: the second is refused by the store after it was
/// decided. Watchers of that run, and callers with later messages, must not hang.
#[test]
fn a_decision_that_the_store_refuses_leaves_no_watcher_and_no_caller_behind() {
    let world = TestWorld::with_memory_store();
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![Listens(Probe::new())]).with_interceptor(gate.clone());
    world.run_to_completion(setup, async |process| {
        let taken = start(&process, "listens", Value::Null).await;
        let loser = start(&process, "listens", Value::Null).await;
        for run in [taken, loser] {
            wait_until_idle(&process, run).await;
        }
        process.wait_until_quiet().await;
        let mut watch = process.watch_run(&local_run_address(loser), 0).await.unwrap();
        gate.pause_appends(|append| append.message_claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.wait_for_paused_appends(1).await;
        let second = send(&process, loser, "same", json!(1));
        gate.wait_for_paused_appends(2).await;
        let again = send(&process, loser, "same", json!(1));
        let other = send(&process, loser, "other", json!("wrong"));
        gate.wait_for_paused_appends(3).await;
        gate.resume_appends();
        first.await.unwrap().unwrap();
        for reused in [second, again] {
            let reused = reused.await.unwrap();
            assert!(matches!(reused, Err(Error::MessageReused { .. })), "{reused:?}");
        }
        other.await.unwrap().unwrap();
        answer(&process, loser, "valid", 2).await.unwrap();
        let mut seen = Vec::new();
        while let Some(stored) = watch.next_event().await.unwrap() {
            seen.push(stored.event.event_name());
        }
        assert_eq!(seen, ["submitted", "started", "asked", "refused", "resumed", "step-done", "completed"]);
        assert_eq!(wait_until_ended(&process, loser).await.output, json!(2));
        drop(watch);
        process.wait_until_quiet().await;
    });
}

workflow!(Proceeds, "proceeds", |probe, ctx, _input: Value| -> u32 {
    ctx.status("one").await;
    probe.wait_at_gate("go").await;
    ctx.status("two").await;
    Ok(7)
});

/// Proves L10, L13.
///
/// As above, with a program that ends on top of the refused decision: its end must not be lost.
#[test]
fn a_program_that_ends_on_top_of_a_refused_decision_ends_all_the_same() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![Listens(Probe::new()), Proceeds(probe.clone())])
        .with_interceptor(gate.clone());
    world.run_to_completion(setup, async |process| {
        let taken = start(&process, "listens", Value::Null).await;
        wait_until_idle(&process, taken).await;
        let run = start(&process, "proceeds", Value::Null).await;
        probe.wait_for_mark("at go", 1).await;
        wait_for_event(&process, run, |event| event.event_name() == "status").await;
        gate.pause_appends(|append| append.message_claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.wait_for_paused_appends(1).await;
        let second = send(&process, run, "same", json!(1));
        gate.wait_for_paused_appends(2).await;
        probe.open_gate("go");
        // The refused message; the second status with the end.
        gate.wait_for_paused_appends(3).await;
        gate.resume_appends();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap_err();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(7));
        let expected = ["submitted", "started", "status", "status", "completed"];
        assert_eq!(event_names(&process, run).await, expected);
    });
}

workflow!(Hesitates, "hesitates", |probe, ctx, _input: Value| -> u32 {
    probe.mark("taken up");
    if probe.count("taken up") == 2 {
        std::future::pending::<()>().await;
    }
    ctx.sleep(MINUTE).await;
    Ok(7)
});

/// Proves L13, X2.
///
/// A refused decision makes the runtime load a program that only waits. A timer that fires in the
/// meantime must be found after a crash, although the stored row said that there is nothing to drive.
#[test]
fn timer_of_a_needlessly_activated_program_survives_a_crash() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let registry = || registry![Listens(Probe::new()), Hesitates(probe.clone())];
    let gate = Arc::new(PausingInterceptor::new());
    let setup =
        ProcessSetup { recover: false, ..ProcessSetup::from(registry()).with_interceptor(gate.clone()) };
    let run = world.run_to_completion(setup, async |process| {
        let taken = start(&process, "listens", Value::Null).await;
        wait_until_idle(&process, taken).await;
        let run = start(&process, "hesitates", Value::Null).await;
        wait_for_event(&process, run, |event| event.event_name() == "slept").await;
        process.wait_until_quiet().await;
        gate.pause_appends(|append| append.message_claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.wait_for_paused_appends(1).await;
        let second = send(&process, run, "same", json!(1));
        gate.wait_for_paused_appends(2).await;
        gate.resume_appends();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap_err();
        probe.wait_for_mark("taken up", 2).await;
        process.clock.advance(MINUTE);
        wait_for_event(&process, run, |event| event.event_name() == "woke").await;
        run
    });
    world.run_to_completion(registry(), async |process| {
        assert_eq!(wait_until_ended(&process, run).await.output, json!(7));
    });
}

/// Sends concurrently with the rest of the test.
pub(crate) fn send(
    process: &TestProcess,
    run: RunId,
    id: &'static str,
    value: Value,
) -> JoinHandle<Result<DeliverMessageResponse, Error>> {
    let process = process.clone();
    tokio::spawn(async move { answer(&process, run, id, value).await })
}
