//! An agent's knowledge of the tasks that it dispatched, and its wait for their first answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Failure, Part, StateName};
use trackway_ports::Clock as _;
use trackway_runtime::ProgramStop;

use super::harness::{
    AgentHarness, child_runs, echo_workflow, find_artifact, gated_workflow, load_log, run_turn, send_text,
    wait_for_word, wait_until_ended, workflow,
};

/// Issue 11, A13: the turn after a dispatch learns how it ended, and a tool reports it at any time.
#[test]
fn the_next_turn_is_told_what_became_of_a_dispatch() {
    let (release, released) = watch::channel(String::new());
    let slow = workflow("slow", move |stage, _| {
        let released = released.clone();
        async move {
            stage.report_status(vec![Part::text("begun")]).await;
            wait_for_word(&stage, &released, "now").await;
            Err::<Value, _>(ProgramStop::Failed(Failure::new("out of ink")))
        }
    });
    let desk = AgentHarness::new().with_workflow(slow);
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.queue_tool_calls(&[("c2", "task_status", json!({}))]);
    desk.queue_text("It works on it.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        let child = child_runs(&load_log(&process, view.submission.run).await)[0];
        let told = desk.tool_result(2, "c2");
        let expected = json!({
            "tasks": [{
                "taskId": child.to_string(), "workflow": "slow", "state": "working", "message": "begun"
            }]
        });
        assert_eq!(told, expected);
        release.send_replace("now".to_owned());
        assert_eq!(wait_until_ended(&process, child).await.state, StateName::Failed);

        desk.queue_tool_calls(&[("c3", "task_status", json!({ "taskId": child.to_string() }))]);
        desk.queue_text("It failed.");
        run_turn(&process, "m2", "And?").await;
        let system = desk.request_messages(3)[0]["content"].as_str().unwrap().to_owned();
        let (_, data) = system.split_once("```json\n").unwrap_or_else(|| panic!("{system}"));
        let note: Value = serde_json::from_str(data.strip_suffix("\n```").unwrap()).unwrap();
        let expected = json!({
            "taskId": child.to_string(), "workflow": "slow", "state": "failed", "message": "out of ink"
        });
        assert_eq!(note, expected);
        assert_eq!(desk.tool_result(4, "c3"), json!({ "tasks": [expected] }));

        desk.queue_text("You are welcome.");
        run_turn(&process, "m3", "Thanks.").await;
        assert_eq!(desk.request_messages(5)[0]["content"], "You help.", "told once");
        let tools = desk.server.requests()[5].body["tools"].to_string();
        assert!(tools.contains("task_status"), "{tools}");
    });
}

/// Issue 11, A13: the agent's file overrides the workspace's timeout for a workflow.
#[test]
fn the_first_answer_has_a_limit_for_each_workflow() {
    let (_release, released) = watch::channel(String::new());
    let mut desk = AgentHarness::new().with_workflow(gated_workflow(released, None, "never"));
    for (pattern, seconds) in [("*", 7), ("slo*", 40)] {
        desk.spec.first_answer_timeouts.insert(pattern.to_owned(), seconds);
    }
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.queue_text("It will take a while.");
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        let limit = process.clock.now() + Duration::from_secs(40);
        process.clock.wait_for_sleeper(limit).await;
        process.clock.advance_to(limit);
        wait_until_ended(&process, run).await;
        assert_eq!(desk.tool_result(1, "c1")["outcome"], "timeout");
    });
}

/// Issue 11, A13 and A11: the artifact of a dispatch's result has the parts of the answer, with their
/// metadata; the model receives the metadata too.
#[test]
fn the_parts_of_a_first_answer_are_the_parts_of_the_artifact() {
    let parts = vec![
        Part::text("3 chains").with_metadata("lang", "en"),
        Part::data(json!({ "chains": 3 })).with_metadata("unit", "chain"),
    ];
    let answer = parts.clone();
    let desk = AgentHarness::new().with_workflow(workflow("count", move |stage, _| {
        let answer = answer.clone();
        async move {
            stage.send_first_answer_to_parent(answer).await;
            Ok(Value::Null)
        }
    }));
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_count", json!({ "text": "x" }))]);
    desk.queue_text("Three.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "How many?").await;
        let child = child_runs(&load_log(&process, view.submission.run).await)[0];
        let shown = find_artifact(&view, "tool-result-dispatch_workflow_count");
        assert_eq!(shown.parts, parts);
        assert_eq!(shown.metadata["outcome"], "answered");
        assert_eq!(shown.metadata["taskId"], child.to_string());
        assert_eq!(shown.metadata["referencedWorkflow"]["workflowName"], "count");
        let told = desk.tool_result(1, "c1");
        assert_eq!(told["result"][0]["metadata"], json!({ "lang": "en" }));
        assert_eq!(told["result"][1]["metadata"], json!({ "unit": "chain" }));
    });
}

/// Issue 11, A11: arguments that are not JSON start nothing, and the error has the form of every
/// dispatch result.
#[test]
fn broken_arguments_are_told_in_the_form_of_a_dispatch() {
    let desk = AgentHarness::new().with_workflow(echo_workflow());
    let broken = [("c1", "dispatch_workflow_echo", "{\"text\":"), ("c2", "dispatch_workflow_echo", "[1]")];
    desk.server.queue_reply(trackway_testkit::ScriptedChatReply::default().with_tool_calls(&broken));
    desk.queue_text("Sorry.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        assert_eq!(child_runs(&load_log(&process, view.submission.run).await), []);
        let (first, second) = (desk.tool_result(1, "c1"), desk.tool_result(1, "c2"));
        for told in [&first, &second] {
            assert_eq!((&told["outcome"], &told["result"]), (&json!("failed"), &json!([])), "{told}");
            assert_eq!(told["metadata"]["workflowName"], "echo");
        }
        assert!(first["message"].as_str().unwrap().contains("not JSON"), "{first}");
        let why = second["message"].as_str().unwrap();
        assert!(!why.contains(": : "), "no empty path: {why}");
    });
}
