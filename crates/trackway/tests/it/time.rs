//! Sleeping, and things that must be the same on every replay.

use std::time::Duration;

use serde_json::{Value, json};
use trackway_domain::{Event, StateName};
use trackway_testkit::{ProcessSetup, TestWorld};

use crate::support::{Probe, answer, start, wait_for_event, wait_until_ended, wait_until_idle};

const HOUR: Duration = Duration::from_secs(3_600);

workflow!(Naps, "naps", |probe, ctx, _input: Value| -> () {
    let _gone = probe.guard("gone");
    ctx.status("good night").await;
    ctx.sleep(HOUR).await;
    ctx.status("good morning").await;
    Ok(())
});

/// Proves X2.
#[test]
fn a_sleep_goes_on_while_no_process_runs() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let setup = ProcessSetup { recover: false, ..registry![Naps(probe.clone())].into() };
    let run = world.run_to_completion(setup, async |process| {
        let run = start(&process, "naps", Value::Null).await;
        probe.wait_for_mark("gone", 1).await;
        process.wait_until_quiet().await;
        run
    });
    world.clock.advance(HOUR);
    world.run_to_completion(registry![Naps(probe.clone())], async |process| {
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
    });
    assert_eq!(probe.count("gone"), 2, "it was dropped, and taken up again once");
}

/// Issue 11: a caller that waits for a run waits no longer than the limit, and then gets the
/// current state of the run.
#[test]
fn waiting_for_a_run_ends_with_its_limit() {
    let world = TestWorld::with_memory_store();
    world.run_to_completion(registry![Naps(Probe::new())], async |process| {
        let run = start(&process, "naps", Value::Null).await;
        let view = process.current_run_view(&trackway_testkit::local_run_address(run)).await.unwrap();
        let limit = Duration::from_secs(60);
        let mut waiting = std::pin::pin!(process.wait_until_run_idle_or_timeout(view, limit));
        // It waits from its first poll on.
        assert!(futures_util::poll!(&mut waiting).is_pending());
        wait_for_event(&process, run, |event| matches!(event, Event::Slept { .. })).await;
        process.clock.advance(limit - Duration::from_millis(1));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        process.clock.advance(Duration::from_millis(1));
        let view = waiting.await.unwrap();
        assert_eq!(view.state, StateName::Working);
        let text = view.status_message().unwrap().parts[0].as_text();
        assert_eq!(text, Some("good night"));
    });
}

/// Proves X2.
#[test]
fn a_sleep_does_not_end_before_its_time() {
    let world = TestWorld::with_memory_store();
    world.run_to_completion(registry![Naps(Probe::new())], async |process| {
        let early = start(&process, "naps", Value::Null).await;
        wait_for_event(&process, early, |event| matches!(event, Event::Slept { .. })).await;
        process.clock.advance(HOUR / 2);
        let late = start(&process, "naps", Value::Null).await;
        wait_for_event(&process, late, |event| matches!(event, Event::Slept { .. })).await;
        process.clock.advance(HOUR / 2);
        assert_eq!(wait_until_ended(&process, early).await.state, StateName::Completed);
        // The early one's timer has fired, so the late one's would have if it were due.
        assert_eq!(
            process.current_run_view(&trackway_testkit::local_run_address(late)).await.unwrap().state,
            StateName::Working
        );
        process.clock.advance(HOUR / 2);
        assert_eq!(wait_until_ended(&process, late).await.state, StateName::Completed);
    });
}

workflow!(Draws, "draws", |probe, ctx, _input: Value| -> Value {
    let drawn = (ctx.now().await.millis(), ctx.random().await, ctx.random().await, ctx.now().await.millis());
    probe.mark(format!("{drawn:?}"));
    ctx.ask::<()>("Go on?").await;
    Ok(json!([drawn.0, drawn.1, drawn.2]))
});

/// Proves X2.
#[test]
fn a_moment_and_a_random_number_are_the_same_on_every_replay() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Draws(probe.clone())], async |process| {
        let run = start(&process, "draws", Value::Null).await;
        wait_until_idle(&process, run).await;
        run
    });
    world.clock.advance(HOUR);
    world.run_to_completion(registry![Draws(probe.clone())], async |process| {
        answer(&process, run, "a", Value::Null).await.unwrap();
        let output = wait_until_ended(&process, run).await.output;
        assert_ne!(output[1], output[2], "two draws are two numbers");
    });
    let marks = probe.marks();
    assert!(marks.len() >= 2);
    assert!(marks.iter().all(|mark| *mark == marks[0]), "{marks:?}");
}

workflow!(Sleepers, "sleepers", |_probe, ctx, seconds: u64| -> () {
    ctx.sleep(Duration::from_secs(seconds)).await;
    Ok(())
});

/// Proves X2.
#[test]
fn a_thousand_sleepers_wake_when_their_time_comes_and_none_is_forgotten() {
    let world = TestWorld::with_sqlite_store();
    let runs = world.run_to_completion(registry![Sleepers(Probe::new())], async |process| {
        let mut runs = Vec::new();
        for number in 0..1_000 {
            runs.push(start(&process, "sleepers", 1 + number % 3).await);
        }
        for run in &runs {
            wait_for_event(&process, *run, |event| matches!(event, Event::Slept { .. })).await;
        }
        process.wait_until_quiet().await;
        process.clock.advance(Duration::from_secs(1));
        wait_until_ended(&process, runs[0]).await;
        runs
    });
    world.clock.advance(HOUR);
    world.run_to_completion(registry![Sleepers(Probe::new())], async |process| {
        for run in runs {
            assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
        }
        let none = process.journal.next_timer_due(Default::default()).await.unwrap();
        assert_eq!(none, None, "every timer is gone");
    });
}
