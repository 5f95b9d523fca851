//! Hooks: a receiver gets every update of a run, in order, whatever fails.

mod failing;
mod managing;

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway_domain::{Caller, Part, RunId, StateName};
use trackway_runtime::{HookMessenger, NewHook, ProgramRegistry, SubmitRunRequest};
use trackway_testkit::{
    ProcessSetup, RecordingMessenger, ScriptedClient, StoreKind, SweepSubject, TestProcess, TestWorld,
    answer_delivery, crash_sweep, local_run_address, new_test_hook, seeded_crash_sweep, user_message,
};

use crate::support::{Probe, wait_until_ended, wait_until_idle};

workflow!(Talks, "talks", |probe, ctx, _input: Value| -> u32 {
    ctx.status("one").await;
    ctx.step("quiet", |_| async { Ok::<_, std::io::Error>(1) }).await?;
    ctx.artifact(trackway::Artifact::text("a.txt", "text")?).await;
    let answer: u32 = ctx.ask("More?").await;
    ctx.status("two").await;
    probe.mark("two");
    Ok(answer)
});

workflow!(Counts, "counts", |_probe, ctx, number: u32| -> u32 {
    for n in 0..number {
        ctx.status(format!("{n}")).await;
    }
    Ok(number)
});

workflow!(Long, "long", |_probe, ctx, number: u32| -> u32 {
    for n in 0..number {
        ctx.status(format!("{n}")).await;
    }
    Ok(ctx.ask("More?").await)
});

const BEFORE: [&str; 5] = ["submitted", "working", "working: one", "+a.txt", "input-required: More?"];
const AFTER: [&str; 3] = ["working", "working: two", "completed."];

fn setup<M: HookMessenger + 'static>(postbox: &Arc<M>) -> ProcessSetup {
    let probe = Probe::new();
    ProcessSetup::from(registry![Talks(probe.clone()), Counts(probe.clone()), Long(probe)])
        .with_messenger(postbox.clone())
}

/// Starts a run with a hook from its first message on.
async fn start(process: &TestProcess, workflow: &str, input: Value, hook: Option<NewHook>) -> RunId {
    let submit = SubmitRunRequest {
        message: Some(user_message(&format!("start {workflow}"), Part::data(input.clone()))),
        hook,
        ..SubmitRunRequest::new(workflow, input, Caller::local_without_auth())
    };
    process.submit_run(submit).await.unwrap().view.submission.run
}

fn worlds() -> [TestWorld; 2] {
    [TestWorld::with_memory_store(), TestWorld::with_sqlite_store()]
}

/// Proves X2: each update once and in order, with the run as it was at that update.
#[test]
fn a_hook_of_the_first_message_is_told_of_everything() {
    for world in worlds() {
        let postbox = Arc::new(RecordingMessenger::new());
        world.run_to_completion(setup(&postbox), async |process| {
            let run = start(&process, "talks", Value::Null, Some(new_test_hook("h"))).await;
            wait_until_idle(&process, run).await;
            process.wait_until_quiet().await;
            assert_eq!(postbox.delivered_lines(run, "h"), BEFORE);
            process.deliver_message(answer_delivery(run, "answer", json!(7))).await.unwrap();
            wait_until_ended(&process, run).await;
            process.wait_until_quiet().await;
            assert_eq!(postbox.delivered_lines(run, "h"), [&BEFORE[..], &AFTER[..]].concat());
            let letters = postbox.successful_deliveries();
            assert!(letters.iter().all(|letter| letter.view_seq == letter.seq));
            assert!(letters.iter().all(|letter| letter.target == json!({"to": "h"})));
            assert_eq!(letters[4].state, StateName::InputRequired);
            assert_eq!(letters[7].state, StateName::Completed);
            let hook = process.find_hook(&local_run_address(run), "h").await.unwrap().unwrap();
            assert_eq!((hook.due, hook.attempts), (None, 0));
        });
    }
}

