//! Workflows dispatched by a turn: their first answer is the call's result, they continue on their own,
//! and the parent reports each once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use trackway_domain::{Event, Failure, Part, Reason, StateName};
use trackway_ports::Clock as _;
use trackway_runtime::Stop;
use trackway_testkit::{World, at};

use super::kit::{
    Desk, artifact, children, echo, ended, log, references, rested, say, shout, slow, spoken,
    text_artifact, text_of, turn, until, waits, workflow,
};

fn two_dispatches(desk: &Desk) {
    desk.calls(&[("c1", "dispatch_workflow_echo", json!({ "text": "one" }))]);
    desk.calls(&[("c2", "dispatch_workflow_echo", json!({ "text": "two" }))]);
    desk.says("Both done.");
}

fn check_two_in_one_turn(desk: &Desk) {
    two_dispatches(desk);
    desk.run(async |process| {
        let view = turn(&process, "m1", "Twice, please.").await;
        assert_eq!(view.state, StateName::Completed);
        let log = log(&process, view.submission.run).await;
        let (told, started) = (references(&log), children(&log));
        assert_eq!(told.len(), 2, "one update for each dispatch");
        for ((message, child), text) in told.iter().zip(&started).zip(["one", "two"]) {
            assert_eq!(message.references, [child.to_string()], "of this child alone");
            let about = json!({
                "workflowName": "echo", "description": "Does echo.", "pluginId": "echo"
            });
            assert_eq!(message.metadata["referencedWorkflow"], about);
            assert_eq!(
                message.parts[0].as_text().unwrap(),
                format!("echo answered (task {child}).")
            );
            assert_eq!(message.parts[1..], [Part::text(text)], "then the parts of the answer");
            let (request, call) = if text == "one" { (1, "c1") } else { (2, "c2") };
            let result = desk.result(request, call);
            let expected = json!({
                "outcome": "answered",
                "result": [{ "kind": "text", "text": text }],
                "taskId": child.to_string(),
                "metadata": about,
            });
            assert_eq!(result, expected);
            assert_eq!(ended(&process, *child).await.output, json!({ "text": text }));
        }
        for (id, call) in [("", "c1"), (".2", "c2")] {
            for kind in ["call", "result"] {
                let shown = artifact(&view, &format!("tool-{kind}-dispatch_workflow_echo{id}"));
                assert_eq!(
                    shown.name.as_deref(),
                    Some(&*format!("tool-{kind}-dispatch_workflow_echo"))
                );
                assert_eq!(shown.metadata["toolCallId"], call);
            }
        }
        let call = artifact(&view, "tool-call-dispatch_workflow_echo.2");
        assert_eq!(call.parts, [Part::data(json!({ "text": "two" }))]);
        assert!(!view.artifacts.iter().any(|artifact| artifact.id.as_str() == "echo.txt"));
        assert_eq!(spoken(&view), "Both done.");
        assert_eq!(view.output["text"], "Both done.");
        assert_eq!(view.output["model"], "openai/scripted-1");
    });
    assert_eq!(desk.server.asked().len(), 3, "the model goes on after each");
}

/// Proves D1, D2, D3, D4, D5, D6.
#[test]
fn two_dispatches_in_one_turn_are_told_of_one_by_one() {
    check_two_in_one_turn(&Desk::new().workflow(echo()));
}

/// Proves D5, D6: on disk too.
#[test]
fn two_dispatches_in_one_turn_are_told_of_one_by_one_on_disk() {
    check_two_in_one_turn(&Desk::on(World::sqlite()).workflow(echo()));
}

/// Proves D5, D6.
#[test]
fn two_dispatches_in_two_turns_are_told_of_one_by_one() {
    let desk = Desk::new().workflow(echo());
    for (id, text) in [("c1", "one"), ("c1", "two")] {
        desk.calls(&[(id, "dispatch_workflow_echo", json!({ "text": text }))]);
        desk.says("Done.");
    }
    desk.run(async |process| {
        for id in ["m1", "m2"] {
            let view = turn(&process, id, "Once.").await;
            let log = log(&process, view.submission.run).await;
            let (told, started) = (references(&log), children(&log));
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
            waits(&stage, &released, &text).await;
            stage.status(vec![Part::text(&text)]).await;
            Ok(Value::Null)
        }
    });
    let desk = Desk::new().workflow(gated).tool(shout());
    desk.calls(&[
        ("c1", "dispatch_workflow_gated", json!({ "text": "one" })),
        ("c2", "shout", json!({ "text": "aside" })),
        ("c3", "dispatch_workflow_gated", json!({ "text": "two" })),
        ("c4", "nothing_like_it", json!({})),
    ]);
    desk.says("All three.");
    desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        release.send_replace("two".to_owned());
        let told = |event: &Event| !references(std::slice::from_ref(event)).is_empty();
        until(&process, run, told).await;
        release.send_replace("two one".to_owned());
        let view = ended(&process, run).await;
        let told = references(&log(&process, run).await);
        let texts: Vec<_> = told.iter().map(|message| text_of(&message.parts[1..])).collect();
        assert_eq!(texts, ["two", "one"], "as they came");
        assert!(told.iter().all(|message| message.references.len() == 1));
        assert_eq!(spoken(&view), "All three.");
    });
    for (call, text) in [("c1", "one"), ("c3", "two")] {
        assert_eq!(desk.result(1, call)["result"], json!([{ "kind": "text", "text": text }]));
    }
    assert_eq!(desk.result(1, "c2"), "ASIDE");
    let unknown = desk.result(1, "c4");
    assert!(unknown.as_str().unwrap().contains("nothing_like_it"), "{unknown}");
    let order: Vec<_> =
        desk.told(1).iter().filter_map(|message| message.get("tool_call_id").cloned()).collect();
    assert_eq!(order, ["c1", "c2", "c3", "c4"], "in the order of the calls");
}

