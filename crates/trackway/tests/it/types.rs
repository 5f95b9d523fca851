//! A value that does not fit a workflow's types is refused before anything is recorded, even if the
//! schema allows it. A value that was recorded anyway does not block a run for ever.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trackway_domain::{Event, RunId, StateName, ValidationError};
use trackway_engine::MessageDeliveryOutcome;
use trackway_runtime::{
    DeliverMessageResponse, Error, ProgramRegistry, ReplayVerdict, replay_with_registered_program,
};
use trackway_testkit::{TestProcess, TestWorld, local_run_address};

use crate::support::{
    Probe, answer, event_names, load_log, start, start_as, wait_until_ended, wait_until_idle,
};

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

workflow!(Takes, "takes", |_probe, _ctx, peer: Peer| -> Value { Ok(json!([peer.address, peer.amount])) });

workflow!(Starts, "starts", |_probe, ctx, input: Value| -> Value {
    match ctx.child_named::<Value>("takes", input).await {
        Ok(child) => Ok(child.output().await?),
        Err(_) => Ok(json!("not started")),
    }
});

fn test_registry() -> ProgramRegistry {
    let probe = Probe::new;
    registry![Asks(probe()), Takes(probe()), Starts(probe())]
}

fn peer(address: &str, amount: impl Into<Value>) -> Value {
    json!({ "address": address, "amount": amount.into() })
}

/// The result of an answer: whether it resumed the run, and the wrong paths.
fn judge_reply(answered: Result<DeliverMessageResponse, Error>) -> (bool, Vec<String>) {
    let MessageDeliveryOutcome::Answer { primary, problems, .. } = answered.unwrap().delivered else {
        panic!()
    };
    (primary, error_paths(problems))
}

fn error_paths(problems: Vec<ValidationError>) -> Vec<String> {
    problems.into_iter().map(|problem| problem.path).collect()
}

async fn wait_for_question(process: &TestProcess, run: RunId) {
    let view = wait_until_idle(process, run).await;
    assert_eq!((view.state, view.parked), (StateName::InputRequired, None));
}

/// Wrong answers one after the other, and then a right one.
async fn answers_are_judged(process: &TestProcess, run: RunId) {
    wait_for_question(process, run).await;
    let refused = |path: &str| (false, vec![path.to_owned()]);
    let home = answer(process, run, "home", peer("home", json!(1))).await;
    assert_eq!(judge_reply(home), refused("/address"), "the schema allows it, the type does not");
    for (id, amount) in [("large", json!(5_000_000_000_u64)), ("half", json!(2.5))] {
        let wrong = answer(process, run, id, peer("::1", amount)).await;
        assert_eq!(judge_reply(wrong), refused("/amount"));
        wait_for_question(process, run).await;
    }
    let right = answer(process, run, "right", peer("::1", json!(40.0))).await;
    assert_eq!(judge_reply(right), (true, vec![]));
    assert_eq!(wait_until_ended(process, run).await.output, json!(["::1", 40]));
    assert!(!event_names(process, run).await.contains(&"parked"));
}

/// Proves L14, L5.
#[test]
fn an_answer_that_the_type_cannot_hold_is_refused_and_the_question_stays_open() {
    TestWorld::with_memory_store().run_to_completion(test_registry(), async |process| {
        let run = start(&process, "asks", Value::Null).await;
        answers_are_judged(&process, run).await;
    });
}

/// Proves L14, X2: also by a process that has not asked anything yet.
#[test]
fn an_answer_is_read_into_the_type_also_after_a_restart() {
    let world = TestWorld::with_sqlite_store();
    let run = world.run_to_completion(test_registry(), async |process| {
        let run = start(&process, "asks", Value::Null).await;
        wait_for_question(&process, run).await;
        run
    });
    world.run_to_completion(test_registry(), async |process| {
        answers_are_judged(&process, run).await;
        process.wait_until_quiet().await;
        assert_eq!(process.count_runs_in_memory(), 0, "nothing stays in memory for it");
    });
}

/// Proves L14: there is no run that could fail for it.
#[test]
fn an_input_that_the_type_cannot_hold_starts_no_run() {
    TestWorld::with_memory_store().run_to_completion(test_registry(), async |process| {
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
            assert_eq!(error_paths(problems), [path]);
            let parent = start(&process, "starts", input).await;
            assert_eq!(wait_until_ended(&process, parent).await.output, json!("not started"));
        }
        let rows = process.list_runs(Default::default(), None, 9).await.unwrap();
        assert!(rows.iter().all(|row| row.workflow.name == "starts"), "{rows:?}");
        for workflow in ["takes", "starts"] {
            let run = start(&process, workflow, peer("::1", json!(4e1))).await;
            assert_eq!(wait_until_ended(&process, run).await.output, json!(["::1", 40]), "{workflow}");
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
fn start_waiting_run(world: &TestWorld) -> RunId {
    world.run_to_completion(registry![AnyText(Probe::new())], async |process| {
        let run = start(&process, "changes", Value::Null).await;
        wait_for_question(&process, run).await;
        run
    })
}

/// Proves L14, X2: the question was asked by code with another type.
#[test]
fn a_run_that_is_parked_at_an_answer_takes_another_in_its_place() {
    let world = TestWorld::with_sqlite_store();
    let run = start_waiting_run(&world);
    let changed = || registry![AnAddress(Probe::new())];
    world.run_to_completion(changed(), async |process| {
        assert!(judge_reply(answer(&process, run, "home", json!("home")).await).0);
        let evidence = wait_until_idle(&process, run).await.parked.unwrap();
        assert!(evidence.message.contains("does not have the type"), "{evidence:?}");
        process.wait_until_quiet().await;
    });
    world.run_to_completion(changed(), async |process| {
        let late = answer(&process, run, "five", json!(5)).await;
        assert_eq!(judge_reply(late), (false, vec![String::new()]), "it must fit the question");
        assert!(judge_reply(answer(&process, run, "right", json!("::1")).await).0);
        let view = wait_until_ended(&process, run).await;
        assert_eq!((view.state, view.output), (StateName::Completed, json!("::1")));
    });
    // Every replay reads the log in the same way, even if the first answer could be read.
    world.run_to_completion(changed(), async |process| {
        let log: Vec<Event> = load_log(&process, run).await.into_iter().map(|stored| stored.event).collect();
        for registry in [changed(), registry![AnyText(Probe::new())]] {
            assert_eq!(replay_with_registered_program(&registry, &log).await, ReplayVerdict::Matches);
        }
    });
}

/// Proves X2, X5: what was recorded elsewhere, or for other code, is evidence and no end.
#[test]
fn a_recorded_input_that_cannot_be_read_parks_the_run() {
    let world = TestWorld::with_sqlite_store();
    let run = start_waiting_run(&world);
    world.run_to_completion(registry![AnotherInput(Probe::new())], async |process| {
        answer(&process, run, "a", json!("here")).await.unwrap();
        let view = wait_until_idle(&process, run).await;
        let evidence = view.parked.unwrap();
        assert!(evidence.message.contains("the input does not have"), "{evidence:?}");
        assert_eq!(
            process.current_run_view(&local_run_address(run)).await.unwrap().state,
            StateName::Working
        );
        process.wait_until_quiet().await;
    });
    world.run_to_completion(registry![AnyText(Probe::new())], async |process| {
        assert_eq!(wait_until_ended(&process, run).await.output, json!([null, "here"]));
    });
}
