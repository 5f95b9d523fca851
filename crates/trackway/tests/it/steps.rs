//! Steps: done once, tried again as their policy says, known by a key that never changes.

use std::{io, time::Duration};

use serde_json::{Value, json};
use trackway::{RetryPolicy, StepFailed};
use trackway_domain::{Event, StateName};
use trackway_testkit::{CrashAt, ProcessSetup, TestWorld};

use crate::support::{
    Probe, answer, event_names, start, visible_updates, wait_for_event, wait_until_ended, wait_until_idle,
};

const SECOND: Duration = Duration::from_secs(1);

fn failing(message: &str) -> io::Result<u32> {
    Err(io::Error::other(message.to_owned()))
}

workflow!(Pays, "pays", |probe, ctx, _input: Value| -> u32 {
    let first = ctx.step("pay", |attempt| {
        probe.mark(format!("pay {}", attempt.idempotency_key));
        async { Ok::<_, io::Error>(1) }
    });
    let first = first.await?;
    let more: u32 = ctx.ask("How much more?").await;
    let second = ctx.step("pay", |attempt| {
        probe.mark(format!("pay {}", attempt.idempotency_key));
        async move { Ok::<_, io::Error>(more) }
    });
    let second = second.await?;
    ctx.sleep(SECOND).await;
    Ok(first + second)
});

/// Proves L13, X2.
#[test]
fn a_recorded_step_is_not_done_again_after_a_question_a_sleep_or_a_restart() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Pays(probe.clone())], async |process| {
        let run = start(&process, "pays", Value::Null).await;
        wait_until_idle(&process, run).await;
        process.wait_until_quiet().await;
        run
    });
    world.run_to_completion(registry![Pays(probe.clone())], async |process| {
        answer(&process, run, "a", 41).await.unwrap();
        wait_for_event(&process, run, |event| matches!(event, Event::Slept { .. })).await;
    });
    world.run_to_completion(registry![Pays(probe.clone())], async |process| {
        process.clock.advance(SECOND);
        assert_eq!(wait_until_ended(&process, run).await.output, json!(42));
    });
    assert_eq!(probe.marks(), [format!("pay {run}/step:pay#0"), format!("pay {run}/step:pay#1")]);
}

workflow!(Retries, "retries", |probe, ctx, good_at: u32| -> Value {
    let policy = RetryPolicy { attempts: 4, backoff: SECOND, backoff_max: 3 * SECOND, deadline: None };
    let step = ctx.step("call", |attempt| {
        let number = attempt.number;
        probe.mark(format!("{number} {}", attempt.idempotency_key));
        async move { if number >= good_at { Ok(number) } else { failing("busy") } }
    });
    let result: Result<u32, StepFailed> = step.retry(policy).await;
    Ok(match result {
        Ok(number) => json!(number),
        Err(failed) => json!([failed.step, failed.message]),
    })
});

/// Proves L13, X2.
#[test]
fn a_failing_step_is_tried_again_after_durable_pauses_under_one_key() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Retries(probe.clone())], async |process| {
        let run = start(&process, "retries", 3).await;
        wait_for_event(&process, run, |event| matches!(event, Event::StepAttemptFailed(_))).await;
        process.wait_until_quiet().await;
        run
    });
    // Time passes while no process runs.
    world.clock.advance(SECOND);
    world.run_to_completion(registry![Retries(probe.clone())], async |process| {
        let second = |event: &Event| matches!(event, Event::StepAttemptFailed(retry) if retry.attempt == 2);
        let Event::StepAttemptFailed(retry) = wait_for_event(&process, run, second).await.event else {
            panic!()
        };
        assert_eq!(retry.due.duration_since(trackway_ports::Clock::now(&*process.clock)), 2 * SECOND);
        process.clock.advance(2 * SECOND);
        assert_eq!(wait_until_ended(&process, run).await.output, json!(3));
        assert_eq!(
            event_names(&process, run).await,
            [
                "submitted",
                "started",
                "step-attempt-failed",
                "woke",
                "step-attempt-failed",
                "woke",
                "step-done",
                "completed"
            ]
        );
    });
    let key = format!("{run}/step:call#0");
    assert_eq!(probe.marks(), [1, 2, 3].map(|number| format!("{number} {key}")));
}

/// Proves L10.
#[test]
fn a_step_whose_attempts_are_exhausted_fails_once_and_for_all() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    world.run_to_completion(registry![Retries(probe.clone())], async |process| {
        let run = start(&process, "retries", 99).await;
        for attempt in 1..4 {
            let failed =
                |event: &Event| matches!(event, Event::StepAttemptFailed(retry) if retry.attempt == attempt);
            let Event::StepAttemptFailed(retry) = wait_for_event(&process, run, failed).await.event else {
                panic!()
            };
            process.clock.advance_to(retry.due);
        }
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.output, json!(["call", "busy"]));
        assert_eq!(view.state, StateName::Completed, "the workflow went on with the error");
    });
    assert_eq!(probe.marks().len(), 4);
}

