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
use trackway_testkit::{ChatReply, Process};

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
