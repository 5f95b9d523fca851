//! A store that breaks, closes or is damaged under a running process.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use trackway_domain::{Event, StateName};
use trackway_runtime::{Error, HookDeliveryError};
use trackway_testkit::{
    BrokenAfterAppends, OutageInterceptor, PausingInterceptor, ProcessSetup, RecordingMessenger, TestProcess,
    TestWorld, local_run_address, new_test_hook,
};

use crate::support::{Probe, answer, start, wait_until_idle};

workflow!(Works, "works", |probe, ctx, _input: Value| -> () {
    for number in 0..3 {
        ctx.step("work", |_| async {
            probe.mark(format!("work {number}"));
            Ok::<_, std::io::Error>(())
        })
        .await?;
    }
    ctx.ask::<()>("Enough?").await;
    Ok(())
});

/// Proves X2, X5.
///
/// A step whose record cannot be written is not repeated: the process waits for a restart.
#[test]
fn when_the_store_cannot_write_no_side_effect_is_repeated() {
    // The submission, one for each of the first two steps, and the last step with the question.
    for appends in 1..4 {
        let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
        let setup = ProcessSetup::from(registry![Works(probe.clone())])
            .with_interceptor(Arc::new(BrokenAfterAppends::after_appends(appends)));
        world.run_to_completion(setup, async |process| {
            start(&process, "works", Value::Null).await;
            process.wait_for_store_failure().await;
            assert!(process.store_failure_reason().unwrap().contains("disk is full"));
            for number in 0..20 {
                let refused =
                    crate::support::start_as(&process, &format!("m{number}"), "works", Value::Null).await;
                assert!(matches!(refused, Err(Error::Store { .. })), "{refused:?}");
                tokio::task::yield_now().await;
            }
        });
        let marks = probe.marks();
        let mut once = marks.clone();
        once.dedup();
        assert_eq!(marks, once, "after {appends} appends");
        // After a restart it continues; only the step without a record is done again.
        world.run_to_completion(registry![Works(probe.clone())], async |process| {
            let runs = process.list_runs(Default::default(), None, 2).await.unwrap();
            assert_eq!(runs.len(), 1);
            assert_eq!(wait_until_idle(&process, runs[0].id).await.state, StateName::InputRequired);
        });
        let repeated = probe.marks().len() - 3;
        assert!(repeated <= 1, "after {appends} appends: {:?}", probe.marks());
    }
}

