//! Programs that have changed: a run that cannot be replayed waits with its evidence, and nothing else
//! is disturbed.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::{ReplayMismatch, RunId, StateName};
use trackway_runtime::ProgramRegistry;
use trackway_testkit::{PausingInterceptor, ProcessSetup, TestProcess, TestWorld, local_run_address};

use crate::{
    refusals::send,
    support::{Probe, answer, event_names, load_log, start, wait_until_ended, wait_until_idle},
};

type Ready = Result<u32, std::io::Error>;

workflow!(Original, "job", |probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    let one = ctx
        .step("one", |_| async {
            probe.mark("one");
            Ready::Ok(1)
        })
        .await?;
    let two = ctx
        .step("two", |_| async {
            probe.mark("two");
            Ready::Ok(2)
        })
        .await?;
    let answer: u32 = ctx.ask("Go on?").await;
    ctx.sleep(Duration::ZERO).await;
    Ok(one + two + answer)
});

workflow!(OtherKey, "job", |probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    let one = ctx
        .step("uno", |_| async {
            probe.mark("uno");
            Ready::Ok(1)
        })
        .await?;
    let two = ctx.step("two", |_| async { Ready::Ok(2) }).await?;
    Ok(one + two + ctx.ask::<u32>("Go on?").await)
});

workflow!(StepRemoved, "job", |_probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    let one = ctx.step("one", |_| async { Ready::Ok(1) }).await?;
    Ok(one + ctx.ask::<u32>("Go on?").await)
});

workflow!(StepAdded, "job", |probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    let one = ctx.step("one", |_| async { Ready::Ok(1) }).await?;
    let new = ctx
        .step("new", |_| async {
            probe.mark("new");
            Ready::Ok(1)
        })
        .await?;
    let two = ctx.step("two", |_| async { Ready::Ok(2) }).await?;
    Ok(one + new + two + ctx.ask::<u32>("Go on?").await)
});

workflow!(ReturnsEarly, "job", |_probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    Ok(ctx.step("one", |_| async { Ready::Ok(1) }).await?)
});

workflow!(FailsEarly, "job", |_probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    Err(trackway::Stop::failed("no more of this"))
});

workflow!(OtherStepType, "job", |_probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    let one: String = ctx.step("one", |_| async { Ok::<_, std::io::Error>("1".to_owned()) }).await?;
    let two = ctx.step("two", |_| async { Ready::Ok(2) }).await?;
    Ok(one.len() as u32 + two + ctx.ask::<u32>("Go on?").await)
});

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Yes {
    yes: bool,
}

workflow!(OtherAnswer, "job", |_probe, ctx, _input: Value| -> u32 {
    ctx.status("begins").await;
    let one = ctx.step("one", |_| async { Ready::Ok(1) }).await?;
    let two = ctx.step("two", |_| async { Ready::Ok(2) }).await?;
    let answer: Yes = ctx.ask("Go on?").await;
    Ok(one + two + u32::from(answer.yes))
});

workflow!(NewVersion, "job", "2", |_probe, ctx, _input: Value| -> u32 {
    Ok(ctx.ask::<u32>("Anything?").await)
});

workflow!(Other, "other", |_probe, ctx, _input: Value| -> u32 { Ok(ctx.ask::<u32>("And you?").await) });

/// The program as it was.
pub(crate) fn original_registry(probe: &Probe) -> ProgramRegistry {
    registry![Original(probe.clone()), Other(probe.clone())]
}

/// Every way in which the program can change, with what the evidence must mention.
pub(crate) fn changed_registries(
    probe: &Probe,
) -> Vec<(&'static str, ProgramRegistry, &'static str, &'static str)> {
    let other = || Other(probe.clone());
    vec![
        ("another key", registry![OtherKey(probe.clone()), other()], "step:uno#0", "step:one#0"),
        ("a step removed", registry![StepRemoved(probe.clone()), other()], "", "step:two#0"),
        ("a step added", registry![StepAdded(probe.clone()), other()], "step:new#0", "step:two#0"),
        ("an early return", registry![ReturnsEarly(probe.clone()), other()], "its end", "step:two#0"),
        ("an early failure", registry![FailsEarly(probe.clone()), other()], "its end", "step:one#0"),
        ("another step type", registry![OtherStepType(probe.clone()), other()], "", "step:one#0"),
        ("another answer type", registry![OtherAnswer(probe.clone()), other()], "", "ask:#0"),
        ("no such version", registry![NewVersion(probe.clone()), other()], "", ""),
        ("no such workflow", registry![other()], "", ""),
    ]
}

/// Two runs at their question; the answer to the first is recorded while no process drives it.
fn start_waiting_runs(world: &TestWorld, probe: &Probe) -> (RunId, RunId) {
    world.run_to_completion(original_registry(probe), async |process| {
        let job = start(&process, "job", Value::Null).await;
        let other = start(&process, "other", Value::Null).await;
        for run in [job, other] {
            wait_until_idle(&process, run).await;
        }
        process.wait_until_quiet().await;
        (job, other)
    })
}

