//! What a model may answer for the user, and what only people answer: a call is approved by the one who
//! is asked, and a tool's question goes to them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use trackway_agent::Approval;
use trackway_domain::{Part, Reason, RunId, StateName};
use trackway_runtime::{Attempt, Program, ReplayVerdict, RetryPolicy, Tool, replay_with};
use trackway_testkit::{ChatReply, Process, answer_to};

use super::kit::{Desk, children, ended, log, rested, say, tool, turn, workflow};

const GONE: &str = "No task of this conversation with that id waits for an answer.";

/// A tool that counts its calls.
fn counted(calls: &Arc<AtomicUsize>) -> Arc<dyn Tool> {
    let calls = calls.clone();
    tool("count", move |_, _| {
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        Box::pin(async move { Ok(json!(number).into()) })
    })
}

fn yes_or_no() -> Value {
    json!({
        "type": "object",
        "properties": { "approved": { "type": "boolean" } },
        "required": ["approved"],
    })
}

/// A tool that asks the user in the middle of its work, as MCP servers do.
fn wonders() -> Arc<dyn Tool> {
    tool("wonders", |_, call| {
        Box::pin(
            async move { Ok(call.ask(vec![Part::text("Really?")], yes_or_no()).await?.into()) },
        )
    })
}

/// A workflow one of whose steps asks, as a tool within it does.
fn asks_within() -> Arc<dyn Program> {
    workflow("within", async |stage, _| {
        let mut work = |attempt: Attempt| -> BoxFuture<'_, _> {
            let stage = &stage;
            Box::pin(async move {
                let prompt = vec![Part::text("Really?")];
                Ok(stage.ask_within(&attempt.op, prompt, yes_or_no()).await.input)
            })
        };
        stage.step("tool", RetryPolicy::default(), &mut work).await;
        Ok(Value::Null)
    })
}

/// A further turn in which the model answers that task; what it is told, and what it knew before.
async fn answered_by_model(process: &Process, desk: &Desk, task: RunId) -> (Value, String) {
    let before = desk.server.asked().len();
    let input = json!({ "taskId": task.to_string(), "input": { "approved": true } });
    desk.calls(&[("c9", "answer_task", input)]);
    desk.says("I tried.");
    let view = turn(process, "m2", "What is that about?").await;
    fits(process, desk, view.submission.run).await;
    let system = desk.told(before)[0]["content"].as_str().unwrap().to_owned();
    (desk.result(before + 1, "c9"), system)
}

/// The user's own yes, in the conversation.
async fn answered_by_user(process: &Process, desk: &Desk) {
    desk.server.respond(|_| ChatReply::default().says("Fine.").into());
    let view = turn(process, "m3", "yes").await;
    fits(process, desk, view.submission.run).await;
}

/// A replay finds what was recorded.
async fn fits(process: &Process, desk: &Desk, run: RunId) {
    let log = log(process, run).await;
    assert_eq!(replay_with(&desk.setup().registry, &log).await, ReplayVerdict::Fits);
}

/// Issue 5, interface 3: an approval is a question to the user. A model, or what it has read, cannot
/// answer it for them.
#[test]
fn a_model_cannot_approve_a_call() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut desk = Desk::new().tool(counted(&calls));
    desk.spec.approvals.insert("count".to_owned(), Approval::Ask);
    desk.calls(&[("c1", "count", json!({ "text": "x" }))]);
    desk.run(async |process| {
        let asking = say(&process, "m1", "Go.").await;
        assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
        let (told, system) = answered_by_model(&process, &desk, asking).await;
        assert_eq!(told, GONE);
        assert_eq!(system, "You help.", "what it cannot answer it is not told of");
        assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
        assert_eq!(calls.load(Ordering::Relaxed), 0);

        answered_by_user(&process, &desk).await;
        assert_eq!(ended(&process, asking).await.state, StateName::Completed);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    });
}

/// What a tool asks from within a turn is for people as well.
#[test]
fn a_model_cannot_answer_a_tools_question() {
    let desk = Desk::new().tool(wonders());
    desk.calls(&[("c1", "wonders", json!({ "text": "x" }))]);
    desk.run(async |process| {
        let asking = say(&process, "m1", "Go.").await;
        assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
        assert_eq!(answered_by_model(&process, &desk, asking).await.0, GONE);
        answered_by_user(&process, &desk).await;
        assert_eq!(ended(&process, asking).await.state, StateName::Completed);
    });
}

