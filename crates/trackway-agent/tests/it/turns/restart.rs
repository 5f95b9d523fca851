//! Turns that another process continues after the agent's definition, its tools or its dispatched
//! workflows have changed.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_agent::ToolPermission;
use trackway_domain::{Event, InterruptReason, Part, RunId, StateName};
use trackway_ports::Clock as _;
use trackway_runtime::{ReplayVerdict, RetryPolicy, StepAttempt, replay_with_registered_program};
use trackway_testkit::{CrashAt, ScriptedReply, TestProcess, TestWorld, answer_delivery, local_run_address};

use super::harness::{
    AgentHarness, asking_workflow, child_runs, echo_workflow, load_log, object_schema, referencing_messages,
    response_text, run_turn, send_text, start_run, uppercase_tool, wait_for_event, wait_until_ended,
    wait_until_idle, workflow,
};

fn approved(run: RunId) -> trackway_runtime::DeliverMessageRequest {
    answer_delivery(run, "yes", json!({ "approved": true }))
}

/// A running turn continues with the agent that it began with; the next turn uses the new one.
#[test]
fn a_turn_in_flight_outlives_an_edit() {
    let mut desk = AgentHarness::on_world(TestWorld::with_sqlite_store()).with_tool(uppercase_tool());
    desk.spec.approvals.insert("shout".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[("c1", "shout", json!({ "text": "x" }))]);
    desk.queue_text("Done.");
    desk.queue_text("Yes?");
    let run = desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        wait_until_idle(&process, run).await;
        run
    });
    desk.spec.prompt = "You help no more.".to_owned();
    desk.run_process(async |process: TestProcess| {
        process.deliver_message(approved(run)).await.unwrap();
        assert_eq!(response_text(&wait_until_ended(&process, run).await), "Done.");
        run_turn(&process, "m2", "Again.").await;
    });
    assert_eq!(desk.request_messages(1)[0]["content"], "You help.");
    assert_eq!(desk.request_messages(2)[0]["content"], "You help no more.");
    assert_eq!(desk.request_messages(2).len(), 6, "it remembers the turn of the other");
}

/// A tool that is gone before its call gives an error, and the turn continues.
#[test]
fn a_tool_that_is_gone_is_told() {
    let mut desk = AgentHarness::new().with_tool(uppercase_tool());
    desk.spec.approvals.insert("shout".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[("c1", "shout", json!({ "text": "x" }))]);
    desk.queue_text("A pity.");
    let run = desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        wait_until_idle(&process, run).await;
        run
    });
    desk.snapshot.tools.clear();
    desk.run_process(async |process: TestProcess| {
        process.deliver_message(approved(run)).await.unwrap();
        assert_eq!(response_text(&wait_until_ended(&process, run).await), "A pity.");
    });
    assert_eq!(desk.tool_result(1, "c1"), "shout is no longer available.");
}

/// Proves D3: a workflow that is gone before its first answer is subject to the same timeout as any
/// other.
#[test]
fn a_workflow_that_is_gone_is_not_waited_for() {
    let careful = workflow("careful", |stage, _| async move {
        let mut work = |_: StepAttempt| -> BoxFuture<'_, _> { Box::pin(async { Ok(Value::Null) }) };
        stage.step("work", RetryPolicy::default(), &mut work).await;
        Ok(Value::Null)
    });
    let desk = AgentHarness::new().with_workflow(careful);
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_careful", json!({ "text": "x" }))]);
    desk.queue_text("A pity.");
    // After the two points of the turn: reading earlier turns, and calling the model.
    let faults = Arc::new(CrashAt::at_point("step:before", 3));
    let through = desk.world.run_process(desk.setup().with_faults(faults), async |process| {
        run_turn(&process, "m1", "Go.").await;
    });
    assert!(through.is_none());
    let desk = AgentHarness { programs: Vec::new(), ..desk };
    desk.run_process(async |process: TestProcess| {
        let rows = process.list_runs(Default::default(), None, 9).await.unwrap();
        let [child, row] = &rows[..] else { panic!("{rows:?}") };
        let limit = process.clock.now() + Duration::from_secs(5);
        process.clock.wait_for_sleeper(limit).await;
        process.clock.advance_to(limit);
        let view = wait_until_ended(&process, row.id).await;
        assert_eq!(response_text(&view), "A pity.");
        let log = load_log(&process, row.id).await;
        assert_eq!((referencing_messages(&log).len(), child_runs(&log)), (1, vec![child.id]));
    });
    assert_eq!(desk.tool_result(1, "c1")["outcome"], "timeout");
}

