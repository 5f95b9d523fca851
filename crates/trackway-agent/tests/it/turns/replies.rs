//! Open questions of a conversation: a reply that clearly belongs to one resumes it.

use std::sync::Arc;

use serde_json::{Value, json};
use trackway_domain::{Part, Reason, RunId, StateName};
use trackway_runtime::{Program, Stop};
use trackway_testkit::{Process, answer_to};

use super::kit::{
    Desk, artifact, children, dispatched, echo, ended, log, references, required, rested, say,
    send, spoken, text_of, turn, workflow, yes_or_no,
};

/// Asks first, and reports the answer.
fn approve() -> Arc<dyn Program> {
    workflow("approve", async |stage, input| {
        let prompt = vec![Part::text(format!("Approve {}?", input["text"]))];
        let (_, answer) = stage.ask(Reason::InputRequired, prompt, yes_or_no(), None).await;
        if answer.input["approved"] == true {
            stage.status(vec![Part::text("Approved.")]).await;
            return Ok(input);
        }
        Err(Stop::Rejected("not approved".to_owned()))
    })
}

async fn asks(process: &Process, desk: &Desk, id: &str) -> RunId {
    dispatched(process, desk, id, "approve").await
}

fn desk() -> Desk {
    Desk::new().workflow(approve()).workflow(echo())
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
        desk.run(async |process| {
            let child = asks(&process, &desk, "m1").await;
            desk.says("I told it.");
            let view = turn(&process, "m2", text).await;
            assert_eq!(ended(&process, child).await.state, state, "{text}");
            assert_eq!(spoken(&view), "I told it.");
            let log = log(&process, view.submission.run).await;
            assert_eq!(references(&log).len(), 1, "told of once");
            assert_eq!(references(&log)[0].references, [child.to_string()]);
            // Issue 11, A11: the update about an answer has the workflow's description, like a
            // dispatch.
            let about = json!({
                "workflowName": "approve", "description": "Does approve.", "pluginId": "approve"
            });
            assert_eq!(references(&log)[0].metadata["referencedWorkflow"], about);
            assert_eq!(desk.result(2, "reply")["metadata"], about);
            assert_eq!(children(&log), []);
            artifact(&view, "tool-call-answer_task");
            assert_eq!(desk.result(2, "reply")["outcome"], outcome, "{text}");
            assert_eq!(view.output["model"], "openai/scripted-1");
            let system = desk.told(2)[0]["content"].clone();
            assert_eq!(system, "You help.", "it is not open any more");
        });
        assert_eq!(desk.server.asked().len(), 3);
    }
}

/// A message that does not match goes to the model, which sees the question and may answer it with the
/// user's words.
#[test]
fn a_model_answers_with_what_the_user_said() {
    let wanted = required([("name", "string"), ("age", "integer")]);
    let schema = wanted.clone();
    let desk = Desk::new().workflow(workflow("enrol", move |stage, _| {
        let schema = schema.clone();
        async move {
            let prompt = vec![Part::text("Who is it?")];
            let (_, answer) = stage.ask(Reason::InputRequired, prompt, schema, None).await;
            stage.status(vec![Part::text("Enrolled.")]).await;
            Ok(answer.input)
        }
    }));
    desk.run(async |process| {
        let child = dispatched(&process, &desk, "m1", "enrol").await;
        let id = child.to_string();
        let wrong = json!({ "taskId": id, "input": { "name": "Ada", "age": "36" } });
        desk.calls(&[("c1", "answer_task", wrong)]);
        let right = json!({ "taskId": id, "input": { "name": "Ada", "age": 36 } });
        desk.calls(&[("c1", "answer_task", right.clone())]);
        desk.calls(&[("c1", "answer_task", right)]);
        desk.says("Done.");
        turn(&process, "m2", "Ada, and she is 36 by now").await;
        assert_eq!(ended(&process, child).await.output, json!({ "name": "Ada", "age": 36 }));
        let system = desk.told(2)[0]["content"].as_str().unwrap().to_owned();
        let (_, data) = system.split_once("```json\n").unwrap_or_else(|| panic!("{system}"));
        let note: Value = serde_json::from_str(data.strip_suffix("\n```").unwrap()).unwrap();
        let told = json!({
            "taskId": id, "workflow": "enrol", "asks": "Who is it?", "schema": wanted
        });
        assert_eq!(note, told);
        let wrong = desk.result(3, "c1");
        assert_eq!(wrong["outcome"], "input-required");
        assert_eq!(wrong["errors"][0]["path"], "/age");
        assert_eq!(desk.result(4, "c1")["outcome"], "answered");
        assert_eq!(
            desk.result(4, "c1")["result"],
            json!([{ "kind": "text", "text": "Enrolled." }])
        );
        let gone = desk.result(5, "c1");
        assert!(gone.as_str().unwrap().contains("waits for an answer"), "{gone}");
    });
}

