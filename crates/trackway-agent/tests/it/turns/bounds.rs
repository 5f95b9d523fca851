//! Budgets end a turn with a sentence; approvals are questions; a refusal goes to the model.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use trackway_agent::{ToolPermission, TurnBudgets};
use trackway_domain::{Event, RunId, StateName};
use trackway_testkit::{ScriptedChatReply, TestProcess, answer_delivery};

use super::harness::{
    AgentHarness, assert_fits_its_log, child_runs, counting_tool, echo_workflow, find_artifact, load_log,
    parts_text, response_text, run_turn, send_text, tool, tool_with_schema, uppercase_tool, wait_until_ended,
    wait_until_idle,
};

/// A model that always calls a tool.
fn circling(desk: &AgentHarness) {
    desk.server.set_responder(|_| {
        ScriptedChatReply::default()
            .with_text("Again.")
            .with_tool_calls(&[("c1", "shout", r#"{"text":"x"}"#)])
            .into()
    });
}

/// A model that loops is stopped, and its text is kept.
#[test]
fn a_turn_ends_where_its_calls_are_used_up() {
    let mut desk = AgentHarness::new().with_tool(uppercase_tool());
    desk.spec.budgets = TurnBudgets { calls: 2, ..TurnBudgets::default() };
    circling(&desk);
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Completed);
        let sentence = "I stopped: this turn may make 2 model calls and has made them.";
        assert_eq!(response_text(&view), format!("Again.\n\nAgain.\n\n{sentence}"));
        assert_eq!(view.output["text"], sentence);
        find_artifact(&view, "tool-result-shout.2");
    });
    assert_eq!(desk.server.requests().len(), 2);
}

#[test]
fn a_turn_ends_where_its_tokens_are_used_up() {
    let mut desk = AgentHarness::new().with_tool(uppercase_tool());
    desk.spec.budgets = TurnBudgets { tokens: Some(20), ..TurnBudgets::default() };
    circling(&desk);
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert!(response_text(&view).ends_with("may use 20 tokens and has used 30."), "{view:?}");
    });
    assert_eq!(desk.server.requests().len(), 2);
}

/// Seconds follow the recorded clock; waiting for people does not count.
#[test]
fn a_turn_ends_where_its_time_is_over() {
    let mut desk = AgentHarness::new();
    let clock = desk.world.clock.clone();
    desk = desk.with_tool(uppercase_tool()).with_tool(tool("sleepy", move |_, _| {
        clock.advance(Duration::from_secs(40));
        Box::pin(async { Ok(Value::Null.into()) })
    }));
    desk.spec.budgets = TurnBudgets { seconds: Some(30), ..TurnBudgets::default() };
    desk.spec.approvals.insert("shout".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[("c1", "shout", json!({ "text": "x" }))]);
    desk.queue_tool_calls(&[("c2", "sleepy", json!({ "text": "x" }))]);
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
        process.clock.advance(Duration::from_secs(3_600));
        answer(&process, run, json!({ "approved": true })).await;
        let view = wait_until_ended(&process, run).await;
        assert_eq!(response_text(&view), "I stopped: this turn may take 30 seconds and has taken 40.");
    });
    assert_eq!(desk.server.requests().len(), 2, "the hour of waiting did not count");
}

/// A turn does not wait for a model beyond its time, and withdraws the model's text.
#[test]
fn an_answer_that_takes_too_long_is_left() {
    let mut desk = AgentHarness::new();
    desk.spec.budgets = TurnBudgets { seconds: Some(1), ..TurnBudgets::default() };
    desk.server.queue_reply(
        ScriptedChatReply::default().with_text("Well, ").to_unfinished_reply().keep_open_silently(),
    );
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert_eq!(view.state, StateName::Completed);
        assert_eq!(response_text(&view), "I stopped: this turn may take 1 seconds and has taken 1.");
        desk.server.wait_for_dropped_connection().await;
    });
}

async fn answer(process: &TestProcess, run: RunId, input: Value) {
    process.deliver_message(answer_delivery(run, "yes", input)).await.unwrap();
}

