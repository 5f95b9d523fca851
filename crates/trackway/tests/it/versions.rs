//! Several versions side by side: a run keeps the one it began with.

use serde_json::{Value, json};
use trackway_testkit::TestWorld;

use crate::support::{Probe, answer, start, start_as, wait_until_ended, wait_until_idle};

workflow!(First, "job", "1", |_probe, ctx, _input: Value| -> String {
    ctx.status("the old way").await;
    let answer: String = ctx.ask("Well?").await;
    Ok(format!("1: {answer}"))
});

workflow!(Second, "job", "2", |_probe, ctx, _input: Value| -> String {
    let answer: String = ctx.ask("Well?").await;
    ctx.step("the new way", |_| async { Ok::<_, std::io::Error>(()) }).await?;
    Ok(format!("2: {answer}"))
});

/// Proves X2.
#[test]
fn runs_keep_their_version_and_new_runs_take_the_newest() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let old = world.run_to_completion(registry![First(probe.clone())], async |process| {
        let run = start(&process, "job", Value::Null).await;
        wait_until_idle(&process, run).await;
        run
    });
    world.run_to_completion(registry![First(probe.clone()), Second(probe)], async |process| {
        let new = start(&process, "job", Value::Null).await;
        wait_until_idle(&process, new).await;
        for (run, version) in [(old, "1"), (new, "2")] {
            answer(&process, run, &format!("m{version}"), "yes").await.unwrap();
            let view = wait_until_ended(&process, run).await;
            assert_eq!(view.output, json!(format!("{version}: yes")));
            assert_eq!(view.submission.workflow.version, version);
        }
    });
}

workflow!(Parent, "parent", "1", |_probe, ctx, _input: Value| -> String {
    let child = ctx.child_named::<String>("job", Value::Null).await?;
    Ok(child.output().await?)
});

/// Proves L17, X2.
///
/// The version is chosen with the record of the start, so a child that is first driven after a
/// deployment still has the version that was meant.
#[test]
fn a_child_keeps_the_version_that_was_newest_when_it_was_started() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let before = trackway_testkit::CrashAt::at_point("runtime:committed", 1);
    let setup = trackway_testkit::ProcessSetup::from(registry![First(probe.clone()), Parent(probe.clone())])
        .with_faults(before.into());
    let crashed = world.run_process(setup, async |process| {
        // It is recorded, but the caller gets no answer.
        let _ = start_as(&process, "s", "parent", Value::Null).await;
        std::future::pending::<()>().await
    });
    assert!(crashed.is_none());
    let all = || registry![First(probe.clone()), Second(probe.clone()), Parent(probe.clone())];
    world.run_to_completion(all(), async |process| {
        let parent = process.list_runs(Default::default(), None, 9).await.unwrap().last().unwrap().id;
        let started =
            crate::support::wait_for_event(&process, parent, |event| event.event_name() == "child-started")
                .await;
        let trackway_domain::Event::ChildStarted { child, .. } = started.event else { panic!() };
        wait_until_idle(&process, child).await;
        answer(&process, child, "a", "yes").await.unwrap();
        assert_eq!(wait_until_ended(&process, parent).await.output, json!("1: yes"));
    });
}
