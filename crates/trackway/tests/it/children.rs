//! Children: runs that a workflow starts and waits for.

mod starting;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway::{ChildFailed, reject};
use trackway_domain::{Event, RunId, StateName};
use trackway_testkit::{TestWorld, local_run_address};

use crate::support::{
    Probe, answer, load_log, start, visible_updates, wait_for_event, wait_until_ended, wait_until_idle,
};

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Number {
    number: u32,
}

workflow!(Doubles, "doubles", |probe, ctx, input: Number| -> Number {
    probe.mark("doubles");
    match input.number {
        0 => reject("zero has no double worth having").map(|never| match never {}),
        13 => Err(std::io::Error::other("unlucky").into()),
        99 => Ok(ctx.ask("How much is it?").await),
        number => Ok(Number { number: 2 * number }),
    }
});

workflow!(Parent, "parent", |_probe, ctx, numbers: Vec<u32>| -> Value {
    let mut children = Vec::new();
    for number in numbers {
        children.push(ctx.child::<Doubles>(&Number { number }).await?);
    }
    let results = ctx.join_all(children.into_iter().map(|child| child.output())).await;
    let told = |result: Result<Number, ChildFailed>| match result {
        Ok(output) => json!(output.number),
        Err(failed) => json!([failed.state, failed.message]),
    };
    Ok(results.into_iter().map(told).collect())
});

fn child_of(event: &Event) -> Option<RunId> {
    match event {
        Event::ChildStarted { child, .. } => Some(*child),
        _ => None,
    }
}

/// Proves L17, X2.
#[test]
fn children_run_on_their_own_and_their_ends_reach_the_parent() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    world.run_to_completion(registry![Doubles(probe.clone()), Parent(probe.clone())], async |process| {
        let run = start(&process, "parent", json!([4, 0, 13, 5])).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(
            view.output,
            json!([8, ["rejected", "zero has no double worth having"], ["failed", "unlucky"], 10])
        );
        let children: Vec<_> =
            load_log(&process, run).await.iter().filter_map(|s| child_of(&s.event)).collect();
        assert_eq!(children.len(), 4);
        for (child, message) in children.iter().zip(view.message_history()) {
            assert_eq!(message.references, [child.to_string()], "each is told of alone");
            let child = process.current_run_view(&local_run_address(*child)).await.unwrap();
            assert_eq!(child.submission.parent, Some(run));
            assert_eq!(child.submission.session, view.submission.session);
        }
        assert_eq!(visible_updates(&process, children[0]).await, ["submitted", "working", "completed."]);
        process.wait_until_quiet().await;
    });
    assert_eq!(probe.count("doubles"), 4);
}

/// Proves L17, X2.
#[test]
fn a_child_that_asks_is_answered_by_itself_and_the_parent_costs_nothing_meanwhile() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    let (run, child) =
        world.run_to_completion(registry![Doubles(probe.clone()), Parent(probe.clone())], async |process| {
            let run = start(&process, "parent", json!([99])).await;
            let child =
                child_of(&wait_for_event(&process, run, |event| child_of(event).is_some()).await.event)
                    .unwrap();
            process.wait_until_quiet().await;
            (run, child)
        });
    world.run_to_completion(registry![Doubles(probe.clone()), Parent(probe)], async |process| {
        wait_until_idle(&process, child).await;
        answer(&process, child, "a", json!({"number": 7})).await.unwrap();
        assert_eq!(wait_until_ended(&process, run).await.state, StateName::Completed);
    });
}

workflow!(Curious, "curious", |_probe, ctx, name: String| -> Value {
    let started = ctx.child_named::<Value>(&name, json!({"number": "many"})).await;
    let first = match started {
        Ok(child) => format!("{:?}", child.outcome().await.state),
        Err(stop) => format!("{stop:?}"),
    };
    // The answer is replayed after the failed start, which must be found again.
    let more: u32 = ctx.ask("Go on?").await;
    ctx.status("went on").await;
    Ok(json!([first, more]))
});