/// Advances the clock past the pauses of background work until `done` resolves.
async fn passing<T>(process: &TestProcess, done: impl Future<Output = T>) -> T {
    let time = async {
        loop {
            process.clock.advance(Duration::from_secs(5));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        result = done => result,
        () = time => unreachable!("time does not end"),
    }
}

workflow!(Naps, "naps", |_probe, ctx, _input: Value| -> () {
    ctx.sleep(Duration::from_secs(60)).await;
    Ok(())
});

/// Proves X2, X5.
#[test]
fn timers_fire_after_a_read_has_failed() {
    let (world, outage) = (TestWorld::with_memory_store(), Arc::new(OutageInterceptor::new()));
    let setup = ProcessSetup::from(registry![Naps(Probe::new())]).with_interceptor(outage.clone());
    world.run_to_completion(setup, async |process| {
        let run = start(&process, "naps", Value::Null).await;
        crate::support::wait_for_event(&process, run, |event| matches!(event, Event::Slept { .. })).await;
        outage.begin_outage();
        process.clock.advance(Duration::from_secs(60));
        process.wait_for_task_health("timers", true).await;
        assert!(process.failing_background_tasks().contains(&"timers"));
        outage.end_outage();
        let ended = passing(&process, crate::support::wait_until_ended(&process, run)).await;
        assert_eq!(ended.state, StateName::Completed);
        process.wait_for_task_health("timers", false).await;
        assert_eq!(process.store_failure_reason(), None);
    });
}

/// Proves X2, X5.
#[test]
fn push_goes_on_after_the_store_was_busy() {
    let (outage, postbox) = (Arc::new(OutageInterceptor::new()), Arc::new(RecordingMessenger::new()));
    let mut is_first = true;
    postbox.set_verdict(move |_| match std::mem::take(&mut is_first) {
        true => Err(HookDeliveryError::Transient { reason: "not now".to_owned() }),
        false => Ok(()),
    });
    let setup = ProcessSetup::from(registry![Works(Probe::new())]);
    let setup = setup.with_interceptor(outage.clone()).with_messenger(postbox.clone());
    TestWorld::with_memory_store().run_to_completion(setup, async |process| {
        let run = start(&process, "works", Value::Null).await;
        wait_until_idle(&process, run).await;
        process.set_hook(&local_run_address(run), new_test_hook("h")).await.unwrap();
        answer(&process, run, "a", Value::Null).await.unwrap();
        postbox.wait_for_attempts(1).await;
        outage.begin_outage();
        // The result of the attempt cannot be written, or the due deliveries cannot be read.
        passing(&process, process.wait_for_task_health("push", true)).await;
        outage.end_outage();
        passing(&process, process.wait_until_quiet()).await;
        assert!(!postbox.delivered_lines(run, "h").is_empty());
        passing(&process, process.wait_for_task_health("push", false)).await;
    });
}

/// Proves X2, X5: the work of an earlier process continues when the store can be read again.
#[test]
fn unfinished_runs_go_on_after_a_read_has_failed() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let run = world.run_to_completion(registry![Works(probe.clone())], async |process| {
        let run = start(&process, "works", Value::Null).await;
        wait_until_idle(&process, run).await;
        answer(&process, run, "a", Value::Null).await.unwrap();
        run
    });
    let outage = Arc::new(OutageInterceptor::new());
    outage.begin_outage();
    let setup = ProcessSetup::from(registry![Works(probe)]).with_interceptor(outage.clone());
    world.run_to_completion(setup, async |process| {
        process.wait_for_task_health("lease", true).await;
        let refused = process.current_run_view(&local_run_address(run)).await;
        assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
        outage.end_outage();
        let ended = passing(&process, crate::support::wait_until_ended(&process, run)).await;
        assert_eq!(ended.state, StateName::Completed);
    });
}

/// Proves X2, X5: a step is done again once, not for as long as the store takes nothing.
#[test]
fn a_run_goes_on_when_the_store_takes_appends_again() {
    for taken in 1..4 {
        let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
        let outage = Arc::new(OutageInterceptor::for_appends(taken, 3));
        let setup = ProcessSetup::from(registry![Works(probe.clone())]).with_interceptor(outage);
        world.run_to_completion(setup, async |process| {
            let run = start(&process, "works", Value::Null).await;
            let rested = passing(&process, wait_until_idle(&process, run)).await;
            assert_eq!(rested.state, StateName::InputRequired);
            assert_eq!(process.store_failure_reason(), None);
        });
        let repeated = probe.marks().len() - 3;
        assert!(repeated <= 1, "after {taken} appends: {:?}", probe.marks());
    }
}

/// Proves X2, X5: a caller whose answer says to try again can send the same message again.
#[test]
fn a_message_that_was_not_taken_is_taken_later() {
    let (world, outage) = (TestWorld::with_memory_store(), Arc::new(OutageInterceptor::for_appends(0, 1)));
    let setup = ProcessSetup::from(registry![Works(Probe::new())]).with_interceptor(outage);
    world.run_to_completion(setup, async |process| {
        let refused = crate::support::start_as(&process, "m", "works", Value::Null).await;
        assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
        let taken = crate::support::start_as(&process, "m", "works", Value::Null).await.unwrap();
        assert!(!taken.is_repeat, "nothing of the first was written");
        assert_eq!(process.list_runs(Default::default(), None, 10).await.unwrap().len(), 1);
    });
}

workflow!(WaitsForBoth, "waits-for-both", |probe, ctx, _input: Value| -> () {
    let _gone = probe.guard("gone");
    // Its log is too long to stay in memory, so that it is read again.
    for _ in 0..100 {
        ctx.random().await;
    }
    let asked = ctx.ask::<()>("Well?").into_future();
    ctx.join(asked, ctx.sleep(Duration::from_secs(60))).await;
    Ok(())
});

