//! A value that does not fit a workflow's types is refused before anything is recorded, even if the
//! schema allows it. A value that was recorded anyway does not block a run for ever.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::{Event, Problem, RunId, StateName};
use trackway_engine::Delivered;
use trackway_runtime::{Answered, Error, Registry, ReplayVerdict, replay_with};
use trackway_testkit::{Process, World, at};

use crate::kit::{Probe, answer, ended, log, names, settled, start, start_as};

/// JSON Schema has no format for an address of either kind.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Peer {
    address: IpAddr,
    amount: u32,
}

workflow!(Asks, "asks", |_probe, ctx, _input: Value| -> Value {
    let peer: Peer = ctx.ask("Whom?").await;
    Ok(json!([peer.address, peer.amount]))
});

workflow!(Takes, "takes", |_probe, _ctx, peer: Peer| -> Value {
    Ok(json!([peer.address, peer.amount]))
});

workflow!(Starts, "starts", |_probe, ctx, input: Value| -> Value {
    match ctx.child_named::<Value>("takes", input).await {
        Ok(child) => Ok(child.output().await?),
        Err(_) => Ok(json!("not started")),
    }
});

fn all() -> Registry {
    let probe = Probe::new;
    registry![Asks(probe()), Takes(probe()), Starts(probe())]
}

fn peer(address: &str, amount: impl Into<Value>) -> Value {
    json!({ "address": address, "amount": amount.into() })
}

/// The result of an answer: whether it resumed the run, and the wrong paths.
fn judged(answered: Result<Answered, Error>) -> (bool, Vec<String>) {
    let Delivered::Answer { primary, problems, .. } = answered.unwrap().delivered else { panic!() };
    (primary, places(problems))
}

fn places(problems: Vec<Problem>) -> Vec<String> {
    problems.into_iter().map(|problem| problem.path).collect()
}

async fn waits(process: &Process, run: RunId) {
    let view = settled(process, run).await;
    assert_eq!((view.state, view.parked), (StateName::InputRequired, None));
}

/// Wrong answers one after the other, and then a right one.
async fn answers_are_judged(process: &Process, run: RunId) {
    waits(process, run).await;
    let refused = |path: &str| (false, vec![path.to_owned()]);
    let home = answer(process, run, "home", peer("home", json!(1))).await;
    assert_eq!(judged(home), refused("/address"), "the schema allows it, the type does not");
    for (id, amount) in [("large", json!(5_000_000_000_u64)), ("half", json!(2.5))] {
        let wrong = answer(process, run, id, peer("::1", amount)).await;
        assert_eq!(judged(wrong), refused("/amount"));
        waits(process, run).await;
    }
    let right = answer(process, run, "right", peer("::1", json!(40.0))).await;
    assert_eq!(judged(right), (true, vec![]));
    assert_eq!(ended(process, run).await.output, json!(["::1", 40]));
    assert!(!names(process, run).await.contains(&"parked"));
}

/// Proves L14, L5.
#[test]
fn an_answer_that_the_type_cannot_hold_is_refused_and_the_question_stays_open() {
    World::memory().run(all(), async |process| {
        let run = start(&process, "asks", Value::Null).await;
        answers_are_judged(&process, run).await;
    });
}

/// Proves L14, X2: also by a process that has not asked anything yet.
#[test]
fn an_answer_is_read_into_the_type_also_after_a_restart() {
    let world = World::sqlite();
    let run = world.run(all(), async |process| {
        let run = start(&process, "asks", Value::Null).await;
        waits(&process, run).await;
        run
    });
    world.run(all(), async |process| {
        answers_are_judged(&process, run).await;
        process.quiet().await;
        assert_eq!(process.runs_in_memory(), 0, "nothing stays in memory for it");
    });
}