/// Proves L17, X5.
#[test]
fn a_child_that_cannot_be_started_is_an_error_and_not_the_end() {
    for (name, why) in [("nobody", "no workflow named"), ("doubles", "number: ")] {
        let world = TestWorld::with_memory_store();
        let registry = || registry![Doubles(Probe::new()), Curious(Probe::new())];
        let run = world.run_to_completion(registry(), async |process| {
            let run = start(&process, "curious", name).await;
            let view = wait_until_idle(&process, run).await;
            assert_eq!(view.state, StateName::InputRequired, "{view:?}");
            run
        });
        world.run_to_completion(registry(), async |process| {
            answer(&process, run, "a", 1).await.unwrap();
            let view = wait_until_idle(&process, run).await;
            assert_eq!(view.parked, None);
            assert!(view.output[0].as_str().unwrap().contains(why), "{:?}", view.output);
            assert_eq!(view.output[1], 1);
        });
    }
}

workflow!(Generations, "generations", |probe, ctx, below: u32| -> () {
    let _gone = probe.guard("gone");
    if below == 0 {
        ctx.step("for ever", |_| async {
            probe.mark("at the bottom");
            std::future::pending::<Result<(), std::io::Error>>().await
        })
        .await?;
    }
    let below = ctx.child_named::<()>("generations", json!(below - 1)).await?;
    below.output().await?;
    Ok(())
});

/// Proves L10, L17.
#[test]
fn cancelling_a_parent_cancels_its_children_and_theirs() {
    let (world, probe) = (TestWorld::with_sqlite_store(), Probe::new());
    world.run_to_completion(registry![Generations(probe.clone())], async |process| {
        let top = start(&process, "generations", 3).await;
        probe.wait_for_mark("at the bottom", 1).await;
        let canceled = process.cancel_run(&local_run_address(top)).await.unwrap();
        assert_eq!(canceled.state, StateName::Canceled);
        process.wait_until_quiet().await;
        let mut runs = process.list_runs(Default::default(), None, 10).await.unwrap();
        runs.retain(|row| row.state != StateName::Canceled);
        assert_eq!(runs, []);
        for row in process.list_runs(Default::default(), None, 10).await.unwrap() {
            assert_eq!(visible_updates(&process, row.id).await.last().unwrap(), "canceled.");
        }
    });
    assert_eq!(probe.marks().last().unwrap(), "gone", "the code at the bottom was dropped");
}

workflow!(Careless, "careless", |probe, ctx, how: String| -> () {
    let child = ctx.child_named::<()>("generations", json!(0)).await?;
    probe.wait_at_gate("the end").await;
    match how.as_str() {
        "fails" => Err(std::io::Error::other("oh"))?,
        "rejects" => reject("no")?,
        _ => {
            return {
                let _: () = drop(child);
                Ok(())
            };
        }
    };
    Ok(())
});

/// Proves L10, L17.
#[test]
fn failed_parent_cancels_its_children_and_completed_one_leaves_them() {
    for (how, childs) in [("fails", "canceled."), ("rejects", "canceled."), ("completes", "working")] {
        let (world, probe) = (TestWorld::with_memory_store(), Probe::new());
        world.run_to_completion(
            registry![Generations(probe.clone()), Careless(probe.clone())],
            async |process| {
                let run = start(&process, "careless", how).await;
                let child =
                    child_of(&wait_for_event(&process, run, |event| child_of(event).is_some()).await.event)
                        .unwrap();
                probe.wait_for_mark("at the bottom", 1).await;
                probe.open_gate("the end");
                wait_until_ended(&process, run).await;
                if how == "completes" {
                    assert_eq!(
                        process.current_run_view(&local_run_address(child)).await.unwrap().state,
                        StateName::Submitted
                    );
                    process.cancel_run(&local_run_address(child)).await.unwrap();
                } else {
                    wait_until_ended(&process, child).await;
                    assert_eq!(visible_updates(&process, child).await.last().unwrap(), childs);
                }
                process.wait_until_quiet().await;
            },
        );
    }
}
