//! Open questions of a conversation: a reply that clearly belongs to one resumes it.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{InterruptReason, Part, RunId, StateName};
use trackway_runtime::{Program, ProgramStop};
use trackway_testkit::{TestProcess, answer_delivery};

use super::harness::{
    AgentHarness, approval_schema, child_runs, dispatch_and_find_child, echo_workflow, find_artifact,
    load_log, object_schema, parts_text, referencing_messages, response_text, run_turn, send_parts,
    send_text, wait_until_ended, wait_until_idle, workflow,
};

/// Asks first, and reports the answer.
fn approve() -> Arc<dyn Program> {
    workflow("approve", async |stage, input| {
        let prompt = vec![Part::text(format!("Approve {}?", input["text"]))];
        let (_, answer) =
            stage.ask_question(InterruptReason::InputRequired, prompt, approval_schema(), None).await;
        if answer.input["approved"] == true {
            stage.report_status(vec![Part::text("Approved.")]).await;
            return Ok(input);
        }
        Err(ProgramStop::Rejected("not approved".to_owned()))
    })
}

async fn asks(process: &TestProcess, desk: &AgentHarness, id: &str) -> RunId {
    dispatch_and_find_child(process, desk, id, "approve").await
}

fn desk() -> AgentHarness {
    AgentHarness::new().with_workflow(approve()).with_workflow(echo_workflow())
}