/// Proves X2: a hook that comes with an answer gets the updates after that answer.
#[test]
fn a_hook_of_a_later_message_is_told_from_there() {
    let (world, postbox) = (TestWorld::with_sqlite_store(), Arc::new(RecordingMessenger::new()));
    world.run_to_completion(setup(&postbox), async |process| {
        let run = start(&process, "talks", Value::Null, None).await;
        wait_until_idle(&process, run).await;
        let mut answer = answer_delivery(run, "answer", json!(7));
        answer.hook = Some(new_test_hook("h"));
        process.deliver_message(answer.clone()).await.unwrap();
        wait_until_ended(&process, run).await;
        // A repeated message gets the same answer and sets no hook.
        answer.hook = Some(new_test_hook("again"));
        assert!(process.deliver_message(answer).await.unwrap().is_repeat);
        process.wait_until_quiet().await;
        assert_eq!(postbox.delivered_lines(run, "h"), AFTER);
        assert_eq!(process.list_hooks(&local_run_address(run)).await.unwrap().len(), 1);
    });
}

/// Proves X2: every update of an ended run is delivered, also by the next process.
#[test]
fn what_was_not_told_is_told_by_the_next_process() {
    for world in worlds() {
        let postbox = Arc::new(RecordingMessenger::new());
        let never = || trackway_runtime::HookDeliveryError::Transient { reason: "down".to_owned() };
        postbox.set_verdict(move |_| Err(never()));
        let run = world.run_to_completion(setup(&postbox), async |process| {
            let run = start(&process, "counts", json!(3), Some(new_test_hook("h"))).await;
            wait_until_ended(&process, run).await;
            postbox.wait_for_attempts(1).await;
            run
        });
        postbox.set_verdict(|_| Ok(()));
        world.clock.advance(Duration::from_secs(3600));
        world.run_to_completion(setup(&postbox), async |process| {
            process.wait_until_quiet().await;
            assert_eq!(process.count_runs_in_memory(), 0);
        });
        let all = ["submitted", "working", "working: 0", "working: 1", "working: 2", "completed."];
        assert_eq!(postbox.delivered_lines(run, "h"), all);
    }
}

/// Proves X2: more hooks than deliveries at once, and more events than a page.
#[test]
fn many_runs_and_long_ones_are_told_whole() {
    const RUNS: usize = 200;
    let (world, postbox) = (TestWorld::with_memory_store(), Arc::new(RecordingMessenger::new()));
    world.run_to_completion(setup(&postbox), async |process| {
        let mut runs = Vec::new();
        for number in 0..RUNS {
            let submit = SubmitRunRequest {
                hook: Some(new_test_hook("h")),
                ..SubmitRunRequest::new(
                    "counts",
                    json!(if number == 0 { 300 } else { 2 }),
                    Caller::local_without_auth(),
                )
            };
            runs.push(process.submit_run(submit).await.unwrap().view.submission.run);
        }
        for run in &runs {
            wait_until_ended(&process, *run).await;
        }
        process.wait_until_quiet().await;
        assert_eq!(postbox.delivered_lines(runs[0], "h").len(), 303);
        for run in &runs[1..] {
            let lines = ["submitted", "working", "working: 0", "working: 1", "completed."];
            assert_eq!(postbox.delivered_lines(*run, "h"), lines);
        }
    });
}

fn programs(_outside: &Path) -> ProgramRegistry {
    registry![Talks(Probe::new())]
}

fn subject() -> SweepSubject {
    SweepSubject::new(
        ScriptedClient::new("talks", Value::Null)
            .with_hook()
            .with_answers(|_, _| vec![json!("wrong"), json!(7)]),
        programs,
    )
}

/// Proves X2: a crash at any point, and every update still arrives, in order.
#[test]
fn a_crash_anywhere_loses_no_update() {
    crash_sweep(&subject(), StoreKind::Memory);
}

/// Proves X2.
#[test]
fn a_crash_anywhere_loses_no_update_on_disk() {
    crash_sweep(&subject(), StoreKind::Sqlite);
}

/// Proves X2.
#[test]
fn several_crashes_lose_no_update() {
    seeded_crash_sweep(&subject(), StoreKind::Memory, 0..20);
}
