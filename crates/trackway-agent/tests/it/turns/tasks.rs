//! An agent's knowledge of the tasks that it dispatched, and its wait for their first answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Failure, Part, StateName};
use trackway_ports::Clock as _;
use trackway_runtime::Stop;

use super::kit::{Desk, artifact, children, echo, ended, log, say, slow, turn, waits, workflow};

/// Issue 11, A13: the turn after a dispatch learns how it ended, and a tool reports it at any time.
#[test]
fn the_next_turn_is_told_what_became_of_a_dispatch() {
    let (release, released) = watch::channel(String::new());
    let slow = workflow("slow", move |stage, _| {
        let released = released.clone();
        async move {
            stage.status(vec![Part::text("begun")]).await;
            waits(&stage, &released, "now").await;
            Err::<Value, _>(Stop::Failed(Failure::new("out of ink")))
        }
    });
    let desk = Desk::new().workflow(slow);
    desk.calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.calls(&[("c2", "task_status", json!({}))]);
    desk.says("It works on it.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Go.").await;
        let child = children(&log(&process, view.submission.run).await)[0];
        let told = desk.result(2, "c2");
        let expected = json!({
            "tasks": [{
                "taskId": child.to_string(), "workflow": "slow", "state": "working", "message": "begun"
            }]
        });
        assert_eq!(told, expected);
        release.send_replace("now".to_owned());
        assert_eq!(ended(&process, child).await.state, StateName::Failed);

        desk.calls(&[("c3", "task_status", json!({ "taskId": child.to_string() }))]);
        desk.says("It failed.");
        turn(&process, "m2", "And?").await;
        let system = desk.told(3)[0]["content"].as_str().unwrap().to_owned();
        let (_, data) = system.split_once("```json\n").unwrap_or_else(|| panic!("{system}"));
        let note: Value = serde_json::from_str(data.strip_suffix("\n```").unwrap()).unwrap();
        let expected = json!({
            "taskId": child.to_string(), "workflow": "slow", "state": "failed", "message": "out of ink"
        });
        assert_eq!(note, expected);
        assert_eq!(desk.result(4, "c3"), json!({ "tasks": [expected] }));

        desk.says("You are welcome.");
        turn(&process, "m3", "Thanks.").await;
        assert_eq!(desk.told(5)[0]["content"], "You help.", "told once");
        let tools = desk.server.asked()[5].body["tools"].to_string();
        assert!(tools.contains("task_status"), "{tools}");
    });
}

/// Issue 11, A13: the agent's file overrides the workspace's timeout for a workflow.
#[test]
fn the_first_answer_has_a_limit_for_each_workflow() {
    let (_release, released) = watch::channel(String::new());
    let mut desk = Desk::new().workflow(slow(released, None, "never"));
    for (pattern, seconds) in [("*", 7), ("slo*", 40)] {
        desk.spec.first_answer_timeouts.insert(pattern.to_owned(), seconds);
    }
    desk.calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.says("It will take a while.");
    desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        let limit = process.clock.now() + Duration::from_secs(40);
        process.clock.until_asleep(limit).await;
        process.clock.advance_to(limit);
        ended(&process, run).await;
        assert_eq!(desk.result(1, "c1")["outcome"], "timeout");
    });
}

/// Issue 11, A13 and A11: the artifact of a dispatch's result has the parts of the answer, with their
/// metadata; the model receives the metadata too.
#[test]
fn the_parts_of_a_first_answer_are_the_parts_of_the_artifact() {
    let parts = vec![
        Part::text("3 chains").with("lang", "en"),
        Part::data(json!({ "chains": 3 })).with("unit", "chain"),
    ];
    let answer = parts.clone();
    let desk = Desk::new().workflow(workflow("count", move |stage, _| {
        let answer = answer.clone();
        async move {
            stage.first_answer(answer).await;
            Ok(Value::Null)
        }
    }));
    desk.calls(&[("c1", "dispatch_workflow_count", json!({ "text": "x" }))]);
    desk.says("Three.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "How many?").await;
        let child = children(&log(&process, view.submission.run).await)[0];
        let shown = artifact(&view, "tool-result-dispatch_workflow_count");
        assert_eq!(shown.parts, parts);
        assert_eq!(shown.metadata["outcome"], "answered");
        assert_eq!(shown.metadata["taskId"], child.to_string());
        assert_eq!(shown.metadata["referencedWorkflow"]["workflowName"], "count");
        let told = desk.result(1, "c1");
        assert_eq!(told["result"][0]["metadata"], json!({ "lang": "en" }));
        assert_eq!(told["result"][1]["metadata"], json!({ "unit": "chain" }));
    });
}

/// Issue 11, A11: arguments that are not JSON start nothing, and the error has the form of every
/// dispatch result.
#[test]
fn broken_arguments_are_told_in_the_form_of_a_dispatch() {
    let desk = Desk::new().workflow(echo());
    let broken =
        [("c1", "dispatch_workflow_echo", "{\"text\":"), ("c2", "dispatch_workflow_echo", "[1]")];
    desk.server.queue(trackway_testkit::ChatReply::default().calls(&broken));
    desk.says("Sorry.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Go.").await;
        assert_eq!(children(&log(&process, view.submission.run).await), []);
        let (first, second) = (desk.result(1, "c1"), desk.result(1, "c2"));
        for told in [&first, &second] {
            assert_eq!(
                (&told["outcome"], &told["result"]),
                (&json!("failed"), &json!([])),
                "{told}"
            );
            assert_eq!(told["metadata"]["workflowName"], "echo");
        }
        assert!(first["message"].as_str().unwrap().contains("not JSON"), "{first}");
        let why = second["message"].as_str().unwrap();
        assert!(!why.contains(": : "), "no empty path: {why}");
    });
}
