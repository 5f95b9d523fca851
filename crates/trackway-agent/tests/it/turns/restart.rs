//! Turns that another process continues after the agent's definition, its tools or its dispatched
//! workflows have changed.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_agent::Approval;
use trackway_domain::{Event, Part, Reason, RunId, StateName};
use trackway_ports::Clock as _;
use trackway_runtime::{Attempt, ReplayVerdict, RetryPolicy, replay_with};
use trackway_testkit::{CrashAt, Process, Reply, World, answer_to, at};

use super::kit::{
    Desk, asks, children, echo, ended, log, references, required, rested, say, shout, spoken,
    start, turn, until, workflow,
};

fn approved(run: RunId) -> trackway_runtime::Deliver {
    answer_to(run, "yes", json!({ "approved": true }))
}

/// A running turn continues with the agent that it began with; the next turn uses the new one.
#[test]
fn a_turn_in_flight_outlives_an_edit() {
    let mut desk = Desk::on(World::sqlite()).tool(shout());
    desk.spec.approvals.insert("shout".to_owned(), Approval::Ask);
    desk.calls(&[("c1", "shout", json!({ "text": "x" }))]);
    desk.says("Done.");
    desk.says("Yes?");
    let run = desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        rested(&process, run).await;
        run
    });
    desk.spec.prompt = "You help no more.".to_owned();
    desk.run(async |process: Process| {
        process.deliver(approved(run)).await.unwrap();
        assert_eq!(spoken(&ended(&process, run).await), "Done.");
        turn(&process, "m2", "Again.").await;
    });
    assert_eq!(desk.told(1)[0]["content"], "You help.");
    assert_eq!(desk.told(2)[0]["content"], "You help no more.");
    assert_eq!(desk.told(2).len(), 6, "it remembers the turn of the other");
}

/// A tool that is gone before its call gives an error, and the turn continues.
#[test]
fn a_tool_that_is_gone_is_told() {
    let mut desk = Desk::new().tool(shout());
    desk.spec.approvals.insert("shout".to_owned(), Approval::Ask);
    desk.calls(&[("c1", "shout", json!({ "text": "x" }))]);
    desk.says("A pity.");
    let run = desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        rested(&process, run).await;
        run
    });
    desk.stock.tools.clear();
    desk.run(async |process: Process| {
        process.deliver(approved(run)).await.unwrap();
        assert_eq!(spoken(&ended(&process, run).await), "A pity.");
    });
    assert_eq!(desk.result(1, "c1"), "shout is no longer available.");
}

/// Proves D3: a workflow that is gone before its first answer is subject to the same timeout as any
/// other.
#[test]
fn a_workflow_that_is_gone_is_not_waited_for() {
    let careful = workflow("careful", |stage, _| async move {
        let mut work = |_: Attempt| -> BoxFuture<'_, _> { Box::pin(async { Ok(Value::Null) }) };
        stage.step("work", RetryPolicy::default(), &mut work).await;
        Ok(Value::Null)
    });
    let desk = Desk::new().workflow(careful);
    desk.calls(&[("c1", "dispatch_workflow_careful", json!({ "text": "x" }))]);
    desk.says("A pity.");
    // After the two points of the turn: reading earlier turns, and calling the model.
    let faults = Arc::new(CrashAt::point("step:before", 3));
    let through = desk.world.process(desk.setup().faults(faults), async |process| {
        turn(&process, "m1", "Go.").await;
    });
    assert!(through.is_none());
    let desk = Desk { programs: Vec::new(), ..desk };
    desk.run(async |process: Process| {
        let rows = process.runs(Default::default(), None, 9).await.unwrap();
        let [child, row] = &rows[..] else { panic!("{rows:?}") };
        let limit = process.clock.now() + Duration::from_secs(5);
        process.clock.until_asleep(limit).await;
        process.clock.advance_to(limit);
        let view = ended(&process, row.id).await;
        assert_eq!(spoken(&view), "A pity.");
        let log = log(&process, row.id).await;
        assert_eq!((references(&log).len(), children(&log)), (1, vec![child.id]));
    });
    assert_eq!(desk.result(1, "c1")["outcome"], "timeout");
}

/// Proves X2: the log of a turn can be checked against its agent without side effects.
#[test]
fn the_log_of_a_turn_fits_its_agent() {
    let desk = Desk::new().workflow(echo()).tool(shout());
    desk.calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": "x" })),
        ("c2", "shout", json!({ "text": "x" })),
    ]);
    desk.says("Done.");
    let asked = desk.run(async |process: Process| {
        let view = turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Completed);
        let log = log(&process, view.submission.run).await;
        let asked = desk.server.asked().len();
        for end in 1..=log.len() {
            let verdict = replay_with(&desk.setup().registry, &log[..end]).await;
            assert_eq!(verdict, ReplayVerdict::Fits, "up to event {end}");
        }
        asked
    });
    assert_eq!(desk.server.asked().len(), asked);
}

/// Proves D2: a dispatched workflow continues if the model fails later in the turn.
#[test]
fn what_was_dispatched_outlives_a_turn_that_fails() {
    let schema = required([("sure", "boolean")]);
    let desk = Desk::new().workflow(asks("asks", Reason::InputRequired, schema));
    desk.calls(&[("c1", "dispatch_workflow_asks", json!({ "text": "x" }))]);
    desk.server.queue(Reply::refusal(401, "no key"));
    desk.run(async |process: Process| {
        let view = turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Failed);
        let child = children(&log(&process, view.submission.run).await)[0];
        process.quiet().await;
        let waiting = process.view(&at(child)).await.unwrap();
        assert_eq!(waiting.state, StateName::InputRequired, "it was not cancelled");
        process.deliver(answer_to(child, "yes", json!({ "sure": true }))).await.unwrap();
        assert_eq!(ended(&process, child).await.state, StateName::Completed);
    });
}

/// Proves L14, X2: an answer that arrives before a program is found not to match is not lost.
#[test]
fn an_answer_to_a_parked_run_counts_while_the_run_is_looked_at_again() {
    let (open, gate) = watch::channel(true);
    let looks = Arc::new(watch::Sender::new(0));
    let reads = workflow("reads", {
        let looks = looks.clone();
        move |stage, _| {
            let (mut gate, looks) = (gate.clone(), looks.clone());
            async move {
                let prompt = vec![Part::text("Where?")];
                let schema = json!({ "type": "string" });
                let (op, answer) = stage.ask(Reason::InputRequired, prompt, schema, None).await;
                if answer.input == "home" {
                    looks.send_modify(|looks| *looks += 1);
                    let _ = gate.wait_for(|open| *open).await;
                    stage.misfit(&op.to_string(), "home is no address".to_owned()).await;
                }
                Ok(answer.input)
            }
        }
    });
    let desk = Desk::new().workflow(reads);
    let run = desk.run(async |process| {
        let run = start(&process, "reads", json!({ "text": "x" }), None).await;
        rested(&process, run).await;
        process.deliver(answer_to(run, "m1", json!("home"))).await.unwrap();
        assert!(rested(&process, run).await.parked.is_some());
        run
    });
    open.send_replace(false);
    desk.run(async |process: Process| {
        // A start checks parked runs again.
        looks.subscribe().wait_for(|looks| *looks == 2).await.unwrap();
        process.deliver(answer_to(run, "m2", json!("::1"))).await.unwrap();
        open.send_replace(true);
        until(&process, run, |event| matches!(event, Event::Completed { .. })).await;
        assert_eq!(process.view(&at(run)).await.unwrap().output, "::1");
    });
}
