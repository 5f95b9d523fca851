//! A turn's seconds: the time of models and tools counts, the time of people does not.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use trackway_agent::{ToolPermission, TurnBudgets};
use trackway_domain::{InterruptReason, Part, StateName};
use trackway_runtime::Tool;
use trackway_testkit::{ScriptedChatReply, TestProcess, answer_delivery};

use super::harness::{
    AgentHarness, approval_schema, asking_workflow, dispatch_and_find_child, failure_reason, response_text,
    run_turn, send_text, start_turn, tool, uppercase_tool, wait_until_ended, wait_until_idle,
};

const MINUTE: Duration = Duration::from_secs(60);

/// A desk whose agent has a minute, and a tool that takes 40 seconds.
fn desk() -> AgentHarness {
    let desk = AgentHarness::new();
    let clock = desk.world.clock.clone();
    let mut desk = desk.with_tool(tool("sleepy", move |_, _| {
        clock.advance(Duration::from_secs(40));
        Box::pin(async { Ok(Value::Null.into()) })
    }));
    desk.spec.budgets = TurnBudgets { seconds: Some(60), ..TurnBudgets::default() };
    desk
}

async fn yes(process: &TestProcess, run: trackway_domain::RunId, id: &str) {
    let question = wait_until_idle(process, run).await.question.unwrap();
    let mut yes = answer_delivery(run, id, json!({ "approved": true }));
    yes.question = Some(question.id);
    process.deliver_message(yes).await.unwrap();
}

/// Two concurrent approvals wait at the same time, and their time counts once.
#[test]
fn waits_beside_each_other_count_once() {
    let mut desk = desk().with_tool(uppercase_tool());
    desk.spec.approvals.insert("shout".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[
        ("c1", "shout", json!({ "text": "x" })),
        ("c2", "shout", json!({ "text": "y" })),
    ]);
    desk.queue_tool_calls(&[("c3", "sleepy", json!({ "text": "x" }))]);
    desk.queue_tool_calls(&[("c4", "sleepy", json!({ "text": "x" }))]);
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        for (id, minutes) in [("y1", 5), ("y2", 1)] {
            wait_until_idle(&process, run).await;
            process.clock.advance(MINUTE * minutes);
            yes(&process, run, id).await;
        }
        let sentence = "I stopped: this turn may take 60 seconds and has taken 80.";
        assert_eq!(response_text(&wait_until_ended(&process, run).await), sentence);
    });
}

/// The time that a user takes to choose a question does not count.
#[test]
fn the_time_to_say_which_does_not_count() {
    let desk =
        desk().with_workflow(asking_workflow("approve", InterruptReason::InputRequired, approval_schema()));
    desk.run_process(async |process| {
        dispatch_and_find_child(&process, &desk, "m1", "approve").await;
        let second = dispatch_and_find_child(&process, &desk, "m2", "approve").await;
        desk.queue_text("The second it is.");
        let run = send_text(&process, "m3", "yes").await;
        assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
        process.clock.advance(MINUTE * 2);
        let which = answer_delivery(run, "which", json!({ "taskId": second.to_string() }));
        process.deliver_message(which).await.unwrap();
        assert_eq!(response_text(&wait_until_ended(&process, run).await), "The second it is.");
    });
}

/// A tool that itself takes 40 seconds and asks the user, as MCP servers do.
fn wonders(desk: &AgentHarness) -> Arc<dyn Tool> {
    let clock = desk.world.clock.clone();
    tool("wonders", move |_, call| {
        let clock = clock.clone();
        Box::pin(async move {
            let answer = call.ask_question(vec![Part::text("Really?")], approval_schema()).await?;
            clock.advance(Duration::from_secs(40));
            Ok(answer.into())
        })
    })
}

/// The time that people take for a tool's question does not count, although the step is running. This
/// is also true if the process ended before they answered and the question was found again.
#[test]
fn the_time_for_a_tools_question_does_not_count() {
    for restart in [false, true] {
        let desk = desk();
        let tool = wonders(&desk);
        let desk = desk.with_tool(tool);
        desk.queue_tool_calls(&[("c1", "wonders", json!({ "text": "x" }))]);
        desk.queue_tool_calls(&[("c2", "sleepy", json!({ "text": "x" }))]);
        let run = desk.run_process(async |process| {
            let run = send_text(&process, "m1", "Go.").await;
            wait_until_idle(&process, run).await;
            process.clock.advance(MINUTE * 2);
            if !restart {
                yes(&process, run, "y1").await;
                wait_until_ended(&process, run).await;
            }
            run
        });
        desk.run_process(async |process| {
            if restart {
                yes(&process, run, "y1").await;
            }
            let sentence = "I stopped: this turn may take 60 seconds and has taken 80.";
            assert_eq!(response_text(&wait_until_ended(&process, run).await), sentence, "restart: {restart}");
        });
        assert_eq!(desk.server.requests().len(), 2);
    }
}

/// A workflow cannot use the sentence of a turn: the run fails with it, whichever budget is used up and
/// whether or not an output schema is required.
#[test]
fn work_that_is_cut_short_fails() {
    for output in [Value::Null, json!({ "type": "object" })] {
        for (budgets, why) in [
            (TurnBudgets { calls: 1, ..TurnBudgets::default() }, "make 1 model call"),
            (TurnBudgets { seconds: Some(1), ..TurnBudgets::default() }, "take 1 seconds"),
        ] {
            let mut desk = AgentHarness::new().with_tool(uppercase_tool());
            let stays = budgets.seconds.is_some();
            desk.spec.budgets = budgets;
            desk.server.queue_reply(if stays {
                ScriptedChatReply::default().with_text("Well, ").to_unfinished_reply().keep_open_silently()
            } else {
                ScriptedChatReply::default().with_tool_calls(&[("c1", "shout", r#"{"text":"x"}"#)]).into()
            });
            desk.run_process(async |process| {
                let input = json!({ "prompt": "Work.", "output": output });
                let run = start_turn(&process, input, None).await;
                let view = wait_until_ended(&process, run).await;
                assert_eq!(view.state, StateName::Failed, "{why}, {output}");
                assert!(failure_reason(&view).contains(why), "{}", failure_reason(&view));
            });
            assert_eq!(desk.server.requests().len(), 1);
        }
    }
}

/// A summary does not run longer than the turn's time.
#[test]
fn a_summary_is_not_waited_for_for_ever() {
    let mut desk = AgentHarness::new();
    let long = "All work and no play makes a long day. ".repeat(3_000);
    desk.spec.budgets = TurnBudgets { seconds: Some(2), ..TurnBudgets::default() };
    desk.queue_text("Noted.");
    desk.queue_text("Noted.");
    desk.run_process(async |process| {
        run_turn(&process, "m1", &long).await;
        run_turn(&process, "m2", &long).await;
        desk.server.queue_reply(ScriptedChatReply::default().to_unfinished_reply().keep_open_silently());
        desk.queue_text("I have forgotten the beginning.");
        let view = run_turn(&process, "m3", &long).await;
        assert_eq!(response_text(&view), "I have forgotten the beginning.");
        desk.server.wait_for_dropped_connection().await;
    });
    let asked = desk.server.requests();
    assert!(asked[3].body["messages"].to_string().contains("are left out here"));
}