/// Proves X2: the log of a turn can be checked against its agent without side effects.
#[test]
fn the_log_of_a_turn_fits_its_agent() {
    let desk = AgentHarness::new().with_workflow(echo_workflow()).with_tool(uppercase_tool());
    desk.queue_tool_calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": "x" })),
        ("c2", "shout", json!({ "text": "x" })),
    ]);
    desk.queue_text("Done.");
    let asked = desk.run_process(async |process: TestProcess| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Completed);
        let log = load_log(&process, view.submission.run).await;
        let asked = desk.server.requests().len();
        for end in 1..=log.len() {
            let verdict = replay_with_registered_program(&desk.setup().registry, &log[..end]).await;
            assert_eq!(verdict, ReplayVerdict::Matches, "up to event {end}");
        }
        asked
    });
    assert_eq!(desk.server.requests().len(), asked);
}

/// Proves D2: a dispatched workflow continues if the model fails later in the turn.
#[test]
fn dispatched_workflow_outlives_a_failed_turn() {
    let schema = object_schema([("sure", "boolean")]);
    let desk =
        AgentHarness::new().with_workflow(asking_workflow("asks", InterruptReason::InputRequired, schema));
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_asks", json!({ "text": "x" }))]);
    desk.server.queue_reply(ScriptedReply::error_body(401, "no key"));
    desk.run_process(async |process: TestProcess| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Failed);
        let child = child_runs(&load_log(&process, view.submission.run).await)[0];
        process.wait_until_quiet().await;
        let waiting = process.current_run_view(&local_run_address(child)).await.unwrap();
        assert_eq!(waiting.state, StateName::InputRequired, "it was not cancelled");
        process.deliver_message(answer_delivery(child, "yes", json!({ "sure": true }))).await.unwrap();
        assert_eq!(wait_until_ended(&process, child).await.state, StateName::Completed);
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
                let (op, answer) =
                    stage.ask_question(InterruptReason::InputRequired, prompt, schema, None).await;
                if answer.input == "home" {
                    looks.send_modify(|looks| *looks += 1);
                    let _ = gate.wait_for(|open| *open).await;
                    stage.park_as_nondeterministic(&op.to_string(), "home is no address".to_owned()).await;
                }
                Ok(answer.input)
            }
        }
    });
    let desk = AgentHarness::new().with_workflow(reads);
    let run = desk.run_process(async |process| {
        let run = start_run(&process, "reads", json!({ "text": "x" }), None).await;
        wait_until_idle(&process, run).await;
        process.deliver_message(answer_delivery(run, "m1", json!("home"))).await.unwrap();
        assert!(wait_until_idle(&process, run).await.parked.is_some());
        run
    });
    open.send_replace(false);
    desk.run_process(async |process: TestProcess| {
        // A start checks parked runs again.
        looks.subscribe().wait_for(|looks| *looks == 2).await.unwrap();
        process.deliver_message(answer_delivery(run, "m2", json!("::1"))).await.unwrap();
        open.send_replace(true);
        wait_for_event(&process, run, |event| matches!(event, Event::Completed { .. })).await;
        assert_eq!(process.current_run_view(&local_run_address(run)).await.unwrap().output, "::1");
    });
}