workflow!(Dawdles, "dawdles", |probe, ctx, fails_first: bool| -> Value {
    let policy =
        RetryPolicy { attempts: 9, backoff: SECOND, backoff_max: SECOND, deadline: Some(10 * SECOND) };
    let step = ctx.step("slow", |attempt| async move {
        probe.mark(format!("attempt {}", attempt.number));
        if fails_first && attempt.number == 1 {
            return failing("not yet");
        }
        let _dropped = probe.guard("dropped");
        std::future::pending().await
    });
    let result: Result<u32, StepFailed> = step.retry(policy).await;
    Ok(result.map_or_else(|failed| json!(failed.message), |number| json!(number)))
});

/// Proves L10.
#[test]
fn a_step_that_passes_its_deadline_is_dropped_and_fails() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    world.run_to_completion(registry![Dawdles(probe.clone())], async |process| {
        let run = start(&process, "dawdles", false).await;
        probe.wait_for_mark("attempt 1", 1).await;
        process.clock.advance(10 * SECOND);
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.output, json!("step \"slow\" passed its deadline"));
        assert_eq!(probe.marks(), ["attempt 1", "dropped"]);
    });
}

/// Proves X2.
#[test]
fn a_step_whose_deadline_passed_while_no_process_ran_is_not_begun_again() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let run = world.run_to_completion(registry![Dawdles(probe.clone())], async |process| {
        let run = start(&process, "dawdles", true).await;
        wait_for_event(&process, run, |event| matches!(event, Event::StepAttemptFailed(_))).await;
        run
    });
    world.clock.advance(60 * SECOND);
    world.run_to_completion(registry![Dawdles(probe.clone())], async |process| {
        let view = wait_until_ended(&process, run).await;
        assert_eq!(view.output, json!("step \"slow\" passed its deadline"));
    });
    assert_eq!(probe.marks(), ["attempt 1"]);
}

/// Proves L13, X2.
#[test]
fn a_crash_between_the_work_and_its_record_repeats_it_under_the_same_key() {
    for point in ["step:after", "runtime:ordered", "store:before-commit"] {
        let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
        // The first point of its kind after the step's work; the submission takes one of the others.
        let n = if point == "step:after" { 1 } else { 2 };
        let setup = ProcessSetup::from(registry![Pays(probe.clone())])
            .with_faults(CrashAt::at_point(point, n).into());
        let crashed = world.run_process(setup, async |process| {
            let run = start(&process, "pays", Value::Null).await;
            wait_until_idle(&process, run).await;
        });
        assert!(crashed.is_none(), "at {point}");
        let keys = world.run_to_completion(registry![Pays(probe.clone())], async |process| {
            let runs = process.list_runs(Default::default(), None, 2).await.unwrap();
            assert_eq!(runs.len(), 1);
            wait_until_idle(&process, runs[0].id).await;
            assert_eq!(visible_updates(&process, runs[0].id).await.len(), 3);
            probe.marks()
        });
        assert_eq!(keys.len(), 2, "at {point}");
        assert_eq!(keys[0], keys[1], "at {point}");
    }
}

workflow!(Parallel, "parallel", |probe, ctx, count: u32| -> u32 {
    let steps = (0..count).map(|number| {
        let step = ctx.step("one", move |_| async move {
            probe.mark("done");
            tokio::task::yield_now().await;
            Ok::<_, io::Error>(number)
        });
        IntoFuture::into_future(step)
    });
    let results = ctx.join_all(steps).await;
    ctx.ask::<()>("Go on?").await;
    let mut sum = 0;
    for result in results {
        sum += result?;
    }
    Ok(sum)
});

/// Proves L13, X2.
#[test]
fn a_hundred_steps_side_by_side_are_each_done_once() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let run = world.run_to_completion(registry![Parallel(probe.clone())], async |process| {
        let run = start(&process, "parallel", 100).await;
        assert_eq!(wait_until_idle(&process, run).await.parked, None);
        run
    });
    world.run_to_completion(registry![Parallel(probe.clone())], async |process| {
        answer(&process, run, "a", Value::Null).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(4_950));
    });
    assert_eq!(probe.count("done"), 100);
}

workflow!(Wanders, "wanders", |probe, ctx, _input: Value| -> u32 {
    // An await outside the context does not mean that the program is idle.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let bound = tokio::task::spawn_blocking(|| 2).await?;
    ctx.status("begins").await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    ctx.step("go", |_| async {
        probe.mark("step");
        Ok::<_, io::Error>(())
    })
    .await?;
    let answer: u32 = ctx.ask("How far?").await;
    tokio::task::spawn_blocking(|| ()).await?;
    ctx.status("ends").await;
    Ok(answer + bound)
});

/// Proves L13, X2.
#[test]
fn a_program_that_awaits_other_things_than_its_context_replays_all_the_same() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    world.run_to_completion(registry![Wanders(probe.clone())], async |process| {
        let run = start(&process, "wanders", Value::Null).await;
        wait_until_idle(&process, run).await;
        answer(&process, run, "a", 40).await.unwrap();
        let view = wait_until_idle(&process, run).await;
        assert_eq!((view.parked, view.output), (None, json!(42)));
    });
    assert_eq!(probe.count("step"), 1);
}
