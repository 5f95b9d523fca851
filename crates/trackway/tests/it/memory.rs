//! Waiting costs nothing.

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use trackway_domain::StateName;
use trackway_testkit::{ProcessSetup, TestWorld};

use crate::support::{Probe, answer, start, wait_until_ended, wait_until_idle};

const RUNS: usize = 1_000;

workflow!(Waits, "waits", |probe, ctx, number: u32| -> u32 {
    let _gone = probe.guard("gone");
    ctx.status("on my way").await;
    let more: u32 = ctx.ask("And?").await;
    Ok(number + more)
});

/// Proves X2.
#[test]
fn heavy_thousand_waiting_runs_leave_memory_and_survive_a_restart() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    // Without recovery, which would mistake runs that have just started for those of a dead process.
    let setup = ProcessSetup { recover: false, ..registry![Waits(probe.clone())].into() };
    let runs = world.run_to_completion(setup, async |process| {
        let runs: Vec<_> =
            stream::iter(0..RUNS).map(|number| start(&process, "waits", number)).buffered(64).collect().await;
        for run in &runs {
            wait_until_idle(&process, *run).await;
        }
        probe.wait_for_mark("gone", RUNS).await;
        process.wait_until_quiet().await;
        assert_eq!(process.count_runs_in_memory(), 0);
        assert_eq!(probe.count("gone"), RUNS, "each program was dropped once");
        runs
    });
    world.run_to_completion(registry![Waits(probe.clone())], async |process| {
        process.wait_until_quiet().await;
        assert_eq!(probe.count("gone"), RUNS, "no program is taken up for nothing");
        let answered = stream::iter(runs.iter().enumerate()).map(async |(number, run)| {
            answer(&process, *run, &format!("a{number}"), 1).await.unwrap();
            let view = wait_until_ended(&process, *run).await;
            assert_eq!((view.state, view.output), (StateName::Completed, json!(number + 1)));
        });
        answered.buffer_unordered(64).collect::<Vec<()>>().await;
        process.wait_until_quiet().await;
    });
}

workflow!(Rests, "rests", |probe, ctx, how: String| -> () {
    let _gone = probe.guard("gone");
    match how.as_str() {
        "child" => ctx.child_named::<()>("rests", "question".into()).await?.output().await?,
        "sleep" => ctx.sleep(std::time::Duration::from_secs(9)).await,
        "both" => {
            let asked = ctx.ask::<()>("Well?").into_future();
            ctx.join(asked, ctx.sleep(std::time::Duration::from_secs(9))).await;
        }
        _ => ctx.ask::<()>("Well?").await,
    }
    Ok(())
});

/// Proves X2.
#[test]
fn a_run_that_waits_for_anything_is_not_in_memory() {
    for how in ["question", "sleep", "child", "both"] {
        let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
        world.run_to_completion(registry![Rests(probe.clone())], async |process| {
            start(&process, "rests", how).await;
            probe.wait_for_mark("gone", if how == "child" { 2 } else { 1 }).await;
            process.wait_until_quiet().await;
        });
    }
}

/// Proves L10.
#[test]
fn a_run_that_has_ended_is_not_in_memory() {
    TestWorld::with_memory_store().run_to_completion(registry![Waits(Probe::new())], async |process| {
        let run = start(&process, "waits", 1).await;
        wait_until_idle(&process, run).await;
        answer(&process, run, "a", 1).await.unwrap();
        wait_until_ended(&process, run).await;
        process.wait_until_quiet().await;
        let unknown = trackway_domain::RunId::new(Default::default());
        process.current_run_view(&trackway_testkit::local_run_address(unknown)).await.unwrap_err();
        assert_eq!(process.count_runs_in_memory(), 0, "asking for an unknown run leaves nothing behind");
        let nothing = answer(&process, run, "b", Value::Null).await;
        assert!(nothing.is_ok() || nothing.is_err());
        process.wait_until_quiet().await;
    });
}
