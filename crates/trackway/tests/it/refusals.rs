//! Decisions that the store refuses after they were made: no caller hangs, and nothing is lost.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use trackway_domain::RunId;
use trackway_runtime::{Answered, Error};
use trackway_testkit::{Gate, Process, Setup, World, at};

use crate::kit::{Probe, answer, ended, names, settled, start, until};

const MINUTE: Duration = Duration::from_secs(60);

workflow!(Listens, "listens", |_probe, ctx, _input: Value| -> u32 {
    let answer: u32 = ctx.ask("Well?").await;
    // What is decided on top of the answer finds a run that goes on.
    ctx.step("think", |_| async { Ok::<_, std::io::Error>(()) }).await?;
    Ok(answer)
});

/// Proves L8, L13, X5.
///
/// The same message id sent to two runs at once: the second is refused by the store after it was
/// decided. Watchers of that run, and callers with later messages, must not hang.
#[test]
fn a_decision_that_the_store_refuses_leaves_no_watcher_and_no_caller_behind() {
    let world = World::memory();
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Listens(Probe::new())]).tap(gate.clone());
    world.run(setup, async |process| {
        let taken = start(&process, "listens", Value::Null).await;
        let loser = start(&process, "listens", Value::Null).await;
        for run in [taken, loser] {
            settled(&process, run).await;
        }
        process.quiet().await;
        let mut watch = process.watch(&at(loser), 0).await.unwrap();
        gate.hold(|append| append.claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.withheld(1).await;
        let second = send(&process, loser, "same", json!(1));
        gate.withheld(2).await;
        let again = send(&process, loser, "same", json!(1));
        let other = send(&process, loser, "other", json!("wrong"));
        gate.withheld(3).await;
        gate.release();
        first.await.unwrap().unwrap();
        for reused in [second, again] {
            let reused = reused.await.unwrap();
            assert!(matches!(reused, Err(Error::MessageReused { .. })), "{reused:?}");
        }
        other.await.unwrap().unwrap();
        answer(&process, loser, "valid", 2).await.unwrap();
        let mut seen = Vec::new();
        while let Some(stored) = watch.next().await.unwrap() {
            seen.push(stored.event.name());
        }
        assert_eq!(
            seen,
            ["submitted", "started", "asked", "refused", "resumed", "step-done", "completed"]
        );
        assert_eq!(ended(&process, loser).await.output, json!(2));
        drop(watch);
        process.quiet().await;
    });
}

workflow!(Proceeds, "proceeds", |probe, ctx, _input: Value| -> u32 {
    ctx.status("one").await;
    probe.gate("go").await;
    ctx.status("two").await;
    Ok(7)
});

/// Proves L10, L13.
///
/// As above, with a program that ends on top of the refused decision: its end must not be lost.
#[test]
fn a_program_that_ends_on_top_of_a_refused_decision_ends_all_the_same() {
    let (world, probe) = (World::memory(), Probe::new());
    let gate = Arc::new(Gate::new());
    let setup =
        Setup::from(registry![Listens(Probe::new()), Proceeds(probe.clone())]).tap(gate.clone());
    world.run(setup, async |process| {
        let taken = start(&process, "listens", Value::Null).await;
        settled(&process, taken).await;
        let run = start(&process, "proceeds", Value::Null).await;
        probe.until("at go", 1).await;
        until(&process, run, |event| event.name() == "status").await;
        gate.hold(|append| append.claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.withheld(1).await;
        let second = send(&process, run, "same", json!(1));
        gate.withheld(2).await;
        probe.open("go");
        // The refused message; the second status with the end.
        gate.withheld(3).await;
        gate.release();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap_err();
        assert_eq!(ended(&process, run).await.output, json!(7));
        let expected = ["submitted", "started", "status", "status", "completed"];
        assert_eq!(names(&process, run).await, expected);
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
fn a_timer_that_fires_for_a_program_that_was_taken_up_for_nothing_survives_a_crash() {
    let (world, probe) = (World::memory(), Probe::new());
    let registry = || registry![Listens(Probe::new()), Hesitates(probe.clone())];
    let gate = Arc::new(Gate::new());
    let setup = Setup { recover: false, ..Setup::from(registry()).tap(gate.clone()) };
    let run = world.run(setup, async |process| {
        let taken = start(&process, "listens", Value::Null).await;
        settled(&process, taken).await;
        let run = start(&process, "hesitates", Value::Null).await;
        until(&process, run, |event| event.name() == "slept").await;
        process.quiet().await;
        gate.hold(|append| append.claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.withheld(1).await;
        let second = send(&process, run, "same", json!(1));
        gate.withheld(2).await;
        gate.release();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap_err();
        probe.until("taken up", 2).await;
        process.clock.advance(MINUTE);
        until(&process, run, |event| event.name() == "woke").await;
        run
    });
    world.run(registry(), async |process| {
        assert_eq!(ended(&process, run).await.output, json!(7));
    });
}

/// Sends concurrently with the rest of the test.
pub(crate) fn send(
    process: &Process,
    run: RunId,
    id: &'static str,
    value: Value,
) -> JoinHandle<Result<Answered, Error>> {
    let process = process.clone();
    tokio::spawn(async move { answer(&process, run, id, value).await })
}
