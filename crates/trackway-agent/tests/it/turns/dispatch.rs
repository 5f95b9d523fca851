//! Workflows dispatched by a turn: their first answer is the call's result, they continue on their own,
//! and the parent reports each once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Event, Failure, InterruptReason, Part, StateName};
use trackway_ports::Clock as _;
use trackway_runtime::ProgramStop;
use trackway_testkit::{TestWorld, local_run_address};

use super::harness::{
    AgentHarness, child_runs, echo_workflow, find_artifact, gated_workflow, load_log, parts_text,
    referencing_messages, response_text, run_turn, send_text, text_artifact, uppercase_tool, wait_for_event,
    wait_for_word, wait_until_ended, wait_until_idle, workflow,
};

fn two_dispatches(desk: &AgentHarness) {
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_echo", json!({ "text": "one" }))]);
    desk.queue_tool_calls(&[("c2", "dispatch_workflow_echo", json!({ "text": "two" }))]);
    desk.queue_text("Both done.");
}

fn check_two_dispatches_in_one_turn(desk: &AgentHarness) {
    two_dispatches(desk);
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Twice, please.").await;
        assert_eq!(view.state, StateName::Completed);
        let log = load_log(&process, view.submission.run).await;
        let (told, started) = (referencing_messages(&log), child_runs(&log));
        assert_eq!(told.len(), 2, "one update for each dispatch");
        for ((message, child), text) in told.iter().zip(&started).zip(["one", "two"]) {
            assert_eq!(message.references, [child.to_string()], "of this child alone");
            let about = json!({
                "workflowName": "echo", "description": "Does echo.", "pluginId": "echo"
            });
            assert_eq!(message.metadata["referencedWorkflow"], about);
            assert_eq!(message.parts[0].as_text().unwrap(), format!("echo answered (task {child})."));
            assert_eq!(message.parts[1..], [Part::text(text)], "then the parts of the answer");
            let (request, call) = if text == "one" { (1, "c1") } else { (2, "c2") };
            let result = desk.tool_result(request, call);
            let expected = json!({
                "outcome": "answered",
                "result": [{ "kind": "text", "text": text }],
                "taskId": child.to_string(),
                "metadata": about,
            });
            assert_eq!(result, expected);
            assert_eq!(wait_until_ended(&process, *child).await.output, json!({ "text": text }));
        }
        for (id, call) in [("", "c1"), (".2", "c2")] {
            for kind in ["call", "result"] {
                let shown = find_artifact(&view, &format!("tool-{kind}-dispatch_workflow_echo{id}"));
                assert_eq!(shown.name.as_deref(), Some(&*format!("tool-{kind}-dispatch_workflow_echo")));
                assert_eq!(shown.metadata["toolCallId"], call);
            }
        }
        let call = find_artifact(&view, "tool-call-dispatch_workflow_echo.2");
        assert_eq!(call.parts, [Part::data(json!({ "text": "two" }))]);
        assert!(!view.artifacts.iter().any(|artifact| artifact.id.as_str() == "echo.txt"));
        assert_eq!(response_text(&view), "Both done.");
        assert_eq!(view.output["text"], "Both done.");
        assert_eq!(view.output["model"], "openai/scripted-1");
    });
    assert_eq!(desk.server.requests().len(), 3, "the model goes on after each");
}

/// Proves D1, D2, D3, D4, D5, D6.
#[test]
fn two_dispatches_in_one_turn_are_told_of_one_by_one() {
    check_two_dispatches_in_one_turn(&AgentHarness::new().with_workflow(echo_workflow()));
}

/// Proves D5, D6: on disk too.
#[test]
fn two_dispatches_in_one_turn_are_told_of_one_by_one_on_disk() {
    check_two_dispatches_in_one_turn(
        &AgentHarness::on_world(TestWorld::with_sqlite_store()).with_workflow(echo_workflow()),
    );
}

/// Proves D5, D6.
#[test]
fn two_dispatches_in_two_turns_are_told_of_one_by_one() {
    let desk = AgentHarness::new().with_workflow(echo_workflow());
    for (id, text) in [("c1", "one"), ("c1", "two")] {
        desk.queue_tool_calls(&[(id, "dispatch_workflow_echo", json!({ "text": text }))]);
        desk.queue_text("Done.");
    }
    desk.run_process(async |process| {
        for id in ["m1", "m2"] {
            let view = run_turn(&process, id, "Once.").await;
            let log = load_log(&process, view.submission.run).await;
            let (told, started) = (referencing_messages(&log), child_runs(&log));
            assert_eq!(told.len(), 1);
            assert_eq!(started.len(), 1);
            assert_eq!(told[0].references, [started[0].to_string()]);
        }
    });
}