/// The only open question accepts a matching message; the model receives the result and continues.
#[test]
fn a_reply_resumes_the_one_open_question() {
    for (text, state, outcome) in [
        ("yes", StateName::Completed, "answered"),
        ("No.", StateName::Rejected, "rejected"),
        (r#"{"approved": true}"#, StateName::Completed, "answered"),
    ] {
        let desk = desk();
        desk.run_process(async |process| {
            let child = asks(&process, &desk, "m1").await;
            desk.queue_text("I told it.");
            let view = run_turn(&process, "m2", text).await;
            assert_eq!(wait_until_ended(&process, child).await.state, state, "{text}");
            assert_eq!(response_text(&view), "I told it.");
            let log = load_log(&process, view.submission.run).await;
            assert_eq!(referencing_messages(&log).len(), 1, "told of once");
            assert_eq!(referencing_messages(&log)[0].references, [child.to_string()]);
            // Issue 11, A11: the update about an answer has the workflow's description, like a
            // dispatch.
            let about = json!({
                "workflowName": "approve", "description": "Does approve.", "pluginId": "approve"
            });
            assert_eq!(referencing_messages(&log)[0].metadata["referencedWorkflow"], about);
            assert_eq!(desk.tool_result(2, "reply")["metadata"], about);
            assert_eq!(child_runs(&log), []);
            find_artifact(&view, "tool-call-answer_task");
            assert_eq!(desk.tool_result(2, "reply")["outcome"], outcome, "{text}");
            assert_eq!(view.output["model"], "openai/scripted-1");
            let system = desk.request_messages(2)[0]["content"].clone();
            assert_eq!(system, "You help.", "it is not open any more");
        });
        assert_eq!(desk.server.requests().len(), 3);
    }
}

/// A message that does not match goes to the model, which sees the question and may answer it with the
/// user's words.
#[test]
fn a_model_answers_with_what_the_user_said() {
    let wanted = object_schema([("name", "string"), ("age", "integer")]);
    let schema = wanted.clone();
    let desk = AgentHarness::new().with_workflow(workflow("enrol", move |stage, _| {
        let schema = schema.clone();
        async move {
            let prompt = vec![Part::text("Who is it?")];
            let (_, answer) = stage.ask_question(InterruptReason::InputRequired, prompt, schema, None).await;
            stage.report_status(vec![Part::text("Enrolled.")]).await;
            Ok(answer.input)
        }
    }));
    desk.run_process(async |process| {
        let child = dispatch_and_find_child(&process, &desk, "m1", "enrol").await;
        let id = child.to_string();
        let wrong = json!({ "taskId": id, "input": { "name": "Ada", "age": "36" } });
        desk.queue_tool_calls(&[("c1", "answer_task", wrong)]);
        let right = json!({ "taskId": id, "input": { "name": "Ada", "age": 36 } });
        desk.queue_tool_calls(&[("c1", "answer_task", right.clone())]);
        desk.queue_tool_calls(&[("c1", "answer_task", right)]);
        desk.queue_text("Done.");
        run_turn(&process, "m2", "Ada, and she is 36 by now").await;
        assert_eq!(wait_until_ended(&process, child).await.output, json!({ "name": "Ada", "age": 36 }));
        let system = desk.request_messages(2)[0]["content"].as_str().unwrap().to_owned();
        let (_, data) = system.split_once("```json\n").unwrap_or_else(|| panic!("{system}"));
        let note: Value = serde_json::from_str(data.strip_suffix("\n```").unwrap()).unwrap();
        let told = json!({
            "taskId": id, "workflow": "enrol", "asks": "Who is it?", "schema": wanted
        });
        assert_eq!(note, told);
        let wrong = desk.tool_result(3, "c1");
        assert_eq!(wrong["outcome"], "input-required");
        assert_eq!(wrong["errors"][0]["path"], "/age");
        assert_eq!(desk.tool_result(4, "c1")["outcome"], "answered");
        assert_eq!(desk.tool_result(4, "c1")["result"], json!([{ "kind": "text", "text": "Enrolled." }]));
        let gone = desk.tool_result(5, "c1");
        assert!(gone.as_str().unwrap().contains("waits for an answer"), "{gone}");
    });
}

/// If the message matches several open questions, the user chooses.
#[test]
fn with_several_open_questions_the_user_is_asked_which() {
    let desk = desk();
    desk.run_process(async |process| {
        let first = asks(&process, &desk, "m1").await;
        let second = asks(&process, &desk, "m2").await;
        desk.queue_text("The second one it is.");
        let run = send_text(&process, "m3", "yes").await;
        let view = wait_until_idle(&process, run).await;
        assert_eq!(view.state, StateName::InputRequired);
        let ids = json!([first.to_string(), second.to_string(), "none"]);
        let question = view.question.unwrap();
        assert_eq!(question.schema["properties"]["taskId"]["enum"], ids);
        let prompt = parts_text(&question.prompt);
        assert!([first, second].iter().all(|run| prompt.contains(&run.to_string())), "{prompt}");
        assert_eq!(desk.server.requests().len(), 4, "no model has to find out");
        let which = answer_delivery(run, "which", json!({ "taskId": second.to_string() }));
        process.deliver_message(which).await.unwrap();
        assert_eq!(response_text(&wait_until_ended(&process, run).await), "The second one it is.");
        assert_eq!(wait_until_ended(&process, second).await.state, StateName::Completed);
        assert_eq!(wait_until_idle(&process, first).await.state, StateName::InputRequired);

        // A message that names its question needs no choice, and a wrong answer gives an error.
        desk.queue_text("It wants yes or no.");
        let named = [first.to_string()];
        let run = send_parts(&process, "m4", vec![Part::text("perhaps")], &named).await;
        wait_until_ended(&process, run).await;
        let asked = desk.server.requests().len();
        assert_eq!(desk.tool_result(asked - 1, "reply")["outcome"], "input-required");
        assert_eq!(wait_until_idle(&process, first).await.state, StateName::InputRequired);
    });
}

/// Proves D5: a reply that names its task is for that one, however many are open.
#[test]
fn a_reply_that_names_its_task_answers_that_one() {
    let desk = desk();
    desk.run_process(async |process| {
        let first = asks(&process, &desk, "m1").await;
        let second = asks(&process, &desk, "m2").await;
        desk.queue_text("The first one it is.");
        let named = [first.to_string()];
        let run = send_parts(&process, "m3", vec![Part::text("yes")], &named).await;
        assert_eq!(response_text(&wait_until_ended(&process, run).await), "The first one it is.");
        assert_eq!(wait_until_ended(&process, first).await.state, StateName::Completed);
        assert_eq!(wait_until_idle(&process, second).await.state, StateName::InputRequired);
    });
}

/// Proves D3: a question of a workflow after an answer has the form of a first answer.
#[test]
fn a_question_that_follows_a_reply_is_told_with_its_schema() {
    let desk = AgentHarness::new().with_workflow(workflow("order", async |stage, _| {
        let prompt = vec![Part::text("Go on?")];
        stage.ask_question(InterruptReason::InputRequired, prompt, approval_schema(), None).await;
        let signature = json!({
            "type": "object",
            "properties": { "signature": { "type": "string" } },
            "required": ["signature"],
        });
        let prompt = vec![Part::text("Sign it.")];
        stage.ask_question(InterruptReason::AuthRequired, prompt, signature, None).await;
        Ok(Value::Null)
    }));
    desk.queue_tool_calls(&[("c1", "dispatch_workflow_order", json!({ "text": "x" }))]);
    desk.queue_text("It has a question.");
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "/please").await;
        let child = child_runs(&load_log(&process, view.submission.run).await)[0];
        desk.queue_text("Please sign.");
        assert_eq!(response_text(&run_turn(&process, "m2", "yes").await), "Please sign.");
        let told = desk.tool_result(2, "reply");
        assert_eq!(told["outcome"], "auth-required", "{told}");
        assert_eq!(told["taskId"], child.to_string());
        assert_eq!(told["result"], json!([{ "kind": "text", "text": "Sign it." }]));
        assert_eq!(told["schema"]["required"], json!(["signature"]));
        assert_eq!(told["metadata"]["workflowName"], "order");
        assert_eq!(wait_until_idle(&process, child).await.state, StateName::AuthRequired);
    });
}

/// A budget counts calls of the model alone.
#[test]
fn a_reply_is_no_model_call() {
    let mut desk = desk();
    desk.spec.budgets.calls = 2;
    desk.run_process(async |process| {
        asks(&process, &desk, "m1").await;
        for _ in 0..2 {
            desk.queue_tool_calls(&[("c1", "dispatch_workflow_echo", json!({ "text": "x" }))]);
        }
        let view = run_turn(&process, "m2", "yes").await;
        let sentence = "I stopped: this turn may make 2 model calls and has made them.";
        assert_eq!(response_text(&view), sentence);
    });
    assert_eq!(desk.server.unused_replies(), 0);
}
