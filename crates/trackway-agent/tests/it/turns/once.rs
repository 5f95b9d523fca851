//! A process that ends in the middle of a call.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use trackway_domain::{Event, Part, StateName};
use trackway_runtime::{
    Program, RetryPolicy, StepAttempt, Tool, ToolCallContext, ToolFuture, ToolInfo, ToolOrigin,
};
use trackway_testkit::{PausingInterceptor, answer_delivery};

use super::harness::{
    AgentHarness, send_text, start_run, text_schema, wait_until_ended, wait_until_idle, workflow,
};

/// A tool whose first call never ends. Clones share their calls.
#[derive(Debug, Clone)]
struct HangingTool {
    info: ToolInfo,
    repeats: bool,
    /// Asks the user before it hangs.
    asks: bool,
    calls: Arc<AtomicUsize>,
    called: Arc<Notify>,
}

impl HangingTool {
    fn new(repeats: bool, asks: bool) -> Self {
        let (name, description) = ("hangs".to_owned(), "Hangs.".to_owned());
        let info = ToolInfo { name, description, input_schema: text_schema(), origin: ToolOrigin::Local };
        Self { info, repeats, asks, calls: Arc::default(), called: Arc::default() }
    }
}

impl Tool for HangingTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn is_repeatable(&self) -> bool {
        self.repeats
    }

    fn call(&self, _: Value, call: ToolCallContext) -> ToolFuture {
        let tool = self.clone();
        Box::pin(async move {
            let number = tool.calls.fetch_add(1, Ordering::Relaxed) + 1;
            tool.called.notify_one();
            if tool.asks {
                let schema = json!({ "type": "object", "required": ["name"] });
                call.ask_question(vec![Part::text("Your name?")], schema).await?;
            } else if number == 1 {
                std::future::pending::<()>().await;
            }
            Ok(json!("done").into())
        })
    }
}

fn desk(tool: &HangingTool) -> AgentHarness {
    let desk = AgentHarness::new().with_tool(Arc::new(tool.clone()));
    desk.queue_tool_calls(&[("c1", "hangs", json!({ "text": "x" }))]);
    desk.queue_text("Well.");
    desk
}

/// Proves X2: a call whose outcome is unknown is not repeated, unless that is harmless; the model
/// receives an error.
#[test]
fn a_call_that_was_cut_off_is_made_again_only_where_that_does_no_harm() {
    for repeats in [true, false] {
        let tool = HangingTool::new(repeats, false);
        let desk = desk(&tool);
        let run = desk.run_process(async |process| {
            let run = send_text(&process, "m1", "Go.").await;
            tool.called.notified().await;
            run
        });
        desk.run_process(async |process| wait_until_ended(&process, run).await);
        let told = desk.tool_result(1, "c1");
        if repeats {
            assert_eq!((tool.calls.load(Ordering::Relaxed), told), (2, json!("done")));
        } else {
            assert_eq!(tool.calls.load(Ordering::Relaxed), 1);
            assert!(told.as_str().unwrap().contains("is not known"), "{told}");
        }
    }
}

/// Proves X2, L6: a call that asked the user is not over; it resumes with the answer.
#[test]
fn a_call_that_has_asked_is_taken_up_with_the_answer() {
    let tool = HangingTool::new(false, true);
    let desk = desk(&tool);
    let run = desk.run_process(async |process| {
        let run = send_text(&process, "m1", "Go.").await;
        assert_eq!(wait_until_idle(&process, run).await.state, StateName::InputRequired);
        run
    });
    desk.run_process(async |process| {
        process.deliver_message(answer_delivery(run, "a", json!({ "name": "Ada" }))).await.unwrap();
        wait_until_ended(&process, run).await;
    });
    assert_eq!(desk.tool_result(1, "c1"), "done");
}

/// Performs one effect after the other, each as a step of its kind.
fn three_steps(done: &Arc<Mutex<Vec<&'static str>>>) -> Arc<dyn Program> {
    let done = done.clone();
    workflow("steps", move |stage, input| {
        let done = done.clone();
        async move {
            let once = RetryPolicy::default();
            for kind in ["look", "act", "ask"] {
                let mut work = |_: StepAttempt| -> BoxFuture<'_, _> {
                    done.lock().unwrap().push(kind);
                    Box::pin(async { Ok(Value::Null) })
                };
                match kind {
                    "look" => stage.run_read_step(kind, once, &mut work).await,
                    "act" => stage.step(kind, once, &mut work).await,
                    _ => stage.run_request_step(kind, once, &mut work).await,
                };
            }
            Ok(input)
        }
    })
}

/// Proves X2: an effect is recorded before a question about it is asked.
#[test]
fn an_outcome_is_durable_before_a_request_begins() {
    let done = Arc::new(Mutex::default());
    let desk = AgentHarness::new().with_workflow(three_steps(&done));
    let gate = Arc::new(PausingInterceptor::new());
    desk.world.run_to_completion(desk.setup().with_interceptor(gate.clone()), async |process| {
        let is_outcome_of_act = |event: &Event| match event {
            Event::StepDone { op, .. } => &*op.key == "act",
            _ => false,
        };
        gate.pause_appends(move |append| append.events.iter().any(is_outcome_of_act));
        let run = start_run(&process, "steps", json!({ "text": "" }), None).await;
        gate.wait_for_paused_appends(1).await;
        for _ in 0..64 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*done.lock().unwrap(), ["look", "act"]);
        gate.resume_appends();
        wait_until_ended(&process, run).await;
        assert_eq!(*done.lock().unwrap(), ["look", "act", "ask"]);
    });
}
