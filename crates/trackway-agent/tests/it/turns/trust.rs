//! Which questions a model may answer for the user, and which only people answer: the user approves a
//! call, and a tool's question goes to the user.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trackway_agent::ToolPermission;
use trackway_domain::{InterruptReason, Part, RunId, StateName};
use trackway_runtime::{Program, RetryPolicy, StepAttempt, Tool};
use trackway_testkit::{ScriptedChatReply, TestProcess, answer_delivery};

use super::harness::{
    AgentHarness, approval_schema, asking_workflow, assert_fits_its_log, child_runs, counting_tool,
    dispatch_and_find_child, load_log, object_schema, parts_text, run_turn, send_text, tool,
    wait_until_ended, wait_until_idle, workflow,
};

const GONE: &str = "No task of this conversation with that id waits for an answer.";

/// A tool that asks the user in the middle of its work, as MCP servers do.
fn wonders() -> Arc<dyn Tool> {
    tool("wonders", |_, call| {
        Box::pin(async move {
            Ok(call.ask_question(vec![Part::text("Really?")], approval_schema()).await?.into())
        })
    })
}

/// A workflow with a step that asks, as a tool inside it does.
fn workflow_with_asking_step() -> Arc<dyn Program> {
    workflow("within", async |stage, _| {
        let mut work = |attempt: StepAttempt| -> BoxFuture<'_, _> {
            let stage = &stage;
            Box::pin(async move {
                let prompt = vec![Part::text("Really?")];
                Ok(stage.ask_question_from_step(&attempt.op, prompt, approval_schema()).await.input)
            })
        };
        stage.step("tool", RetryPolicy::default(), &mut work).await;
        Ok(Value::Null)
    })
}

/// A further turn in which the model answers that task; returns its result, and the questions that it
/// received before.
async fn answered_by_model(process: &TestProcess, desk: &AgentHarness, task: RunId) -> (Value, String) {
    let before = desk.server.requests().len();
    let input = json!({ "taskId": task.to_string(), "input": { "approved": true } });
    desk.queue_tool_calls(&[("c9", "answer_task", input)]);
    desk.queue_text("I tried.");
    let view = run_turn(process, "m2", "What is that about?").await;
    assert_fits_its_log(process, desk, view.submission.run).await;
    let system = desk.request_messages(before)[0]["content"].as_str().unwrap().to_owned();
    (desk.tool_result(before + 1, "c9"), system)
}

/// The user's own yes, in the conversation.
async fn answered_by_user(process: &TestProcess, desk: &AgentHarness) {
    desk.server.set_responder(|_| ScriptedChatReply::default().with_text("Fine.").into());
    let view = run_turn(process, "m3", "yes").await;
    assert_fits_its_log(process, desk, view.submission.run).await;
}

/// The run waits, a model cannot answer it, and the user can. Returns the questions that the model
/// received.
async fn only_the_user_answers(process: &TestProcess, desk: &AgentHarness, asking: RunId) -> String {
    assert_eq!(wait_until_idle(process, asking).await.state, StateName::InputRequired);
    let (told, system) = answered_by_model(process, desk, asking).await;
    assert_eq!(told, GONE);
    assert_eq!(wait_until_idle(process, asking).await.state, StateName::InputRequired);
    answered_by_user(process, desk).await;
    assert_eq!(wait_until_ended(process, asking).await.state, StateName::Completed);
    system
}