async fn parked_mismatch(process: &TestProcess, run: RunId) -> ReplayMismatch {
    let view = wait_until_idle(process, run).await;
    view.parked.unwrap_or_else(|| panic!("{run} is not parked"))
}

/// Proves L13, X2, X5.
#[test]
fn changed_program_parks_its_run_until_it_fits_again() {
    let probe = Probe::new();
    for (what, changed, asked, recorded) in changed_registries(&probe) {
        let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
        let (job, other) = start_waiting_runs(&world, &probe);
        let length = world.run_to_completion(changed, async |process| {
            answer(&process, job, "a", 4).await.unwrap();
            wait_until_parked(&process, job).await;
            let evidence = parked_mismatch(&process, job).await;
            if !asked.is_empty() {
                assert_eq!(evidence.asked.as_deref(), Some(asked), "{what}: {evidence:?}");
            }
            if !recorded.is_empty() {
                assert_eq!(evidence.recorded.as_deref(), Some(recorded), "{what}: {evidence:?}");
            }
            let view = process.current_run_view(&local_run_address(job)).await.unwrap();
            assert_eq!(view.state, StateName::Working, "{what}: the state is kept");
            answer(&process, other, "o", 5).await.unwrap();
            assert_eq!(wait_until_ended(&process, other).await.output, json!(5), "{what}: others go on");
            process.wait_until_quiet().await;
            load_log(&process, job).await.len()
        });
        assert_eq!(probe.marks(), ["one", "two"], "{what}: nothing new was done");
        for _ in 0..2 {
            let (.., changed, _, _) =
                changed_registries(&probe).into_iter().find(|change| change.0 == what).unwrap();
            world.run_to_completion(changed, async |process| {
                parked_mismatch(&process, job).await;
                process.wait_until_quiet().await;
                assert_eq!(load_log(&process, job).await.len(), length, "{what}: the log does not grow");
            });
        }
        world.run_to_completion(original_registry(&probe), async |process| {
            let view = wait_until_ended(&process, job).await;
            assert_eq!((view.parked, view.output), (None, json!(7)), "{what}");
            let names = event_names(&process, job).await;
            let count = |name| names.iter().filter(|other| **other == name).count();
            assert_eq!((count("parked"), count("unparked"), count("completed")), (1, 1, 1), "{names:?}");
        });
        assert_eq!(probe.marks(), ["one", "two"], "{what}: no step was done again");
    }
}

/// Proves L10, X2.
#[test]
fn a_parked_run_can_be_cancelled() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let (job, _) = start_waiting_runs(&world, &probe);
    world.run_to_completion(registry![OtherKey(probe.clone())], async |process| {
        answer(&process, job, "a", 4).await.unwrap();
        wait_until_parked(&process, job).await;
        let view = process.cancel_run(&local_run_address(job)).await.unwrap();
        assert_eq!((view.state, view.parked), (StateName::Canceled, None));
    });
    world.run_to_completion(original_registry(&probe), async |process| {
        process.wait_until_quiet().await;
        assert_eq!(
            process.current_run_view(&local_run_address(job)).await.unwrap().state,
            StateName::Canceled
        );
    });
}

/// Proves L6, L14, X2.
#[test]
fn a_run_that_is_parked_at_its_question_shows_it_again_when_the_program_fits() {
    let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
    let (run, prompt) = world.run_to_completion(original_registry(&probe), async |process| {
        let run = start(&process, "job", Value::Null).await;
        let view = wait_until_idle(&process, run).await;
        (run, view.status_message().cloned())
    });
    let gate = Arc::new(PausingInterceptor::new());
    let setup = ProcessSetup::from(registry![StepRemoved(probe.clone())]).with_interceptor(gate.clone());
    world.run_to_completion(setup, async |process| {
        // A message that the store refuses makes the runtime load the program, though it only waits.
        let taken = start(&process, "job", Value::Null).await;
        wait_until_idle(&process, taken).await;
        gate.pause_appends(|append| append.message_claim.is_some());
        let first = send(&process, taken, "same", json!(1));
        gate.wait_for_paused_appends(1).await;
        let second = send(&process, run, "same", json!(1));
        gate.wait_for_paused_appends(2).await;
        gate.resume_appends();
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap_err();
        wait_until_parked(&process, run).await;
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        assert_eq!(view.state, StateName::InputRequired, "the state is kept");
        assert_eq!(view.status_message().cloned(), prompt, "the question stays the status");
    });
    world.run_to_completion(original_registry(&probe), async |process| {
        while process.current_run_view(&local_run_address(run)).await.unwrap().parked.is_some() {
            tokio::task::yield_now().await;
        }
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        assert_eq!(view.status_message().cloned(), prompt, "with its schema");
        answer(&process, run, "a", 4).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.output, json!(7));
    });
    assert_eq!(probe.marks(), ["one", "two"]);
}

/// Waits until the run is parked.
pub(crate) async fn wait_until_parked(process: &TestProcess, run: RunId) {
    crate::support::wait_for_event(process, run, |event| event.event_name() == "parked").await;
}