/// An approval is a question for `{approved}` that shows tool and arguments; the same task continues.
#[test]
fn a_call_that_has_to_be_approved_is_made_with_a_yes_alone() {
    for approved in [true, false] {
        let calls = Arc::new(AtomicUsize::new(0));
        let mut desk = AgentHarness::new().with_tool(counting_tool(&calls));
        desk.spec.approvals.insert("c*".to_owned(), ToolPermission::Ask);
        desk.queue_tool_calls(&[("c1", "count", json!({ "text": "x" }))]);
        desk.queue_text("I see.");
        desk.run_process(async |process| {
            let run = send_text(&process, "m1", "Go.").await;
            let view = wait_until_idle(&process, run).await;
            let question = view.question.unwrap();
            assert_eq!(question.schema["required"], json!(["approved"]));
            let data = json!({ "tool": "count", "arguments": { "text": "x" }, "toolCallId": "c1" });
            assert_eq!(question.prompt[1].as_data(), Some(&data));
            assert_eq!(calls.load(Ordering::Relaxed), 0);
            answer(&process, run, json!({ "approved": approved })).await;
            let view = wait_until_ended(&process, run).await;
            assert_eq!(response_text(&view), "I see.");
            let shown = parts_text(&find_artifact(&view, "tool-result-count").parts);
            assert_eq!(shown, desk.tool_result(1, "c1").to_string().trim_matches('"'));
        });
        let told = desk.tool_result(1, "c1");
        if approved {
            assert_eq!((told, calls.load(Ordering::Relaxed)), (json!(1), 1));
        } else {
            assert_eq!(told, "The user refused this call of count. It was not made.");
            assert_eq!(calls.load(Ordering::Relaxed), 0);
        }
    }
}

/// A tool that may never be called is not offered, and a model that calls it anyway receives an error.
#[test]
fn a_tool_that_may_never_be_called_is_not() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut desk = AgentHarness::new().with_tool(counting_tool(&calls)).with_tool(uppercase_tool());
    desk.spec.approvals.insert("count".to_owned(), ToolPermission::Deny);
    desk.queue_tool_calls(&[("c1", "count", json!({ "text": "x" }))]);
    desk.queue_text("I see.");
    desk.run_process(async |process| {
        run_turn(&process, "m1", "Go.").await;
    });
    assert_eq!(desk.tool_result(1, "c1"), "count may never be called by this agent. It was not called.");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let offered = desk.server.requests()[0].body["tools"].to_string();
    assert!(offered.contains("shout") && !offered.contains("count"), "{offered}");
}

