//! Watching: every event once and in order, and nothing before it is durable.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::Event;
use trackway_ports::Stored;
use trackway_runtime::{Error, Watch};
use trackway_testkit::{Gate, Process, Setup, World, at};

use crate::kit::{Probe, answer, ended, log, settled, start, until};

/// Enough that the newest events in memory are only a part of them.
const EVENTS: u32 = 300;

workflow!(Counts, "counts", |probe, ctx, count: u32| -> () {
    for number in 0..count {
        ctx.status(number.to_string()).await;
        if number == count / 2 {
            probe.gate("half").await;
        }
    }
    Ok(())
});

async fn rest(watch: &mut Watch) -> Vec<Stored> {
    let mut seen = Vec::new();
    while let Some(stored) = watch.next().await.unwrap() {
        seen.push(stored);
    }
    seen
}

async fn watched(process: &Process, run: trackway_domain::RunId, after: u64) -> Vec<Stored> {
    rest(&mut process.watch(&at(run), after).await.unwrap()).await
}

/// Proves L8, L13.
#[test]
fn every_watcher_sees_every_event_once_and_in_order() {
    let (world, probe) = (World::sqlite(), Probe::new());
    world.run(registry![Counts(probe.clone())], async |process| {
        let run = start(&process, "counts", EVENTS).await;
        let early: Vec<_> = (0..50)
            .map(|_| {
                tokio::spawn({
                    let process = process.clone();
                    async move { watched(&process, run, 0).await }
                })
            })
            .collect();
        let mut slow = process.watch(&at(run), 0).await.unwrap();
        let first = slow.next().await.unwrap().unwrap();
        probe.until("at half", 1).await;
        let middle = tokio::spawn({
            let process = process.clone();
            async move {
                let pos = process.view(&at(run)).await.unwrap().pos;
                (pos, watched(&process, run, pos).await)
            }
        });
        probe.open("half");
        ended(&process, run).await;
        let log = log(&process, run).await;
        assert_eq!(log.len() as u32, EVENTS + 3);
        assert!(log.iter().zip(1..).all(|(stored, seq)| stored.seq == seq));
        assert!(log.is_sorted_by(|a, b| a.pos < b.pos));
        for watcher in early {
            assert_eq!(watcher.await.unwrap(), log);
        }
        assert_eq!(first, log[0]);
        assert_eq!(rest(&mut slow).await, log[1..], "one that pulls only after the end");
        let (pos, seen) = middle.await.unwrap();
        let after: Vec<_> = log.iter().filter(|stored| stored.pos > pos).cloned().collect();
        assert_eq!(seen, after);
        drop(slow);
        process.quiet().await;
    });
}

/// Proves L8, X2.
#[test]
fn a_watch_goes_on_by_position_after_a_restart() {
    let (world, probe) = (World::sqlite(), Probe::new());
    let (run, seen) = world.run(registry![Counts(probe.clone())], async |process| {
        let run = start(&process, "counts", EVENTS).await;
        let mut watch = process.watch(&at(run), 0).await.unwrap();
        let mut seen = Vec::new();
        for _ in 0..100 {
            seen.push(watch.next().await.unwrap().unwrap());
        }
        (run, seen)
    });
    probe.open("half");
    world.run(registry![Counts(probe)], async |process| {
        let mut seen = seen;
        let after = seen.last().unwrap().pos;
        seen.extend(watched(&process, run, after).await);
        let log = log(&process, run).await;
        assert_eq!(seen, log);
        for stored in [&log[0], &log[150], log.last().unwrap()] {
            let after: Vec<_> =
                log.iter().filter(|other| other.pos > stored.pos).cloned().collect();
            assert_eq!(watched(&process, run, stored.pos).await, after);
        }
    });
}