/// Proves D3, D7: each result goes to the call that it belongs to, in any order of arrival.
#[test]
fn parallel_calls_get_their_own_results() {
    let (release, released) = watch::channel(String::new());
    let gated = workflow("gated", move |stage, input: Value| {
        let released = released.clone();
        async move {
            let text = input["text"].as_str().unwrap().to_owned();
            wait_for_word(&stage, &released, &text).await;
            stage.report_status(vec![Part::text(&text)]).await;
            Ok(Value::Null)
        }
    });
    let desk = AgentHarness::new().with_workflow(gated).with_tool(uppercase_tool());
    desk.queue_tool_calls(&[
        ("c1", "dispatch_workflow_gated", json!({ "text": "one" })),
        ("c2", "shout", json!({ "text": "aside" })),
        ("c3", "dispatch_workflow_gated", json!({ "text": "two" })),
        ("c4", "nothing_like_it", json!({})),
    ]);
    desk.queue_text("All three.");
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        release.send_replace("two".to_owned());
        let told = |event: &Event| !referencing_messages(std::slice::from_ref(event)).is_empty();
        wait_for_event(&process, run, told).await;
        release.send_replace("two one".to_owned());
        let view = wait_until_ended(&process, run).await;
        let told = referencing_messages(&load_log(&process, run).await);
        let texts: Vec<_> = told.iter().map(|message| parts_text(&message.parts[1..])).collect();
        assert_eq!(texts, ["two", "one"], "as they came");
        assert!(told.iter().all(|message| message.references.len() == 1));
        assert_eq!(response_text(&view), "All three.");
    });
    for (call, text) in [("c1", "one"), ("c3", "two")] {
        assert_eq!(desk.tool_result(1, call)["result"], json!([{ "kind": "text", "text": text }]));
    }
    assert_eq!(desk.tool_result(1, "c2"), "ASIDE");
    let unknown = desk.tool_result(1, "c4");
    assert!(unknown.as_str().unwrap().contains("nothing_like_it"), "{unknown}");
    let order: Vec<_> =
        desk.request_messages(1).iter().filter_map(|message| message.get("tool_call_id").cloned()).collect();
    assert_eq!(order, ["c1", "c2", "c3", "c4"], "in the order of the calls");
}

