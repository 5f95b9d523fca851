//! The updates that a workflow emits, and the order in which all watchers get them.

use serde_json::{Value, json};
use trackway::{Artifact, Part, Stop, reject};
use trackway_domain::{Event, JSON_DEPTH_MAX, StateName};
use trackway_testkit::{TestWorld, local_run_address};

use crate::support::{Probe, load_log, start, visible_updates, wait_until_ended, wait_until_idle};

workflow!(Speaks, "speaks", |_probe, ctx, input: Value| -> Value {
    ctx.status("one").await;
    ctx.artifact(Artifact::text("a.txt", "x")?.begin()).await;
    ctx.artifact(Artifact::text("a.txt", "y")?.finish()).await;
    ctx.status([Part::text("two").with_metadata("mimeType", "text/x"), Part::data(json!({"n": 1}))]).await;
    ctx.artifact(Artifact::data("b.json", json!([1]))?).await;
    Ok(input)
});

/// Proves L2, L3, L4, L9, L10, L13.
#[test]
fn events_come_in_the_order_in_which_they_were_said_and_working_comes_once() {
    TestWorld::with_memory_store().run_to_completion(registry![Speaks(Probe::new())], async |process| {
        let run = start(&process, "speaks", json!({"k": [1, "two"]})).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(
            visible_updates(&process, run).await,
            [
                "submitted",
                "working",
                "working: one",
                "+a.txt",
                "+a.txt…",
                "working: two",
                "+b.json",
                "completed.",
            ]
        );
        assert_eq!(view.output, json!({"k": [1, "two"]}));
        let parts: Vec<_> = view.artifacts.iter().map(|kept| kept.parts.len()).collect();
        assert_eq!(parts, [2, 1], "pieces of one artifact are one artifact");
        let two = view.message_history().last().unwrap();
        assert_eq!(two.parts[0].metadata["mimeType"], "text/x");
        assert_eq!(two.parts[1].as_data(), Some(&json!({"n": 1})));
        process.wait_until_quiet().await;
    });
}

workflow!(Declines, "declines", |probe, ctx, first: String| -> () {
    match first.as_str() {
        "status" => ctx.status("well…").await,
        "step" => drop(ctx.step("look", |_| async { Ok::<_, Stop2>(1) }).await),
        "sleep" => ctx.sleep(std::time::Duration::ZERO).await,
        "now" => drop(ctx.now().await),
        _ => {}
    }
    probe.mark("declines");
    reject(format!("no, after {first}"))?;
    Ok(())
});

/// An error of a step.
#[derive(Debug)]
struct Stop2;

impl std::fmt::Display for Stop2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("never")
    }
}

impl std::error::Error for Stop2 {}

/// Proves L7, L13.
#[test]
fn a_reject_before_anything_else_never_shows_working() {
    TestWorld::with_memory_store().run_to_completion(registry![Declines(Probe::new())], async |process| {
        let run = start(&process, "declines", "nothing").await;
        wait_until_ended(&process, run).await;
        assert_eq!(visible_updates(&process, run).await, ["submitted", "rejected: no, after nothing."]);
        for first in ["status", "step", "sleep", "now"] {
            let run = start(&process, "declines", first).await;
            let view = wait_until_ended(&process, run).await;
            assert_eq!(view.state, StateName::Rejected);
            let told = visible_updates(&process, run).await;
            assert_eq!(told[1], "working", "after {first}");
            assert_eq!(*told.last().unwrap(), format!("rejected: no, after {first}."));
        }
    });
}

workflow!(Breaks, "breaks", |_probe, ctx, how: String| -> Value {
    match how.as_str() {
        "early" => return Err(Stop::failed("at once")),
        "panic" => {
            ctx.status("soon").await;
            panic!("a bug: {how}")
        }
        "question" => {
            let text = "x".parse::<u32>().map_err(|_| "ignored".to_owned());
            assert!(text.is_err());
            // Any error stops it, with its causes.
            Err(std::io::Error::other("no paper"))?
        }
        _ => Err(std::fmt::Error.into()),
    }
});

/// Proves L1, L10.
#[test]
fn an_error_and_a_panic_fail_the_run_with_their_message() {
    TestWorld::with_memory_store().run_to_completion(registry![Breaks(Probe::new())], async |process| {
        let run = start(&process, "breaks", "early").await;
        wait_until_ended(&process, run).await;
        assert_eq!(visible_updates(&process, run).await, ["submitted", "working", "failed: at once."]);
        let run = start(&process, "breaks", "panic").await;
        wait_until_ended(&process, run).await;
        assert_eq!(
            visible_updates(&process, run).await,
            ["submitted", "working", "working: soon", "failed: the program panicked: a bug: panic."]
        );
        let run = start(&process, "breaks", "question").await;
        wait_until_ended(&process, run).await;
        assert_eq!(visible_updates(&process, run).await.last().unwrap(), "failed: no paper.");
    });
}