/// Proves L14: there is no run that could fail for it.
#[test]
fn an_input_that_the_type_cannot_hold_starts_no_run() {
    World::memory().run(all(), async |process| {
        for (id, input, path) in [
            ("a", peer("home", json!(1)), "/address"),
            ("b", peer("::1", json!(5_000_000_000_u64)), "/amount"),
            ("c", peer("::1", json!(2.5)), "/amount"),
            ("d", peer("::1", json!(-1.0)), "/amount"),
            ("e", peer("::1", json!(1e30)), "/amount"),
        ] {
            let Err(Error::InvalidInput { problems, .. }) =
                start_as(&process, id, "takes", input.clone()).await
            else {
                panic!("{input} was taken")
            };
            assert_eq!(places(problems), [path]);
            let parent = start(&process, "starts", input).await;
            assert_eq!(ended(&process, parent).await.output, json!("not started"));
        }
        let rows = process.runs(Default::default(), None, 9).await.unwrap();
        assert!(rows.iter().all(|row| row.workflow.name == "starts"), "{rows:?}");
        for workflow in ["takes", "starts"] {
            let run = start(&process, workflow, peer("::1", json!(4e1))).await;
            assert_eq!(ended(&process, run).await.output, json!(["::1", 40]), "{workflow}");
        }
    });
}

workflow!(AnyText, "changes", |_probe, ctx, input: Value| -> Value {
    let text: String = ctx.ask("Where?").await;
    Ok(json!([input, text]))
});

workflow!(AnAddress, "changes", |_probe, ctx, _input: Value| -> Value {
    let address: IpAddr = ctx.ask("Where?").await;
    Ok(json!(address))
});

workflow!(AnotherInput, "changes", |_probe, ctx, _input: Peer| -> Value {
    Ok(json!(ctx.ask::<String>("Where?").await))
});

/// A run that waits, of code that is replaced before it is answered.
fn begun(world: &World) -> RunId {
    world.run(registry![AnyText(Probe::new())], async |process| {
        let run = start(&process, "changes", Value::Null).await;
        waits(&process, run).await;
        run
    })
}

/// Proves L14, X2: the question was asked by code with another type.
#[test]
fn a_run_that_is_parked_at_an_answer_takes_another_in_its_place() {
    let world = World::sqlite();
    let run = begun(&world);
    let changed = || registry![AnAddress(Probe::new())];
    world.run(changed(), async |process| {
        assert!(judged(answer(&process, run, "home", json!("home")).await).0);
        let evidence = settled(&process, run).await.parked.unwrap();
        assert!(evidence.message.contains("does not have the type"), "{evidence:?}");
        process.quiet().await;
    });
    world.run(changed(), async |process| {
        let late = answer(&process, run, "five", json!(5)).await;
        assert_eq!(judged(late), (false, vec![String::new()]), "it must fit the question");
        assert!(judged(answer(&process, run, "right", json!("::1")).await).0);
        let view = ended(&process, run).await;
        assert_eq!((view.state, view.output), (StateName::Completed, json!("::1")));
    });
    // Every replay reads the log in the same way, even if the first answer could be read.
    world.run(changed(), async |process| {
        let log: Vec<Event> =
            log(&process, run).await.into_iter().map(|stored| stored.event).collect();
        for registry in [changed(), registry![AnyText(Probe::new())]] {
            assert_eq!(replay_with(&registry, &log).await, ReplayVerdict::Fits);
        }
    });
}

/// Proves X2, X5: what was recorded elsewhere, or for other code, is evidence and no end.
#[test]
fn a_recorded_input_that_cannot_be_read_parks_the_run() {
    let world = World::sqlite();
    let run = begun(&world);
    world.run(registry![AnotherInput(Probe::new())], async |process| {
        answer(&process, run, "a", json!("here")).await.unwrap();
        let view = settled(&process, run).await;
        let evidence = view.parked.unwrap();
        assert!(evidence.message.contains("the input does not have"), "{evidence:?}");
        assert_eq!(process.view(&at(run)).await.unwrap().state, StateName::Working);
        process.quiet().await;
    });
    world.run(registry![AnyText(Probe::new())], async |process| {
        assert_eq!(ended(&process, run).await.output, json!([null, "here"]));
    });
}
