//! A store that breaks, closes or is damaged under a running process.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use trackway_domain::{Event, StateName};
use trackway_runtime::{Error, Undelivered};
use trackway_testkit::{Breaks, Gate, Outage, Postbox, Process, Setup, World, at, hook};

use crate::kit::{Probe, answer, settled, start};

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
        let (world, probe) = (World::memory(), Probe::new());
        let setup =
            Setup::from(registry![Works(probe.clone())]).tap(Arc::new(Breaks::after(appends)));
        world.run(setup, async |process| {
            start(&process, "works", Value::Null).await;
            process.failed().await;
            assert!(process.broken().unwrap().contains("disk is full"));
            for number in 0..20 {
                let refused =
                    crate::kit::start_as(&process, &format!("m{number}"), "works", Value::Null)
                        .await;
                assert!(matches!(refused, Err(Error::Store { .. })), "{refused:?}");
                tokio::task::yield_now().await;
            }
        });
        let marks = probe.marks();
        let mut once = marks.clone();
        once.dedup();
        assert_eq!(marks, once, "after {appends} appends");
        // After a restart it continues; only the step without a record is done again.
        world.run(registry![Works(probe.clone())], async |process| {
            let runs = process.runs(Default::default(), None, 2).await.unwrap();
            assert_eq!(runs.len(), 1);
            assert_eq!(settled(&process, runs[0].id).await.state, StateName::InputRequired);
        });
        let repeated = probe.marks().len() - 3;
        assert!(repeated <= 1, "after {appends} appends: {:?}", probe.marks());
    }
}

/// Advances the clock past the pauses of background work until `done` resolves.
async fn passing<T>(process: &Process, done: impl Future<Output = T>) -> T {
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
    let (world, outage) = (World::memory(), Arc::new(Outage::new()));
    let setup = Setup::from(registry![Naps(Probe::new())]).tap(outage.clone());
    world.run(setup, async |process| {
        let run = start(&process, "naps", Value::Null).await;
        crate::kit::until(&process, run, |event| matches!(event, Event::Slept { .. })).await;
        outage.begin();
        process.clock.advance(Duration::from_secs(60));
        process.until_failing("timers", true).await;
        assert!(process.failing().contains(&"timers"));
        outage.end();
        let ended = passing(&process, crate::kit::ended(&process, run)).await;
        assert_eq!(ended.state, StateName::Completed);
        process.until_failing("timers", false).await;
        assert_eq!(process.broken(), None);
    });
}

/// Proves X2, X5.
#[test]
fn push_goes_on_after_the_store_was_busy() {
    let (outage, postbox) = (Arc::new(Outage::new()), Arc::new(Postbox::new()));
    let mut is_first = true;
    postbox.judge(move |_| match std::mem::take(&mut is_first) {
        true => Err(Undelivered::Again { reason: "not now".to_owned() }),
        false => Ok(()),
    });
    let setup = Setup::from(registry![Works(Probe::new())]);
    let setup = setup.tap(outage.clone()).messenger(postbox.clone());
    World::memory().run(setup, async |process| {
        let run = start(&process, "works", Value::Null).await;
        settled(&process, run).await;
        process.set_hook(&at(run), hook("h")).await.unwrap();
        answer(&process, run, "a", Value::Null).await.unwrap();
        postbox.until_attempts(1).await;
        outage.begin();
        // The result of the attempt cannot be written, or the due deliveries cannot be read.
        passing(&process, process.until_failing("push", true)).await;
        outage.end();
        passing(&process, process.quiet()).await;
        assert!(!postbox.lines(run, "h").is_empty());
        passing(&process, process.until_failing("push", false)).await;
    });
}

/// Proves X2, X5: what an earlier process left is taken up when the store can be read again.
#[test]
fn unfinished_runs_go_on_after_a_read_has_failed() {
    let (world, probe) = (World::memory(), Probe::new());
    let run = world.run(registry![Works(probe.clone())], async |process| {
        let run = start(&process, "works", Value::Null).await;
        settled(&process, run).await;
        answer(&process, run, "a", Value::Null).await.unwrap();
        run
    });
    let outage = Arc::new(Outage::new());
    outage.begin();
    let setup = Setup::from(registry![Works(probe)]).tap(outage.clone());
    world.run(setup, async |process| {
        process.until_failing("lease", true).await;
        let refused = process.view(&at(run)).await;
        assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
        outage.end();
        let ended = passing(&process, crate::kit::ended(&process, run)).await;
        assert_eq!(ended.state, StateName::Completed);
    });
}