/// If the message matches several open questions, the user chooses.
#[test]
fn with_several_open_questions_the_user_is_asked_which() {
    let desk = desk();
    desk.run(async |process| {
        let first = asks(&process, &desk, "m1").await;
        let second = asks(&process, &desk, "m2").await;
        desk.says("The second one it is.");
        let run = say(&process, "m3", "yes").await;
        let view = rested(&process, run).await;
        assert_eq!(view.state, StateName::InputRequired);
        let ids = json!([first.to_string(), second.to_string(), "none"]);
        let question = view.question.unwrap();
        assert_eq!(question.schema["properties"]["taskId"]["enum"], ids);
        let prompt = text_of(&question.prompt);
        assert!([first, second].iter().all(|run| prompt.contains(&run.to_string())), "{prompt}");
        assert_eq!(desk.server.asked().len(), 4, "no model has to find out");
        let which = answer_to(run, "which", json!({ "taskId": second.to_string() }));
        process.deliver(which).await.unwrap();
        assert_eq!(spoken(&ended(&process, run).await), "The second one it is.");
        assert_eq!(ended(&process, second).await.state, StateName::Completed);
        assert_eq!(rested(&process, first).await.state, StateName::InputRequired);

        // A message that names its question needs no choice, and a wrong answer gives an error.
        desk.says("It wants yes or no.");
        let named = [first.to_string()];
        let run = send(&process, "m4", vec![Part::text("perhaps")], &named).await;
        ended(&process, run).await;
        let asked = desk.server.asked().len();
        assert_eq!(desk.result(asked - 1, "reply")["outcome"], "input-required");
        assert_eq!(rested(&process, first).await.state, StateName::InputRequired);
    });
}

/// Proves D5: a reply that names its task is for that one, however many are open.
#[test]
fn a_reply_that_names_its_task_answers_that_one() {
    let desk = desk();
    desk.run(async |process| {
        let first = asks(&process, &desk, "m1").await;
        let second = asks(&process, &desk, "m2").await;
        desk.says("The first one it is.");
        let named = [first.to_string()];
        let run = send(&process, "m3", vec![Part::text("yes")], &named).await;
        assert_eq!(spoken(&ended(&process, run).await), "The first one it is.");
        assert_eq!(ended(&process, first).await.state, StateName::Completed);
        assert_eq!(rested(&process, second).await.state, StateName::InputRequired);
    });
}

/// Proves D3: what a workflow asks after an answer is told in the form of a first answer.
#[test]
fn a_question_that_follows_a_reply_is_told_with_its_schema() {
    let desk = Desk::new().workflow(workflow("order", async |stage, _| {
        let prompt = vec![Part::text("Go on?")];
        stage.ask(Reason::InputRequired, prompt, yes_or_no(), None).await;
        let signature = json!({
            "type": "object",
            "properties": { "signature": { "type": "string" } },
            "required": ["signature"],
        });
        let prompt = vec![Part::text("Sign it.")];
        stage.ask(Reason::AuthRequired, prompt, signature, None).await;
        Ok(Value::Null)
    }));
    desk.calls(&[("c1", "dispatch_workflow_order", json!({ "text": "x" }))]);
    desk.says("It has a question.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "/please").await;
        let child = children(&log(&process, view.submission.run).await)[0];
        desk.says("Please sign.");
        assert_eq!(spoken(&turn(&process, "m2", "yes").await), "Please sign.");
        let told = desk.result(2, "reply");
        assert_eq!(told["outcome"], "auth-required", "{told}");
        assert_eq!(told["taskId"], child.to_string());
        assert_eq!(told["result"], json!([{ "kind": "text", "text": "Sign it." }]));
        assert_eq!(told["schema"]["required"], json!(["signature"]));
        assert_eq!(told["metadata"]["workflowName"], "order");
        assert_eq!(rested(&process, child).await.state, StateName::AuthRequired);
    });
}

/// A budget counts calls of the model alone.
#[test]
fn a_reply_is_no_model_call() {
    let mut desk = desk();
    desk.spec.budgets.calls = 2;
    desk.run(async |process| {
        asks(&process, &desk, "m1").await;
        for _ in 0..2 {
            desk.calls(&[("c1", "dispatch_workflow_echo", json!({ "text": "x" }))]);
        }
        let view = turn(&process, "m2", "yes").await;
        let sentence = "I stopped: this turn may make 2 model calls and has made them.";
        assert_eq!(spoken(&view), sentence);
    });
    assert_eq!(desk.server.left(), 0);
}