/// Proves D3: every first answer is a result, and no time passes for it: the clock does not move.
#[test]
fn first_answer_of_a_workflow_is_the_result() {
    let desk = AgentHarness::new()
        .with_workflow(workflow("silent", async |stage, _| {
            stage.send_first_answer_to_parent(Vec::new()).await;
            stage.report_status(vec![Part::text("later")]).await;
            Ok(Value::Null)
        }))
        .with_workflow(workflow("shows", async |stage, _| {
            stage.emit_artifact(text_artifact("a.txt", "shown").into()).await;
            stage.report_status(vec![Part::text("later")]).await;
            Ok(Value::Null)
        }))
        .with_workflow(workflow("returns", async |_, input| Ok(input)))
        .with_workflow(workflow("declines", async |_, _| Err(ProgramStop::Rejected("not today".to_owned()))))
        .with_workflow(workflow("breaks", async |_, _| Err(ProgramStop::Failed(Failure::new("out of ink")))))
        .with_workflow(workflow("asks", async |stage, _| {
            let schema = json!({ "type": "object", "required": ["sure"] });
            let form = text_artifact("form.txt", "a form");
            let prompt = vec![Part::text("Sure?")];
            let (_, answer) =
                stage.ask_question(InterruptReason::InputRequired, prompt, schema, Some(form)).await;
            Ok(answer.input)
        }))
        .with_workflow(workflow("signs", async |stage, _| {
            let prompt = vec![Part::text("Sign?")];
            stage.ask_question(InterruptReason::AuthRequired, prompt, json!({}), None).await;
            Ok(Value::Null)
        }));
    let text = |text: &str| json!({ "kind": "text", "text": text });
    let table = [
        ("silent", "answered", json!([]), Value::Null, Value::Null),
        ("shows", "answered", json!([text("shown")]), Value::Null, Value::Null),
        (
            "returns",
            "answered",
            json!([{ "kind": "data", "data": { "text": "x" } }]),
            Value::Null,
            Value::Null,
        ),
        ("declines", "rejected", json!([]), json!("not today"), Value::Null),
        ("breaks", "failed", json!([]), json!("out of ink"), Value::Null),
        (
            "asks",
            "input-required",
            json!([text("a form"), text("Sure?")]),
            json!("It waits for the user's answer, which has to satisfy the schema."),
            json!({ "type": "object", "required": ["sure"] }),
        ),
        (
            "signs",
            "auth-required",
            json!([text("Sign?")]),
            json!(
                "It waits for the user's authorization. Only a person can give it: tell the user what \
                 is asked."
            ),
            json!({}),
        ),
    ];
    for (name, ..) in &table {
        desk.queue_tool_calls(&[("c1", &format!("dispatch_workflow_{name}"), json!({ "text": "x" }))]);
        desk.queue_text("I see.");
    }
    desk.run_process(async |process| {
        for (number, (name, outcome, parts, message, schema)) in table.iter().enumerate() {
            // A message that answers no question; the next turn starts with it.
            let view = run_turn(&process, &format!("m{number}"), "/next").await;
            assert_eq!(view.state, StateName::Completed, "{name}");
            let result = desk.tool_result(2 * number + 1, "c1");
            assert_eq!(result["outcome"], *outcome, "{name}");
            assert_eq!(result["result"], *parts, "{name}");
            assert_eq!(result["message"], *message, "{name}");
            assert_eq!(result["schema"], *schema, "{name}");
            let told = referencing_messages(&load_log(&process, view.submission.run).await);
            assert_eq!(told.len(), 1, "{name}: {told:?}");
            assert_eq!(told[0].references, [result["taskId"].as_str().unwrap()], "{name}");
            assert_eq!(told[0].parts.len(), 1 + parts.as_array().unwrap().len(), "{name}");
            assert_eq!(response_text(&view), "I see.", "{name}");
        }
    });
}

/// Proves D3: a timeout is reported, and the workflow continues.
#[test]
fn a_workflow_that_takes_its_time_is_left_to_it() {
    let (release, released) = watch::channel(String::new());
    let desk = AgentHarness::new().with_workflow(gated_workflow(released, None, "now"));
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.queue_text("It will take a while.");
    desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        let default = process.clock.now() + Duration::from_secs(5);
        process.clock.wait_for_sleeper(default).await;
        process.clock.advance_to(default);
        let view = wait_until_ended(&process, run).await;
        assert_eq!(response_text(&view), "It will take a while.");
        let result = desk.tool_result(1, "c1");
        assert_eq!(result["outcome"], "timeout");
        assert_eq!(result["result"], json!([]));
        let log = load_log(&process, run).await;
        assert_eq!(referencing_messages(&log).len(), 1);
        let child = child_runs(&log)[0];
        assert_eq!(
            process.current_run_view(&local_run_address(child)).await.unwrap().state,
            StateName::Submitted
        );
        release.send_replace("now".to_owned());
        assert_eq!(wait_until_idle(&process, child).await.output, "now");
        // Its later answer goes to a turn that has ended, which changes nothing.
        process.wait_until_quiet().await;
        assert_eq!(self::load_log(&process, run).await, log);
    });
}

/// Proves D1: invalid arguments start nothing, and the error names the field.
#[test]
fn arguments_that_do_not_fit_start_nothing() {
    let desk = AgentHarness::new().with_workflow(echo_workflow());
    desk.queue_tool_calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": 5 })),
        ("c2", "dispatch_workflow_echo", json!({})),
    ]);
    desk.queue_text("Sorry.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Go.").await;
        let log = load_log(&process, view.submission.run).await;
        assert_eq!(child_runs(&log), []);
        assert_eq!(referencing_messages(&log), []);
    });
    for call in ["c1", "c2"] {
        let told = desk.tool_result(1, call);
        assert_eq!((&told["outcome"], told.get("taskId")), (&json!("failed"), None), "{told}");
        let why = told["message"].as_str().unwrap();
        assert!(why.contains("text") && why.contains("Nothing was started"), "{why}");
    }
}