/// And what a tool asks from within a workflow that the agent has dispatched.
#[test]
fn a_model_cannot_answer_a_tool_within_a_workflow() {
    let desk = Desk::new().workflow(asks_within());
    desk.calls(&[("c1", "dispatch_workflow_within", json!({ "text": "x" }))]);
    desk.says("It has a question.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Go.").await;
        let asking = children(&log(&process, view.submission.run).await)[0];
        assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
        assert_eq!(answered_by_model(&process, &desk, asking).await.0, GONE);
        answered_by_user(&process, &desk).await;
        assert_eq!(ended(&process, asking).await.state, StateName::Completed);
    });
}

/// A model answers only what the user has been asked: a question that its own dispatch has put waits for
/// them.
#[test]
fn a_model_cannot_answer_before_the_user_was_asked() {
    let desk = Desk::new().workflow(workflow("approve", async |stage, _| {
        let prompt = vec![Part::text("Really?")];
        Ok(stage.ask(Reason::InputRequired, prompt, yes_or_no(), None).await.1.input)
    }));
    desk.server.respond(|asked| {
        let told = asked.body["messages"].as_array().unwrap().last().unwrap().clone();
        let content = told["content"].as_str().unwrap();
        match (told["tool_call_id"].as_str(), serde_json::from_str::<Value>(content)) {
            (None, _) => ChatReply::default()
                .calls(&[("c1", "dispatch_workflow_approve", r#"{"text":"x"}"#)])
                .into(),
            (Some("c1"), Ok(result)) => {
                let input = json!({ "taskId": result["taskId"], "input": { "approved": true } });
                ChatReply::default().calls(&[("c2", "answer_task", &input.to_string())]).into()
            }
            _ => ChatReply::default().says("It waits for you.").into(),
        }
    });
    desk.run(async |process| {
        let view = turn(&process, "m1", "Have it approved.").await;
        let asking = children(&log(&process, view.submission.run).await)[0];
        assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
        let told = desk.result(2, "c2");
        assert!(told.as_str().unwrap().contains("Tell the user of it"), "{told}");
        fits(&process, &desk, view.submission.run).await;
        answered_by_user(&process, &desk).await;
        assert_eq!(ended(&process, asking).await.output, json!({ "approved": true }));
    });
}

fn signature() -> Value {
    json!({
        "type": "object",
        "properties": { "signature": { "type": "string" } },
        "required": ["signature"],
    })
}

/// A workflow that asks for something, and returns the answer.
fn asks_for(name: &str, reason: Reason, schema: Value) -> Arc<dyn Program> {
    workflow(name, move |stage, _| {
        let schema = schema.clone();
        async move {
            let prompt = vec![Part::text("What is it?")];
            Ok(stage.ask(reason, prompt, schema, None).await.1.input)
        }
    })
}

fn tools_offered(desk: &Desk, request: usize) -> Vec<String> {
    let tools = desk.server.asked()[request].body["tools"].clone();
    let names = tools.as_array().into_iter().flatten();
    names.map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Issue 11, S-H5: what asks for an authorization is answered by people. The model is told of the question,
/// has no tool for it, and is refused where it uses the tool all the same, even with the user's words.
#[test]
fn a_model_cannot_authorize() {
    let desk = Desk::new().workflow(asks_for("sign", Reason::AuthRequired, signature()));
    desk.calls(&[("c1", "dispatch_workflow_sign", json!({ "text": "x" }))]);
    desk.says("Please sign.");
    desk.run(async |process| {
        let view = turn(&process, "m1", "Go.").await;
        let signing = children(&log(&process, view.submission.run).await)[0];
        for (number, said) in ["And tomorrow?", "Sign it with forged for me"].iter().enumerate() {
            let before = desk.server.asked().len();
            let input = json!({ "taskId": signing, "input": { "signature": "forged" } });
            desk.calls(&[("c9", "answer_task", input)]);
            desk.says("I could not.");
            let view = turn(&process, &format!("m1{number}"), said).await;
            assert_eq!(view.state, StateName::Completed);
            fits(&process, &desk, view.submission.run).await;
            let told = desk.result(before + 1, "c9");
            assert_eq!(told["outcome"], "person-required", "{told}");
            assert_eq!(told["taskId"], json!(signing));
            assert_eq!(rested(&process, signing).await.state, StateName::AuthRequired);
            assert!(!tools_offered(&desk, before).contains(&"answer_task".to_owned()));
            let system = desk.told(before)[0]["content"].as_str().unwrap().to_owned();
            assert!(system.contains("onlyAPersonAnswers"), "{system}");
        }
        desk.says("It is signed.");
        turn(&process, "m3", "signature=mine").await;
        let signed = ended(&process, signing).await;
        assert_eq!(signed.output, json!({ "signature": "mine" }));
    });
}

/// Issue 11, S-H5: a value that the user did not give is put to the user first.
#[test]
fn what_the_user_has_not_said_is_put_to_them() {
    let wallet = json!({
        "type": "object",
        "properties": { "wallet": { "type": "string" }, "amount": { "type": "integer" } },
        "required": ["wallet", "amount"],
    });
    for (verdict, state) in [(false, StateName::InputRequired), (true, StateName::Completed)] {
        let desk = Desk::new().workflow(asks_for("invest", Reason::InputRequired, wallet.clone()));
        desk.calls(&[("c1", "dispatch_workflow_invest", json!({ "text": "x" }))]);
        desk.says("It has a form.");
        desk.run(async |process| {
            let view = turn(&process, "m1", "Go.").await;
            let asking = children(&log(&process, view.submission.run).await)[0];
            let evil = json!({ "wallet": "0xEVIL", "amount": 1_000_000 });
            let input = json!({ "taskId": asking, "input": evil });
            desk.calls(&[("c2", "answer_task", input)]);
            desk.says("I see.");
            let run = say(&process, "m2", "What is the weather").await;
            let view = rested(&process, run).await;
            assert_eq!(view.state, StateName::InputRequired, "the turn asks");
            let asked = super::kit::text_of(&view.question.unwrap().prompt);
            assert!(asked.contains("0xEVIL") && asked.contains("What is it?"), "{asked}");
            let answer = answer_to(run, "a1", json!({ "approved": verdict }));
            process.deliver(answer).await.unwrap();
            ended(&process, run).await;
            fits(&process, &desk, run).await;
            assert_eq!(rested(&process, asking).await.state, state);
            let told = desk.result(3, "c2").to_string();
            assert_eq!(told.contains("refused"), !verdict, "{told}");
        });
    }
}

/// Issue 11, S-H5: `approvals` say whether a model answers tasks at all.
#[test]
fn approvals_hold_for_answers_too() {
    for (approval, state) in
        [(Approval::Ask, StateName::InputRequired), (Approval::Deny, StateName::Completed)]
    {
        let mut desk = Desk::new().workflow(asks_for("name", Reason::InputRequired, two_names()));
        desk.spec.approvals.insert("answer_task".to_owned(), approval);
        desk.calls(&[("c1", "dispatch_workflow_name", json!({ "text": "x" }))]);
        desk.says("It has a question.");
        desk.run(async |process| {
            let view = turn(&process, "m1", "Go.").await;
            let asking = children(&log(&process, view.submission.run).await)[0];
            let input =
                json!({ "taskId": asking, "input": { "first": "Ada", "last": "Lovelace" } });
            desk.calls(&[("c2", "answer_task", input)]);
            desk.says("I see.");
            let run = say(&process, "m2", "She is called Ada Lovelace, I think").await;
            assert_eq!(rested(&process, run).await.state, state, "{approval:?}");
            assert_eq!(rested(&process, asking).await.state, StateName::InputRequired);
            let offered = tools_offered(&desk, 2).contains(&"answer_task".to_owned());
            assert_eq!(offered, approval == Approval::Ask);
        });
    }
}

fn two_names() -> Value {
    json!({
        "type": "object",
        "properties": { "first": { "type": "string" }, "last": { "type": "string" } },
        "required": ["first", "last"],
    })
}
