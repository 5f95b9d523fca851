//! Watching: every event once and in order, and nothing before it is durable.

use std::sync::Arc;

use trackway_domain::Event;
use trackway_ports::StoredEvent;
use trackway_runtime::RunWatch;
use trackway_testkit::{PausingInterceptor, ProcessSetup, TestProcess, TestWorld, local_run_address};

use crate::support::{Probe, load_log, start, wait_for_event, wait_until_ended};

/// Enough that the newest events in memory are only a part of them.
const EVENTS: u32 = 300;

workflow!(Counts, "counts", |probe, ctx, count: u32| -> () {
    for number in 0..count {
        ctx.status(number.to_string()).await;
        if number == count / 2 {
            probe.wait_at_gate("half").await;
        }
    }
    Ok(())
});

async fn remaining_events(watch: &mut RunWatch) -> Vec<StoredEvent> {
    let mut seen = Vec::new();
    while let Some(stored) = watch.next_event().await.unwrap() {
        seen.push(stored);
    }
    seen
}

async fn watch_from(process: &TestProcess, run: trackway_domain::RunId, after: u64) -> Vec<StoredEvent> {
    remaining_events(&mut process.watch_run(&local_run_address(run), after).await.unwrap()).await
}

/// Proves L8, L13.
#[test]
fn every_watcher_sees_every_event_once_and_in_order() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    world.run_to_completion(registry![Counts(probe.clone())], async |process| {
        let run = start(&process, "counts", EVENTS).await;
        let early: Vec<_> = (0..50)
            .map(|_| {
                tokio::spawn({
                    let process = process.clone();
                    async move { watch_from(&process, run, 0).await }
                })
            })
            .collect();
        let mut slow = process.watch_run(&local_run_address(run), 0).await.unwrap();
        let first = slow.next_event().await.unwrap().unwrap();
        probe.wait_for_mark("at half", 1).await;
        let middle = tokio::spawn({
            let process = process.clone();
            async move {
                let pos = process.current_run_view(&local_run_address(run)).await.unwrap().pos;
                (pos, watch_from(&process, run, pos).await)
            }
        });
        probe.open_gate("half");
        wait_until_ended(&process, run).await;
        let log = load_log(&process, run).await;
        assert_eq!(log.len() as u32, EVENTS + 3);
        assert!(log.iter().zip(1..).all(|(stored, seq)| stored.seq == seq));
        assert!(log.is_sorted_by(|a, b| a.pos < b.pos));
        for watcher in early {
            assert_eq!(watcher.await.unwrap(), log);
        }
        assert_eq!(first, log[0]);
        assert_eq!(remaining_events(&mut slow).await, log[1..], "one that pulls only after the end");
        let (pos, seen) = middle.await.unwrap();
        let after: Vec<_> = log.iter().filter(|stored| stored.pos > pos).cloned().collect();
        assert_eq!(seen, after);
        drop(slow);
        process.wait_until_quiet().await;
    });
}

/// Proves L8, X2.
#[test]
fn a_watch_goes_on_by_position_after_a_restart() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let (run, seen) = world.run_to_completion(registry![Counts(probe.clone())], async |process| {
        let run = start(&process, "counts", EVENTS).await;
        let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
        let mut seen = Vec::new();
        for _ in 0..100 {
            seen.push(watch.next_event().await.unwrap().unwrap());
        }
        (run, seen)
    });
    probe.open_gate("half");
    world.run_to_completion(registry![Counts(probe)], async |process| {
        let mut seen = seen;
        let after = seen.last().unwrap().pos;
        seen.extend(watch_from(&process, run, after).await);
        let log = load_log(&process, run).await;
        assert_eq!(seen, log);
        for stored in [&log[0], &log[150], log.last().unwrap()] {
            let after: Vec<_> = log.iter().filter(|other| other.pos > stored.pos).cloned().collect();
            assert_eq!(watch_from(&process, run, stored.pos).await, after);
        }
    });
}

/// Proves L8.
#[test]
fn nothing_is_seen_or_answered_before_its_commit() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![Counts(probe.clone())]).with_interceptor(gate.clone());
    world.run_to_completion(setup, async |process| {
        gate.pause_appends(|_| true);
        let submitting = tokio::spawn({
            let process = process.clone();
            async move { start(&process, "counts", 4).await }
        });
        gate.wait_for_paused_appends(1).await;
        assert!(!submitting.is_finished());
        let none = process.list_runs(Default::default(), None, 1).await.unwrap();
        assert_eq!(none, [], "not even in a list");
        gate.resume_appends();
        let run = submitting.await.unwrap();
        probe.wait_for_mark("at half", 1).await;
        let last = |event: &Event| matches!(event, Event::Status { message, .. } if message.parts[0].as_text() == Some("2"));
        wait_for_event(&process, run, last).await;

        // Now its yields are withheld: they are emitted, but not visible.
        let mut watch =
            process.watch_run(&local_run_address(run), process.current_run_view(&local_run_address(run)).await.unwrap().pos).await.unwrap();
        gate.pause_appends(|_| true);
        probe.open_gate("half");
        gate.wait_for_paused_appends(1).await;
        let seq = process.current_run_view(&local_run_address(run)).await.unwrap().seq;
        let canceling = tokio::spawn({
            let process = process.clone();
            async move { process.cancel_run(&local_run_address(run)).await }
        });
        {
            let (next, patience) = (std::pin::pin!(watch.next_event()), std::pin::pin!(yields(100)));
            let waited = futures_util::future::select(next, patience).await;
            assert!(matches!(waited, futures_util::future::Either::Right(_)), "nothing to see yet");
        }
        assert!(!canceling.is_finished(), "a refusal rests on what is not durable yet, too");
        assert_eq!(process.current_run_view(&local_run_address(run)).await.unwrap().seq, seq);
        assert_eq!(load_log(&process, run).await.len() as u64, seq);
        gate.resume_appends();
        let _ = canceling.await.unwrap();
        let rest = remaining_events(&mut watch).await;
        assert_eq!(rest.first().unwrap().seq, seq + 1);
    });
}

async fn yields(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}