/// Proves D3: every first answer is a result, and no time passes for it: the clock does not move.
#[test]
fn whatever_a_workflow_says_first_is_a_result() {
    let desk = Desk::new()
        .workflow(workflow("silent", async |stage, _| {
            stage.first_answer(Vec::new()).await;
            stage.status(vec![Part::text("later")]).await;
            Ok(Value::Null)
        }))
        .workflow(workflow("shows", async |stage, _| {
            stage.artifact(text_artifact("a.txt", "shown").into()).await;
            stage.status(vec![Part::text("later")]).await;
            Ok(Value::Null)
        }))
        .workflow(workflow("returns", async |_, input| Ok(input)))
        .workflow(workflow("declines", async |_, _| Err(Stop::Rejected("not today".to_owned()))))
        .workflow(workflow("breaks", async |_, _| Err(Stop::Failed(Failure::new("out of ink")))))
        .workflow(workflow("asks", async |stage, _| {
            let schema = json!({ "type": "object", "required": ["sure"] });
            let form = text_artifact("form.txt", "a form");
            let prompt = vec![Part::text("Sure?")];
            let (_, answer) = stage.ask(Reason::InputRequired, prompt, schema, Some(form)).await;
            Ok(answer.input)
        }))
        .workflow(workflow("signs", async |stage, _| {
            let prompt = vec![Part::text("Sign?")];
            stage.ask(Reason::AuthRequired, prompt, json!({}), None).await;
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
        desk.calls(&[("c1", &format!("dispatch_workflow_{name}"), json!({ "text": "x" }))]);
        desk.says("I see.");
    }
    desk.run(async |process| {
        for (number, (name, outcome, parts, message, schema)) in table.iter().enumerate() {
            // A message that answers no question; the next turn starts with it.
            let view = turn(&process, &format!("m{number}"), "/next").await;
            assert_eq!(view.state, StateName::Completed, "{name}");
            let result = desk.result(2 * number + 1, "c1");
            assert_eq!(result["outcome"], *outcome, "{name}");
            assert_eq!(result["result"], *parts, "{name}");
            assert_eq!(result["message"], *message, "{name}");
            assert_eq!(result["schema"], *schema, "{name}");
            let told = references(&log(&process, view.submission.run).await);
            assert_eq!(told.len(), 1, "{name}: {told:?}");
            assert_eq!(told[0].references, [result["taskId"].as_str().unwrap()], "{name}");
            assert_eq!(told[0].parts.len(), 1 + parts.as_array().unwrap().len(), "{name}");
            assert_eq!(spoken(&view), "I see.", "{name}");
        }
    });
}

/// Proves D3: a timeout is reported, and the workflow continues.
#[test]
fn a_workflow_that_takes_its_time_is_left_to_it() {
    let (release, released) = watch::channel(String::new());
    let desk = Desk::new().workflow(slow(released, None, "now"));
    desk.calls(&[("c1", "dispatch_workflow_slow", json!({ "text": "x" }))]);
    desk.says("It will take a while.");
    desk.run(async |process| {
        let run = say(&process, "m1", "Go.").await;
        let default = process.clock.now() + Duration::from_secs(5);
        process.clock.until_asleep(default).await;
        process.clock.advance_to(default);
        let view = ended(&process, run).await;
        assert_eq!(spoken(&view), "It will take a while.");
        let result = desk.result(1, "c1");
        assert_eq!(result["outcome"], "timeout");
        assert_eq!(result["result"], json!([]));
        let log = log(&process, run).await;
        assert_eq!(references(&log).len(), 1);
        let child = children(&log)[0];
        assert_eq!(process.view(&at(child)).await.unwrap().state, StateName::Submitted);
        release.send_replace("now".to_owned());
        assert_eq!(rested(&process, child).await.output, "now");
        // Its later answer goes to a turn that has ended, which changes nothing.
        process.quiet().await;
        assert_eq!(self::log(&process, run).await, log);
    });
}

/// Proves D1: invalid arguments start nothing, and the error names the field.
#[test]
fn arguments_that_do_not_fit_start_nothing() {
    let desk = Desk::new().workflow(echo());
    desk.calls(&[
        ("c1", "dispatch_workflow_echo", json!({ "text": 5 })),
        ("c2", "dispatch_workflow_echo", json!({})),
    ]);
    desk.says("Sorry.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Go.").await;
        let log = log(&process, view.submission.run).await;
        assert_eq!(children(&log), []);
        assert_eq!(references(&log), []);
    });
    for call in ["c1", "c2"] {
        let told = desk.result(1, call);
        assert_eq!((&told["outcome"], told.get("taskId")), (&json!("failed"), None), "{told}");
        let why = told["message"].as_str().unwrap();
        assert!(why.contains("text") && why.contains("Nothing was started"), "{why}");
    }
}
