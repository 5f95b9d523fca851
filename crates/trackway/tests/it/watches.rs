//! Watching: every event once and in order, and nothing before it is durable.

use std::sync::Arc;

use trackway_domain::Event;
use trackway_ports::Stored;
use trackway_runtime::Watch;
use trackway_testkit::{Gate, Process, Setup, World, at};

use crate::kit::{Probe, ended, log, start, until};

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

        // Now its yields are withheld: they are emitted, but not visible.
        let mut watch =
            process.watch(&at(run), process.view(&at(run)).await.unwrap().pos).await.unwrap();
        gate.hold(|_| true);
        probe.open("half");
        gate.withheld(1).await;
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