/// Proves X2, X5: a step is done again once, not for as long as the store takes nothing.
#[test]
fn a_run_goes_on_when_the_store_takes_appends_again() {
    for taken in 1..4 {
        let (world, probe) = (World::memory(), Probe::new());
        let outage = Arc::new(Outage::of_appends(taken, 3));
        let setup = Setup::from(registry![Works(probe.clone())]).tap(outage);
        world.run(setup, async |process| {
            let run = start(&process, "works", Value::Null).await;
            let rested = passing(&process, settled(&process, run)).await;
            assert_eq!(rested.state, StateName::InputRequired);
            assert_eq!(process.broken(), None);
        });
        let repeated = probe.marks().len() - 3;
        assert!(repeated <= 1, "after {taken} appends: {:?}", probe.marks());
    }
}

/// Proves X2, X5: whoever is told to try again can send the same message again.
#[test]
fn a_message_that_was_not_taken_is_taken_later() {
    let (world, outage) = (World::memory(), Arc::new(Outage::of_appends(0, 1)));
    let setup = Setup::from(registry![Works(Probe::new())]).tap(outage);
    world.run(setup, async |process| {
        let refused = crate::kit::start_as(&process, "m", "works", Value::Null).await;
        assert!(matches!(refused, Err(Error::Unavailable { .. })), "{refused:?}");
        let taken = crate::kit::start_as(&process, "m", "works", Value::Null).await.unwrap();
        assert!(!taken.repeated, "nothing of the first was written");
        assert_eq!(process.runs(Default::default(), None, 10).await.unwrap().len(), 1);
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
    for world in [World::memory(), World::sqlite()] {
        let (gate, probe) = (Arc::new(Gate::new()), Probe::new());
        let mut setup = Setup::from(registry![WaitsForBoth(probe.clone())]).tap(gate.clone());
        setup.recover = false;
        let run = world.run(setup, async |process| {
            let run = start(&process, "waits-for-both", Value::Null).await;
            probe.until("gone", 1).await;
            process.quiet().await;
            let _kept = process.watch(&at(run), 0).await.unwrap();
            gate.hold_reads(run);
            answer(&process, run, "a", Value::Null).await.unwrap();
            gate.reading(1).await;
            process.stop().await;
            gate.release_reads();
            probe.until("gone", 2).await;
            let refused = crate::kit::start_as(&process, "m", "waits-for-both", Value::Null).await;
            assert!(matches!(refused, Err(Error::Stopping)), "{refused:?}");
            assert_eq!(process.broken(), None, "a store that was closed has not failed");
            run
        });
        world.run(registry![WaitsForBoth(probe.clone())], async |process| {
            process.clock.advance(Duration::from_secs(60));
            assert_eq!(crate::kit::ended(&process, run).await.state, StateName::Completed);
        });
    }
}

/// Proves L10, X2.
#[test]
fn stopping_ends_every_watch_and_takes_nothing_more_and_the_next_process_goes_on() {
    for world in [World::memory(), World::sqlite()] {
        let probe = Probe::new();
        let run = world.run(registry![Works(probe.clone())], async |process| {
            let run = start(&process, "works", Value::Null).await;
            settled(&process, run).await;
            let mut watch = process.watch(&at(run), 0).await.unwrap();
            let watching =
                tokio::spawn(async move { while watch.next().await.unwrap().is_some() {} });
            process.stop().await;
            watching.await.unwrap();
            process.stopping().await;
            let refused = answer(&process, run, "a", Value::Null).await;
            assert!(matches!(refused, Err(Error::Stopping)), "{refused:?}");
            process.stop().await;
            run
        });
        world.run(registry![Works(probe.clone())], async |process| {
            answer(&process, run, "a", Value::Null).await.unwrap();
            assert_eq!(crate::kit::ended(&process, run).await.state, StateName::Completed);
        });
    }
}

/// Proves X2, X5.
#[test]
fn a_damaged_run_is_told_as_such_and_the_others_go_on() {
    // The store's own tests damage its records; here the runtime gets the error that the port
    // reports.
    let world = World::memory();
    let (run, other) = world.run(registry![Works(Probe::new())], async |process| {
        let run = start(&process, "works", Value::Null).await;
        let other = start(&process, "works", Value::Null).await;
        for run in [run, other] {
            settled(&process, run).await;
        }
        (run, other)
    });
    world.damage(run, 3);
    world.run(registry![Works(Probe::new())], async |process| {
        // It can be read up to the damage, and nothing more can be done with it.
        assert_eq!(process.view(&at(run)).await.unwrap().seq, 2);
        let damaged = process.cancel(&at(run)).await;
        assert!(matches!(damaged, Err(Error::Damaged { .. })), "{damaged:?}");
        let damaged = answer(&process, run, "a", Value::Null).await;
        assert!(matches!(damaged, Err(Error::Damaged { .. })), "{damaged:?}");
        answer(&process, other, "b", Value::Null).await.unwrap();
        assert_eq!(crate::kit::ended(&process, other).await.state, StateName::Completed);
        process.quiet().await;
    });
}