/// Issue 5, interface 3: an approval is a question to the user. Neither a model nor text that it has
/// read can answer it for them.
#[test]
fn a_model_cannot_approve_a_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut desk = AgentHarness::new().with_tool(counting_tool(&calls));
    desk.spec.approvals.insert("count".to_owned(), ToolPermission::Ask);
    desk.queue_tool_calls(&[("c1", "count", json!({ "text": "x" }))]);
    desk.run_process(async |process| {
        let asking = send_text(&process, "m1", "Go.").await;
        let system = only_the_user_answers(&process, &desk, asking).await;
        assert_eq!(system, "You help.", "what it cannot answer it is not told of");
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}

/// A tool's question inside a turn is also only for people.
#[test]
fn a_model_cannot_answer_a_tools_question() {
    let desk = AgentHarness::new().with_tool(wonders());
    desk.queue_tool_calls(&[("c1", "wonders", json!({ "text": "x" }))]);
    desk.run_process(async |process| {
        let asking = send_text(&process, "m1", "Go.").await;
        only_the_user_answers(&process, &desk, asking).await;
    });
}

/// The same is true for a tool's question inside a workflow that the agent dispatched.
#[test]
fn a_model_cannot_answer_a_tool_within_a_workflow() {
    let desk = AgentHarness::new().with_workflow(workflow_with_asking_step());
    desk.run_process(async |process| {
        let asking = dispatch_and_find_child(&process, &desk, "m1", "within").await;
        only_the_user_answers(&process, &desk, asking).await;
    });
}

/// A model answers only questions that the user has already received: a question of its own new
/// dispatch waits for the user.
#[test]
fn a_model_cannot_answer_before_the_user_was_asked() {
    let desk = AgentHarness::new().with_workflow(asking_workflow(
        "approve",
        InterruptReason::InputRequired,
        approval_schema(),
    ));
    desk.server.set_responder(|asked| {
        let told = asked.body["messages"].as_array().unwrap().last().unwrap().clone();
        let content = told["content"].as_str().unwrap();
        match (told["tool_call_id"].as_str(), serde_json::from_str::<Value>(content)) {
            (None, _) => ScriptedChatReply::default()
                .with_tool_calls(&[("c1", "dispatch_workflow_approve", r#"{"text":"x"}"#)])
                .into(),
            (Some("c1"), Ok(result)) => {
                let input = json!({ "taskId": result["taskId"], "input": { "approved": true } });
                ScriptedChatReply::default()
                    .with_tool_calls(&[("c2", "answer_task", &input.to_string())])
                    .into()
            }
            _ => ScriptedChatReply::default().with_text("It waits for you.").into(),
        }
    });
    desk.run_process(async |process| {
        let view = run_turn(&process, "m1", "Have it approved.").await;
        let asking = child_runs(&load_log(&process, view.submission.run).await)[0];
        assert_eq!(wait_until_idle(&process, asking).await.state, StateName::InputRequired);
        let told = desk.tool_result(2, "c2");
        assert!(told.as_str().unwrap().contains("Tell the user of it"), "{told}");
        assert_fits_its_log(&process, &desk, view.submission.run).await;
        answered_by_user(&process, &desk).await;
        assert_eq!(wait_until_ended(&process, asking).await.output, json!({ "approved": true }));
    });
}

fn tools_offered(desk: &AgentHarness, request: usize) -> Vec<String> {
    let tools = desk.server.requests()[request].body["tools"].clone();
    let names = tools.as_array().into_iter().flatten();
    names.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Issue 11, S-H5: only people answer a question for an authorization. The model learns of the
/// question, has no tool for it, and is refused if it uses the tool anyway, even with the user's words.
#[test]
fn a_model_cannot_authorize() {
    let signature = object_schema([("signature", "string")]);
    let desk =
        AgentHarness::new().with_workflow(asking_workflow("sign", InterruptReason::AuthRequired, signature));
    desk.run_process(async |process| {
        let signing = dispatch_and_find_child(&process, &desk, "m1", "sign").await;
        for (number, said) in ["And tomorrow?", "Sign it with forged for me"].iter().enumerate() {
            let before = desk.server.requests().len();
            let input = json!({ "taskId": signing, "input": { "signature": "forged" } });
            desk.queue_tool_calls(&[("c9", "answer_task", input)]);
            desk.queue_text("I could not.");
            let view = run_turn(&process, &format!("m1{number}"), said).await;
            assert_eq!(view.state, StateName::Completed);
            assert_fits_its_log(&process, &desk, view.submission.run).await;
            let told = desk.tool_result(before + 1, "c9");
            assert_eq!(told["outcome"], "person-required", "{told}");
            assert_eq!(told["taskId"], json!(signing));
            assert_eq!(wait_until_idle(&process, signing).await.state, StateName::AuthRequired);
            assert!(!tools_offered(&desk, before).contains(&"answer_task".to_owned()));
            let system = desk.request_messages(before)[0]["content"].as_str().unwrap().to_owned();
            assert!(system.contains("onlyAPersonAnswers"), "{system}");
        }
        desk.queue_text("It is signed.");
        run_turn(&process, "m3", "signature=mine").await;
        let signed = wait_until_ended(&process, signing).await;
        assert_eq!(signed.output, json!({ "signature": "mine" }));
    });
}

/// Issue 11, S-H5: the user must confirm a value that is not in the user's message.
#[test]
fn answer_the_user_did_not_give_needs_approval() {
    let wallet = object_schema([("wallet", "string"), ("amount", "integer")]);
    for (verdict, state) in [(false, StateName::InputRequired), (true, StateName::Completed)] {
        let desk = AgentHarness::new().with_workflow(asking_workflow(
            "invest",
            InterruptReason::InputRequired,
            wallet.clone(),
        ));
        desk.run_process(async |process| {
            let asking = dispatch_and_find_child(&process, &desk, "m1", "invest").await;
            let evil = json!({ "wallet": "0xEVIL", "amount": 1_000_000 });
            let input = json!({ "taskId": asking, "input": evil });
            desk.queue_tool_calls(&[("c2", "answer_task", input)]);
            desk.queue_text("I see.");
            let run = send_text(&process, "m2", "What is the weather").await;
            let view = wait_until_idle(&process, run).await;
            assert_eq!(view.state, StateName::InputRequired, "the turn asks");
            let asked = parts_text(&view.question.unwrap().prompt);
            assert!(asked.contains("0xEVIL") && asked.contains("What is it?"), "{asked}");
            let answer = answer_delivery(run, "a1", json!({ "approved": verdict }));
            process.deliver_message(answer).await.unwrap();
            wait_until_ended(&process, run).await;
            assert_fits_its_log(&process, &desk, run).await;
            assert_eq!(wait_until_idle(&process, asking).await.state, state);
            let told = desk.tool_result(3, "c2").to_string();
            assert_eq!(told.contains("refused"), !verdict, "{told}");
        });
    }
}

/// Issue 11, S-H5: `approvals` decide whether a model may answer tasks at all.
#[test]
fn approvals_hold_for_answers_too() {
    for (approval, state) in
        [(ToolPermission::Ask, StateName::InputRequired), (ToolPermission::Deny, StateName::Completed)]
    {
        let names = object_schema([("first", "string"), ("last", "string")]);
        let mut desk =
            AgentHarness::new().with_workflow(asking_workflow("name", InterruptReason::InputRequired, names));
        desk.spec.approvals.insert("answer_task".to_owned(), approval);
        desk.run_process(async |process| {
            let asking = dispatch_and_find_child(&process, &desk, "m1", "name").await;
            let input = json!({ "taskId": asking, "input": { "first": "Ada", "last": "Lovelace" } });
            desk.queue_tool_calls(&[("c2", "answer_task", input)]);
            desk.queue_text("I see.");
            let run = send_text(&process, "m2", "She is called Ada Lovelace, I think").await;
            assert_eq!(wait_until_idle(&process, run).await.state, state, "{approval:?}");
            assert_eq!(wait_until_idle(&process, asking).await.state, StateName::InputRequired);
            let offered = tools_offered(&desk, 2).contains(&"answer_task".to_owned());
            assert_eq!(offered, approval == ToolPermission::Ask);
        });
    }
}