/// Proves D7: invalid arguments of a tool give an error that names the field, and nothing is called.
#[test]
fn arguments_that_a_tool_does_not_take_are_told() {
    let calls = Arc::new(AtomicUsize::new(0));
    let desk = AgentHarness::new()
        .with_tool(counting_tool(&calls))
        .with_tool(tool("broken", |_, _| Box::pin(async { Err(trackway_domain::Failure::new("no paper")) })));
    desk.server.queue_reply(ScriptedChatReply::default().with_tool_calls(&[
        ("c1", "count", r#"{"text":5}"#),
        ("c2", "count", r#"{"text":"#),
        ("c3", "broken", r#"{"text":"x"}"#),
    ]));
    desk.queue_text("I see.");
    desk.run_process(async |process| {
        assert_eq!(run_turn(&process, "m1", "Go.").await.state, StateName::Completed);
    });
    let told = |call: &str| desk.tool_result(1, call).as_str().unwrap().to_owned();
    assert!(told("c1").contains("text") && told("c1").contains("Nothing was called"), "{}", told("c1"));
    assert!(told("c2").contains("not JSON"), "{}", told("c2"));
    assert_eq!(told("c3"), "no paper");
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

/// Arguments are always an object; a tool whose input is not an object receives the inner value.
#[test]
fn a_tool_may_take_what_is_no_object() {
    let upper = tool_with_schema("upper", json!({ "type": "string" }), |arguments, _| {
        let text = arguments.as_str().map(str::to_uppercase);
        Box::pin(async move { Ok(json!(text).into()) })
    });
    let desk = AgentHarness::new().with_tool(upper);
    desk.queue_tool_calls(&[
        ("c1", "upper", json!({ "input": "x" })),
        ("c2", "upper", json!({ "input": 5 })),
    ]);
    desk.queue_text("I see.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        let shown = parts_text(&find_artifact(&view, "tool-call-upper").parts);
        assert_eq!(shown, r#"{"input":"x"}"#, "as the model called it");
    });
    assert_eq!(desk.tool_result(1, "c1"), "X");
    assert!(desk.tool_result(1, "c2").as_str().unwrap().contains("do not fit"));
}

/// Two calls that both need approval are asked about one after the other, separately.
#[test]
fn calls_made_at_once_are_approved_one_by_one() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut desk = AgentHarness::new().with_tool(counting_tool(&calls)).with_workflow(echo_workflow());
    desk.spec.approvals.insert("*".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[
        ("c1", "count", json!({ "text": "x" })),
        ("c2", "dispatch_workflow_echo", json!({ "text": "y" })),
    ]);
    desk.queue_text("I see.");
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        let mut asked = Vec::new();
        for (number, approved) in [true, false].into_iter().enumerate() {
            let question = wait_until_idle(&process, run).await.question.unwrap();
            asked.push(question.prompt[1].as_data().unwrap()["toolCallId"].clone());
            let mut yes = answer_delivery(run, &format!("yes-{number}"), json!({ "approved": approved }));
            yes.question = Some(question.id);
            process.deliver_message(yes).await.unwrap();
        }
        assert_eq!(asked, ["c1", "c2"]);
        wait_until_ended(&process, run).await;
        assert_eq!(child_runs(&load_log(&process, run).await), []);
    });
    assert_eq!(desk.tool_result(1, "c1"), 1);
    assert!(desk.tool_result(1, "c2").as_str().unwrap().contains("refused"));
}

/// A dispatch that was answered in time leaves no timer behind, and a turn that resumes after the
/// timeout matches its log.
#[test]
fn a_limit_that_was_not_reached_leaves_nothing_behind() {
    let mut desk = AgentHarness::new().with_tool(uppercase_tool()).with_workflow(echo_workflow());
    desk.spec.approvals.insert("shout".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_echo", json!({ "text": "x" }))]);
    desk.queue_tool_calls(&[("c2", "shout", json!({ "text": "x" }))]);
    desk.queue_text("Done.");
    let run = desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        wait_until_idle(&process, run).await;
        process.clock.advance(Duration::from_secs(60));
        let log = load_log(&process, run).await;
        let is_limit = |event: &Event| matches!(event, Event::Slept { .. } | Event::ValueRecorded { .. });
        assert!(!log.iter().any(is_limit), "{log:?}");
        run
    });
    desk.run_process(async |process| {
        answer(&process, run, json!({ "approved": true })).await;
        assert_eq!(response_text(&wait_until_ended(&process, run).await), "Done.");
    });
}

/// Issue 11, S-M7: a limited number of calls of one answer is made, and the model receives an error for
/// the others.
#[test]
fn an_answer_with_too_many_calls_has_some_of_them_made() {
    let made = Arc::new(AtomicUsize::new(0));
    let mut desk = AgentHarness::new().with_tool(counting_tool(&made));
    desk.spec.budgets.tool_calls = 50;
    let ids: Vec<String> = (0..500).map(|number| format!("c{number}")).collect();
    let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "count", json!({ "text": "x" }))).collect();
    desk.queue_tool_calls(&calls);
    desk.queue_tool_calls(&calls);
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        let sentence = "I stopped: this turn may make 50 tool calls and has made them.";
        assert_eq!(response_text(&view), sentence);
        assert_fits_its_log(&process, &desk, view.submission.run).await;
    });
    assert_eq!(made.load(Ordering::Relaxed), 50, "32 of the first answer, 18 of the second");
    let told = desk.tool_result(1, "c40");
    assert!(told.as_str().unwrap().contains("was not made"), "{told}");
    let results =
        desk.request_messages(1).iter().filter(|message| message["tool_call_id"].is_string()).count();
    assert_eq!(results, 64, "the rest is not even kept");
}