/// Proves X2.
///
/// A program that is loaded just before the store is closed finds that it only waits, and records
/// that. The store refuses immediately; that must not block the thread.
#[test]
fn a_program_that_leaves_after_the_store_was_closed_does_not_hang_its_thread() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let (gate, probe) = (Arc::new(PausingInterceptor::new()), Probe::new());
        let mut setup =
            ProcessSetup::from(registry![WaitsForBoth(probe.clone())]).with_interceptor(gate.clone());
        setup.recover = false;
        let run = world.run_to_completion(setup, async |process| {
            let run = start(&process, "waits-for-both", Value::Null).await;
            probe.wait_for_mark("gone", 1).await;
            process.wait_until_quiet().await;
            let _kept = process.watch_run(&local_run_address(run), 0).await.unwrap();
            gate.pause_reads(run);
            answer(&process, run, "a", Value::Null).await.unwrap();
            gate.wait_for_paused_reads(1).await;
            process.stop_runtime().await;
            gate.resume_reads();
            probe.wait_for_mark("gone", 2).await;
            let refused = crate::support::start_as(&process, "m", "waits-for-both", Value::Null).await;
            assert!(matches!(refused, Err(Error::Stopping)), "{refused:?}");
            assert_eq!(process.store_failure_reason(), None, "a store that was closed has not failed");
            run
        });
        world.run_to_completion(registry![WaitsForBoth(probe.clone())], async |process| {
            process.clock.advance(Duration::from_secs(60));
            assert_eq!(crate::support::wait_until_ended(&process, run).await.state, StateName::Completed);
        });
    }
}

/// Proves L10, X2.
#[test]
fn stopping_ends_every_watch_and_takes_nothing_more_and_the_next_process_goes_on() {
    for world in [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()] {
        let probe = Probe::new();
        let run = world.run_to_completion(registry![Works(probe.clone())], async |process| {
            let run = start(&process, "works", Value::Null).await;
            wait_until_idle(&process, run).await;
            let mut watch = process.watch_run(&local_run_address(run), 0).await.unwrap();
            let watching = tokio::spawn(async move { while watch.next_event().await.unwrap().is_some() {} });
            process.stop_runtime().await;
            watching.await.unwrap();
            process.wait_for_stop().await;
            let refused = answer(&process, run, "a", Value::Null).await;
            assert!(matches!(refused, Err(Error::Stopping)), "{refused:?}");
            process.stop_runtime().await;
            run
        });
        world.run_to_completion(registry![Works(probe.clone())], async |process| {
            answer(&process, run, "a", Value::Null).await.unwrap();
            assert_eq!(crate::support::wait_until_ended(&process, run).await.state, StateName::Completed);
        });
    }
}

/// Proves X2, X5.
#[test]
fn a_damaged_run_is_told_as_such_and_the_others_go_on() {
    // The store's own tests damage its records; here the runtime gets the error that the port
    // reports.
    let world = TestWorld::with_memory_store();
    let (run, other) = world.run_to_completion(registry![Works(Probe::new())], async |process| {
        let run = start(&process, "works", Value::Null).await;
        let other = start(&process, "works", Value::Null).await;
        for run in [run, other] {
            wait_until_idle(&process, run).await;
        }
        (run, other)
    });
    world.damage_event(run, 3);
    world.run_to_completion(registry![Works(Probe::new())], async |process| {
        // It can be read up to the damage, and nothing more can be done with it.
        assert_eq!(process.current_run_view(&local_run_address(run)).await.unwrap().seq, 2);
        let damaged = process.cancel_run(&local_run_address(run)).await;
        assert!(matches!(damaged, Err(Error::Damaged { .. })), "{damaged:?}");
        let damaged = answer(&process, run, "a", Value::Null).await;
        assert!(matches!(damaged, Err(Error::Damaged { .. })), "{damaged:?}");
        answer(&process, other, "b", Value::Null).await.unwrap();
        assert_eq!(crate::support::wait_until_ended(&process, other).await.state, StateName::Completed);
        process.wait_until_quiet().await;
    });
}