/// Proves L8.
#[test]
fn nothing_is_seen_or_answered_before_its_commit() {
    let (world, probe) = (World::memory(), Probe::new());
    let gate = Arc::new(Gate::new());
    let setup = Setup::from(registry![Counts(probe.clone())]).tap(gate.clone());
    world.run(setup, async |process| {
        gate.hold(|_| true);
        let submitting = tokio::spawn({
            let process = process.clone();
            async move { start(&process, "counts", 4).await }
        });
        gate.withheld(1).await;
        assert!(!submitting.is_finished());
        let none = process.runs(Default::default(), None, 1).await.unwrap();
        assert_eq!(none, [], "not even in a list");
        gate.release();
        let run = submitting.await.unwrap();
        probe.until("at half", 1).await;
        let last = |event: &Event| matches!(event, Event::Status { message, .. } if message.parts[0].as_text() == Some("2"));
        until(&process, run, last).await;

        // Now its yields are withheld: they are said, but not seen.
        let mut watch =
            process.watch(&at(run), process.view(&at(run)).await.unwrap().pos).await.unwrap();
        gate.hold(|_| true);
        probe.open("half");
        gate.withheld(3).await;
        let seq = process.view(&at(run)).await.unwrap().seq;
        let canceling = tokio::spawn({
            let process = process.clone();
            async move { process.cancel(&at(run)).await }
        });
        {
            let (next, patience) = (std::pin::pin!(watch.next()), std::pin::pin!(yields(100)));
            let waited = futures_util::future::select(next, patience).await;
            assert!(matches!(waited, futures_util::future::Either::Right(_)), "nothing to see yet");
        }
        assert!(!canceling.is_finished(), "a refusal rests on what is not durable yet, too");
        assert_eq!(process.view(&at(run)).await.unwrap().seq, seq);
        assert_eq!(log(&process, run).await.len() as u64, seq);
        gate.release();
        let _ = canceling.await.unwrap();
        let rest = rest(&mut watch).await;
        assert_eq!(rest.first().unwrap().seq, seq + 1);
    });
}

async fn yields(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

workflow!(Listens, "listens", |_probe, ctx, _input: Value| -> u32 {
    let answer: u32 = ctx.ask("Well?").await;
    Ok(answer)
});

/// The same message id sent to two runs at once: the second is refused by the store after it was
/// decided. Whoever watches that run, and whoever sent something behind it, must not be left hanging.
///
/// Proves L8, L13, X5.
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
        let send = |run, id: &'static str, value: Value| {
            let process = process.clone();
            tokio::spawn(async move { answer(&process, run, id, value).await })
        };
        let first = send(taken, "same", json!(1));
        gate.withheld(1).await;
        let second = send(loser, "same", json!(1));
        gate.withheld(2).await;
        let again = send(loser, "same", json!(1));
        let other = send(loser, "other", json!("wrong"));
        gate.withheld(3).await;
        gate.release();
        first.await.unwrap().unwrap();
        for reused in [second, again] {
            let reused = reused.await.unwrap();
            assert!(matches!(reused, Err(Error::MessageReused { .. })), "{reused:?}");
        }
        other.await.unwrap().unwrap();
        answer(&process, loser, "valid", 2).await.unwrap();
        let seen: Vec<_> =
            rest(&mut watch).await.iter().map(|stored| stored.event.name()).collect();
        assert_eq!(seen, ["submitted", "started", "asked", "refused", "resumed", "completed"]);
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

/// As above, with a program that ends on top of the refused decision: its end must not be lost.
///
/// Proves L10, L13.
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
        let send = |run| {
            let process = process.clone();
            tokio::spawn(async move { answer(&process, run, "same", 1).await })
        };
        let first = send(taken);
        gate.withheld(1).await;
        let second = send(run);
        gate.withheld(2).await;
        probe.open("go");
        // The refused message, the second status, the end.
        gate.withheld(4).await;
        gate.release();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap_err();
        assert_eq!(ended(&process, run).await.output, json!(7));
        let names: Vec<_> =
            log(&process, run).await.iter().map(|stored| stored.event.name()).collect();
        assert_eq!(names, ["submitted", "started", "status", "status", "completed"]);
    });
}