workflow!(Nests, "nests", |probe, ctx, place: String| -> Value {
    let deep = (0..JSON_DEPTH_MAX + 50).fold(json!(1), |inner, _| json!([inner]));
    match place.as_str() {
        "status" => ctx.status(Part::data(deep)).await,
        "artifact" => ctx.artifact(Artifact::data("deep.json", deep)?).await,
        "artifact metadata" => {
            let mut artifact = Artifact::text("deep.txt", "flat")?;
            artifact.metadata.insert("deep".into(), deep);
            ctx.artifact(artifact).await;
        }
        "step" => drop(
            ctx.step("deep", |_| {
                let deep = deep.clone();
                async { Ok::<_, std::io::Error>(deep) }
            })
            .await,
        ),
        "child" => drop(ctx.child_named::<Value>("nests", deep).await),
        "question" => ctx.ask::<()>(Part::data(deep)).await,
        _ => return Ok(deep),
    }
    probe.mark("went on");
    Ok(Value::Null)
});

/// Proves L10, X5.
#[test]
fn a_value_nested_too_deeply_fails_the_run_and_its_log_stays_readable() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let places = ["status", "artifact", "artifact metadata", "step", "child", "question", "output"];
    let runs = world.run_to_completion(registry![Nests(probe.clone())], async |process| {
        let mut runs = Vec::new();
        for place in places {
            let run = start(&process, "nests", place).await;
            let view = wait_until_ended(&process, run).await;
            assert_eq!(view.state, StateName::Failed, "{place}");
            let told = visible_updates(&process, run).await;
            assert!(told.last().unwrap().contains("nested deeper"), "{place}: {told:?}");
            runs.push(run);
        }
        runs
    });
    assert_eq!(probe.count("went on"), 0);
    world.run_to_completion(registry![Nests(probe)], async |process| {
        for run in runs {
            assert_eq!(
                process.current_run_view(&local_run_address(run)).await.unwrap().state,
                StateName::Failed
            );
        }
    });
}

/// A megabyte, which no store should keep inline.
const LARGE: usize = 1 << 20;

workflow!(Heaps, "heaps", |_probe, ctx, count: u32| -> () {
    for number in 0..count {
        let text = format!("{number}").repeat(LARGE);
        ctx.artifact(Artifact::text(&format!("{number}.txt"), text)?).await;
    }
    ctx.ask::<()>("Enough?").await;
    Ok(())
});

/// Proves L4, X2.
#[test]
fn large_artifacts_survive_a_restart() {
    let world = TestWorld::with_sqlite_store();
    let run = world.run_to_completion(registry![Heaps(Probe::new())], async |process| {
        let run = start(&process, "heaps", 3).await;
        assert_eq!(wait_until_idle(&process, run).await.artifacts.len(), 3);
        run
    });
    world.run_to_completion(registry![Heaps(Probe::new())], async |process| {
        let view = process.current_run_view(&local_run_address(run)).await.unwrap();
        for (number, artifact) in view.artifacts.iter().enumerate() {
            let text = artifact.parts[0].as_text().unwrap();
            assert_eq!(text, number.to_string().repeat(LARGE));
        }
        crate::support::answer(&process, run, "a", Value::Null).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
    });
}

workflow!(Chatters, "chatters", |_probe, ctx, count: u32| -> () {
    for number in 0..count {
        match number % 2 {
            0 => ctx.status(format!("{number}")).await,
            _ => ctx.artifact(Artifact::text("log.txt", format!("{number}"))?.extend()).await,
        }
    }
    Ok(())
});

/// Proves L3, L4, L8.
#[test]
fn many_yields_in_a_row_keep_their_order() {
    TestWorld::with_sqlite_store().run_to_completion(registry![Chatters(Probe::new())], async |process| {
        let runs = [start(&process, "chatters", 1_000).await, start(&process, "chatters", 1_000).await];
        for run in runs {
            let view = wait_until_ended(&process, run).await;
            let said = |stored: &trackway_ports::StoredEvent| match &stored.event {
                Event::Status { message, .. } => message.parts[0].as_text().map(str::to_owned),
                Event::Artifact { chunk, .. } => chunk.artifact.parts[0].as_text().map(str::to_owned),
                _ => None,
            };
            let said: Vec<_> = load_log(&process, run).await.iter().filter_map(said).collect();
            assert_eq!(said, (0..1_000).map(|n| n.to_string()).collect::<Vec<_>>());
            assert_eq!(view.artifacts[0].parts.len(), 500);
        }
    });
}
